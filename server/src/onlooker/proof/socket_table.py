"""The sockets of a network namespace, as the kernel lists them, and who holds them."""

import ipaddress
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from onlooker.proof.product_processes import PROC

PROTOCOLS = ("tcp", "tcp6", "udp", "udp6")
LISTENS = "0A"

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True)
class SocketRow:
    """A socket with its peer; of one that listens, the peer's address is unspecified."""

    protocol: str
    local_port: int
    peer: IpAddress
    peer_port: int
    is_listening: bool
    user: int
    inode: int


def read_sockets(pid: int) -> Iterator[SocketRow]:
    """Of the namespace in which a process lives: those that listen, and those with a peer on another machine."""
    for protocol in PROTOCOLS:
        try:
            lines = (PROC / str(pid) / "net" / protocol).read_text().splitlines()[1:]
        except OSError:
            return  # the process is gone
        for line in lines:
            columns = line.split()
            peer, is_elsewhere = _peer(columns[2].partition(":")[0])
            is_listening = columns[3] == LISTENS and protocol.startswith("tcp")
            if is_listening or is_elsewhere:
                yield SocketRow(
                    protocol.removesuffix("6"),
                    _port(columns[1]),
                    peer,
                    _port(columns[2]),
                    is_listening=is_listening,
                    user=int(columns[7]),
                    inode=int(columns[9]),
                )


@lru_cache(maxsize=4096)
def _peer(digits: str) -> tuple[IpAddress, bool]:
    """An address, and whether it is another machine's. Words of four bytes, each in the order of this machine."""
    raw = bytes.fromhex(digits)
    if sys.byteorder == "little":
        raw = b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4))
    address = ipaddress.ip_address(raw)
    address = getattr(address, "ipv4_mapped", None) or address
    return address, not (address.is_loopback or address.is_unspecified)


def _port(endpoint: str) -> int:
    return int(endpoint.rpartition(":")[2], 16)


def outgoing(rows: Iterable[SocketRow]) -> list[SocketRow]:
    """Those to other machines that were opened here: at a port that listens, the others came to us."""
    rows = list(rows)
    listening = {row.local_port for row in rows if row.is_listening}
    return [row for row in rows if not row.is_listening and not (row.protocol == "tcp" and row.local_port in listening)]


def holders(inode: int, processes: Iterable[int]) -> list[int]:
    """Which of the processes hold a socket. Raises PermissionError if that can't be seen of one of them."""
    return [pid for pid in processes if f"socket:[{inode}]" in _open_files(pid)]


def is_held_by_others(inode: int, processes: Iterable[int]) -> bool:
    """Whether a process that this user may look into, and that is none of these, holds a socket."""
    ours = set(processes)
    for folder in PROC.glob("[0-9]*"):
        try:
            if int(folder.name) not in ours and f"socket:[{inode}]" in _open_files(int(folder.name)):
                return True
        except PermissionError:
            continue
    return False


def _open_files(pid: int) -> list[str]:
    found = []
    try:
        for link in (PROC / str(pid) / "fd").iterdir():
            try:
                found.append(str(Path(link).readlink()))
            except FileNotFoundError:
                continue
    except FileNotFoundError:
        return []
    return found
