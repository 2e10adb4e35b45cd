"""Watches the sockets of the product's processes while the other checks keep it busy: none may leave the machine."""

import ipaddress
import os
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict

from onlooker.proof.check import Check, Finding, Unchecked
from onlooker.proof.product_processes import PROC, find_processes
from onlooker.proof.socket_table import IpAddress, SocketRow, holders, is_held_by_others, outgoing, read_sockets
from onlooker.settings import Settings

if TYPE_CHECKING:
    from onlooker.proof.installation import Installation

EVERY_S = 0.02
PROCESSES_EVERY_S = 1.0
DNS_PORT = 53
RUNTIME = "onnxruntime"
RUNTIME_LOOKS = 10
"""A process that computes loads it first and is confined then: that takes seconds."""
CONFINED = "Seccomp:\t2"
AMAZON = "amazonaws.com"
METHOD = (
    "A connection that is shorter than the time between two looks, here up to {longest_ms} ms, can be missed, and so "
    "can a datagram that is sent without a connected socket. `just quiet`, which records every packet of a namespace, "
    "misses neither; it runs at each build."
)
BY_USER = (
    "This user may not see which process holds a socket. Sockets of the product's user that no visible process holds "
    "were taken for the product's. Run the proof as root to see it exactly."
)


def configured_hosts(settings: Settings) -> set[str]:
    """Names and addresses of machines that the operator has told the product to talk to."""
    urls = [settings.s3_endpoint, settings.email_url, settings.traces_url]
    if settings.stripe_secret_key:
        urls += [settings.stripe_api_url]
    urls += settings.nats_url.split(",")
    found = {urlsplit(url).hostname or "" for url in urls if url}
    for url in (settings.database_url, settings.database_direct_url, settings.database_read_url):
        found |= _database_hosts(url)
    if settings.blob_store_url and not settings.s3_endpoint:
        found.add(f"s3.{settings.s3_region}.{AMAZON}")
    return {host for host in found if host and not host.startswith("/")}


def _database_hosts(url: str) -> set[str]:
    try:
        known = conninfo_to_dict(url) if url else {}
    except psycopg.ProgrammingError:
        return set()
    return {host for name in ("host", "hostaddr") for host in str(known.get(name) or "").split(",")}


@dataclass(frozen=True)
class AllowedPeers:
    """Addresses of configured machines, and of the name servers that are asked for them."""

    addresses: frozenset[IpAddress]
    name_servers: frozenset[IpAddress]

    @classmethod
    def of(cls, hosts: Iterable[str], resolver: Path = Path("/etc/resolv.conf")) -> "AllowedPeers":
        names = [host for host in hosts if host != "localhost"]
        addresses = {address for host in names for address in _addresses(host)}
        needs_names = any(not _is_address(host) for host in names)
        return cls(frozenset(addresses), frozenset(_name_servers(resolver)) if needs_names else frozenset())

    def allows(self, row: SocketRow) -> bool:
        return row.peer in self.addresses or (row.peer_port == DNS_PORT and row.peer in self.name_servers)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _addresses(host: str) -> set[IpAddress]:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return set()
    return {ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found}


def _name_servers(resolver: Path) -> set[IpAddress]:
    try:
        lines = resolver.read_text().splitlines()
    except OSError:
        return set()
    rows = [line.split() for line in lines if line.startswith("nameserver")]
    return {ipaddress.ip_address(row[1].partition("%")[0]) for row in rows if len(row) > 1}


@dataclass
class SeenSockets:
    """What was seen of the product's sockets."""

    looks: int = 0
    longest_s: float = 0.0
    """Between two looks, at most: a busy machine is slower than EVERY_S."""
    looked_at: float | None = None
    calls: Counter[str] = field(default_factory=Counter)
    """Connections to machines that nobody configured, by process and peer; each is counted once."""
    by_user: bool = False
    runtimes: Counter[str] = field(default_factory=Counter)
    """How often a process was seen with the models' runtime loaded and free to open a connection."""
    unseen: bool = False
    """Whether it can't be seen what processes have loaded."""

    def note_look(self, now: float) -> None:
        self.longest_s = max(self.longest_s, now - (now if self.looked_at is None else self.looked_at))
        self.looked_at = now
        self.looks += 1


