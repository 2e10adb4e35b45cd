"""HAProxy in front of the product, with the very lines of our guides, and a test authority made on the spot."""

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.lib.product import ROOT
from onlooker.up.certificates import authority_file, ensure_certificate
from testkit import free_ports

GUIDES = ROOT / "docs" / "guides"
HOSTS = {"vision.example.org": "localhost", "console.example.org": "127.0.0.2", "data.example.org": "127.0.0.3"}
"""Names of the guide, and others of this machine that need no name server; all of 127.0.0.0/8 is loopback on Linux."""
LISTENS_ON = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
START_LIMIT_S = 10.0
_BLOCK = re.compile(r"^```haproxy\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class HaproxyFront:
    """Where HAProxy listens, what it shows, and where the product is behind it."""

    port: int
    backend_ports: tuple[int, int, int]
    """Plain HTTP of gateway, console and data endpoint."""
    folder: Path

    @property
    def ca_file(self) -> Path:
        return authority_file(self.folder / "tls")

    @property
    def output(self) -> Path:
        return self.folder / "haproxy.log"

    @property
    def settings(self) -> dict[str, object]:
        """Of `onlooker up` behind it."""
        urls = [f"https://{host}:{self.port}" for host in HOSTS.values()]
        return {
            **dict(zip(("public_url", "console_url", "data_url"), urls, strict=True)),
            **dict(zip(("http_port", "console_http_port", "data_http_port"), self.backend_ports, strict=True)),
            **dict.fromkeys(("https_port", "console_https_port", "data_https_port"), 0),
            "trusted_proxies": "127.0.0.1",
            "authority_file": self.ca_file,
        }


def prepare_front(folder: Path) -> HaproxyFront:
    """Choose ports, make the authority and a certificate for all names, and write the configuration."""
    port, *others = free_ports(4)
    front = HaproxyFront(port, (others[0], others[1], others[2]), folder)
    chain, key = ensure_certificate(folder / "tls", [*HOSTS.values(), *LISTENS_ON])
    shown = folder / "certificates"
    shown.mkdir()
    (shown / "onlooker.pem").write_bytes(chain.read_bytes() + key.read_bytes())
    (folder / "haproxy.cfg").write_text(write_configuration(front, shown), encoding="utf-8")
    return front


def write_configuration(front: HaproxyFront, certificates: Path) -> str:
    """What the guides say, with the places of this machine."""
    (console,) = _blocks("console")
    (gateway,) = _blocks("certificates")
    text = console + gateway[gateway.index("\nbackend gateways") :]
    places = {
        "bind :443": "bind " + ",".join(f"{address}:{front.port}" for address in LISTENS_ON),
        "/etc/haproxy/certificates/": f"{certificates}/",
        "console.example.org": HOSTS["console.example.org"],
        "data.example.org": HOSTS["data.example.org"],
    }
    ports = zip((8080, 8081, 8082), front.backend_ports, strict=True)
    places |= {f"127.0.0.1:{guides}": f"127.0.0.1:{ours}" for guides, ours in ports}
    for guides, ours in places.items():
        if guides not in text:
            raise RuntimeError(
                f"The guides' lines for HAProxy do not have {guides!r} any more: mend the guide or this."
            )
        text = text.replace(guides, ours)
    return text


@contextmanager
def running_haproxy(front: HaproxyFront) -> Iterator[None]:
    """Until the block ends; SystemExit with a remedy where it is not installed."""
    command = [find_haproxy(), "-db", "-f", str(front.folder / "haproxy.cfg")]
    with front.output.open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    try:
        _await_listening(front, process)
        yield
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def find_haproxy() -> str:
    found = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
    if found is None:
        raise SystemExit("haproxy is not installed. On Debian: apt-get install haproxy")
    return found


def _blocks(guide: str) -> list[str]:
    return _BLOCK.findall((GUIDES / f"{guide}.md").read_text(encoding="utf-8"))


def _await_listening(front: HaproxyFront, process: "subprocess.Popen[bytes]") -> None:
    give_up_at = time.monotonic() + START_LIMIT_S
    while True:
        try:
            socket.create_connection((LISTENS_ON[-1], front.port), timeout=1).close()
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > give_up_at:
                raise RuntimeError(f"HAProxy does not listen:\n{front.output.read_text()[-2000:]}") from None
            time.sleep(0.05)
