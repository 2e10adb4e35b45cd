"""A network namespace with loopback and one other interface, whose far end is recorded."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ADDRESS, ROUTER = "192.0.2.1", "192.0.2.254"
"""Of a network that is kept for documentation (RFC 5737): nobody is there."""
OUTSIDE, RECORDED = "outside", "recorded"
_ROUTER_MAC = "02:00:00:00:02:fe"


def require_programs() -> None:
    packages = {"unshare": "util-linux", "ip": "iproute2", "strace": "strace"}
    missing = sorted({package for program, package in packages.items() if not shutil.which(program, path=_path())})
    if missing:
        sys.exit(f"Some programs are missing. Install them with: apt-get install {' '.join(missing)}")


def inside(command: Sequence[str]) -> list[str]:
    """The command in namespaces of its own for network and mounts; an ordinary user becomes root in one of users."""
    users = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", *users, "--net", "--mount", "--", *command]


def lead_out(folder: Path) -> None:
    """Make the interface that all traffic takes which is not loopback; look-ups of names take it, too."""
    addresses = ("address", "02:00:00:00:02:01"), ("address", _ROUTER_MAC)
    _ip("link", "set", "lo", "up")
    _ip("link", "add", OUTSIDE, *addresses[0], "type", "veth", "peer", "name", RECORDED, *addresses[1])
    for name in (OUTSIDE, RECORDED):
        # Else the kernel itself says hello over IPv6. A program that tries IPv6 is seen in its look-up and its trace.
        Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1", encoding="ascii")
    _ip("address", "add", f"{ADDRESS}/24", "dev", OUTSIDE)
    _ip("link", "set", RECORDED, "up")
    _ip("link", "set", OUTSIDE, "up")
    _ip("neighbour", "add", ROUTER, "lladdr", _ROUTER_MAC, "dev", OUTSIDE, "nud", "permanent")
    _ip("route", "add", "default", "via", ROUTER)
    resolver = folder / "resolv.conf"
    resolver.write_text(f"nameserver {ROUTER}\n", encoding="ascii")
    subprocess.run(["mount", "--bind", str(resolver), str(Path("/etc/resolv.conf").resolve())], check=True)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, env=os.environ | {"PATH": _path()})


def _path() -> str:
    return f"{os.environ['PATH']}{os.pathsep}/usr/sbin{os.pathsep}/sbin"
