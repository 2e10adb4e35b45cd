"""A network namespace with loopback and one other interface, whose far end is recorded."""

import ipaddress
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
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


_EVERYTHING = 3  # ETH_P_ALL
_IPV4, _UDP, _TCP, _DNS_PORT = b"\x08\x00", 17, 6, 53


@dataclass
class Recorder:
    """Listens at the far end of the only way out, in a thread of its own."""

    packets: list[str] = field(default_factory=list)
    first_after_s: float | None = None
    _over: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> "Recorder":
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_EVERYTHING))
        self._socket.bind((RECORDED, 0))
        self._socket.settimeout(0.2)
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._record)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._socket.close()

    def _record(self) -> None:
        while not self._over.is_set():
            try:
                packet, _ = self._socket.recvfrom(65_535)
            except TimeoutError:
                continue
            if self.first_after_s is None:
                self.first_after_s = round(time.monotonic() - self._began, 1)
            self.packets.append(describe_packet(packet))


def describe_packet(packet: bytes) -> str:
    """Who was called; of a look-up, which name."""
    if packet[12:14] != _IPV4:
        return f"type {packet[12:14].hex()}: {packet[14:60].hex()}"
    head = 14 + (packet[14] & 15) * 4
    protocol, to = packet[23], ipaddress.IPv4Address(packet[30:34])
    if protocol not in (_UDP, _TCP):
        return f"protocol {protocol} to {to}"
    port = int.from_bytes(packet[head + 2 : head + 4])
    if protocol == _UDP and port == _DNS_PORT:
        return f"look-up of {_name_in(packet[head + 20 :])}"
    return f"{'UDP' if protocol == _UDP else 'TCP'} to {to}:{port}"


def _name_in(question: bytes) -> str:
    labels = []
    while question and question[0]:
        labels.append(question[1 : 1 + question[0]].decode("ascii", "replace"))
        question = question[1 + question[0] :]
    return ".".join(labels)