class SocketWatch:
    """A thread that looks at the sockets again and again until the block ends."""

    def __init__(self, home: Path, allowed: AllowedPeers) -> None:
        self._home = home
        self._allowed = allowed
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="socket-watch", daemon=True)
        self._known: set[tuple[int, str]] = set()
        self.heard = SeenSockets()
        self.processes: dict[int, str] = find_processes(home)

    def __enter__(self) -> "SocketWatch":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> SeenSockets:
        self._ended.set()
        self._thread.join()
        return self.heard

    def _run(self) -> None:
        left_s = 0.0
        while not self._ended.wait(EVERY_S):
            left_s -= EVERY_S
            if left_s <= 0:
                self.processes = find_processes(self._home) or self.processes
                self.look_at_runtimes()
                left_s = PROCESSES_EVERY_S
            self.look_at_sockets()

    def look_at_sockets(self) -> None:
        first = next(iter(self.processes), None)
        if first is None:
            return
        self.heard.note_look(time.monotonic())
        for row in outgoing(read_sockets(first)):
            if not self._allowed.allows(row):
                self._note(row)

    def _note(self, row: SocketRow) -> None:
        peer = f"{row.peer} port {row.peer_port} ({row.protocol})"
        if (row.inode, peer) in self._known:
            return
        name = self._holder(row)
        if name:
            self._known.add((row.inode, peer))
            self.heard.calls[f"{name} to {peer}"] += 1

    def _holder(self, row: SocketRow) -> str:
        """The name of the process that holds a socket; empty if it is none of the product's."""
        try:
            found = holders(row.inode, self.processes)
            return self.processes[found[0]] if found else ""
        except PermissionError:
            self.heard.by_user = True
        is_ours = row.user == _user(next(iter(self.processes))) and not is_held_by_others(row.inode, self.processes)
        return "one of the processes" if is_ours else ""

    def look_at_runtimes(self) -> None:
        """The official runtime reports usage unless it is told not to; where it can't open a socket, it never can."""
        for pid, name in self.processes.items():
            try:
                loaded = (PROC / str(pid) / "maps").read_text()
                is_confined = CONFINED in (PROC / str(pid) / "status").read_text()
            except PermissionError:
                self.heard.unseen = True
                continue
            except OSError:
                continue
            if RUNTIME in loaded and not is_confined:
                self.heard.runtimes[f"{name} ({pid})"] += 1


def _user(pid: int) -> int:
    try:
        return (PROC / str(pid)).stat().st_uid or _real_user(pid)
    except OSError:
        return -1


def _real_user(pid: int) -> int:
    """A process that hides itself belongs to root as far as its folder is concerned."""
    status = (PROC / str(pid) / "status").read_text()
    return int(status.partition("Uid:")[2].split()[0])


def begin_watch(installation: "Installation") -> None:
    allowed = AllowedPeers.of(configured_hosts(installation.settings))
    watch = SocketWatch(installation.home, allowed)
    installation.kept[CHECK.id] = installation.things.enter_context(watch)


def check_connections(installation: "Installation") -> Finding:
    watch: SocketWatch = installation.kept[CHECK.id]
    if not watch.processes:
        raise Unchecked("No `onlooker up` of this machine uses this home. Run the proof where it runs.")
    heard = watch.stop()
    is_confined = installation.settings.confinement == "on"
    wrong = judge_heard(heard, is_confined=is_confined)
    names = sorted(set(watch.processes.values()))
    hosts = sorted(configured_hosts(installation.settings))
    return Finding(
        done=f"Looked at the sockets of {', '.join(names)} while the other checks kept them busy, {heard.looks} "
        f"times, at most {heard.longest_s * 1000:.0f} ms apart, for peers beyond this machine. "
        f"Configured are: {', '.join(hosts)}.",
        found=" ".join(wrong) or "No process opened a connection to a machine that was not configured.",
        ok=not wrong,
        figures={
            "looks": heard.looks,
            "longest_ms_between_looks": round(heard.longest_s * 1000),
            "processes": len(watch.processes),
            "calls": dict(heard.calls),
            "runtime_loaded_by": dict(heard.runtimes),
        },
        limits=_limits(heard, is_confined=is_confined, as_root=os.geteuid() == 0),
    )


def judge_heard(heard: SeenSockets, *, is_confined: bool) -> list[str]:
    """What is wrong, in sentences."""
    calls: Mapping[str, int] = heard.calls
    return [
        *(f"A connection left the machine: {call}, {count} times." for call, count in sorted(calls.items())),
        *(
            f"{name} has loaded {RUNTIME}, which reports usage to its maker, and is not confined."
            for name, looks in sorted(heard.runtimes.items())
            if is_confined and looks >= RUNTIME_LOOKS
        ),
    ]


def _limits(heard: SeenSockets, *, is_confined: bool, as_root: bool) -> tuple[str, ...]:
    limits = [METHOD.format(longest_ms=round(heard.longest_s * 1000))]
    if heard.by_user:
        limits.append(BY_USER)
    if heard.unseen and not as_root:
        limits.append("This user may not see which process has loaded the models' runtime. Run the proof as root.")
    if not is_confined:
        limits.append(f"Confinement is off, so processes that load {RUNTIME} could open connections.")
    return tuple(limits)


CHECK = Check(
    id="connections",
    title="Watches for connections that leave the machine",
    promises=("dependencies-send-nothing",),
    run=check_connections,
    begin=begin_watch,
)
