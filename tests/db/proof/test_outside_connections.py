"""`onlooker prove` watches sockets: one that leaves the machine breaks the promise, and names its process."""

import fcntl
import os
import time
from pathlib import Path

import pytest

from onlooker.proof import connections, product_processes, socket_table
from onlooker.proof.check import Unchecked
from onlooker.proof.connections import (
    CHECK,
    RUNTIME_LOOKS,
    AllowedPeers,
    SocketWatch,
    check_connections,
    configured_hosts,
    judge_heard,
)
from onlooker.proof.installation import Installation
from onlooker.proof.product_processes import find_processes, lock_holders
from onlooker.proof.socket_table import outgoing, read_sockets
from onlooker.settings import Settings

UP, GATEWAY, WORKER, OTHER = 100, 101, 102, 900
NOBODY = AllowedPeers(frozenset(), frozenset())
LISTENING, CONNECTED, ASKING = "0A", "01", "02"
ABROAD = "057100CB:01BB"
"""203.0.113.5, port 443, as the kernel writes it here."""
HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"


class FakeProc:
    """Processes and sockets as files."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        self.rows: dict[str, list[str]] = {}
        home.mkdir()
        (home / "lock").touch()
        at = (home / "lock").stat()
        place = f"{os.major(at.st_dev):02x}:{os.minor(at.st_dev):02x}:{at.st_ino}"
        folder.mkdir()
        (folder / "locks").write_text(f"1: FLOCK  ADVISORY  WRITE {UP} {place} 0 EOF\n")
        for pid, name, children in ((UP, "up", f"{GATEWAY} {WORKER}"), (GATEWAY, "gateway", ""), (OTHER, "curl", "")):
            self.add(pid, name, children)
        self.add(WORKER, "worker-1", "")
        for protocol in socket_table.PROTOCOLS:
            self.rows[protocol] = []
        self.write()

    def add(self, pid: int, name: str, children: str) -> None:
        place = self.folder / str(pid)
        (place / "task" / str(pid)).mkdir(parents=True)
        (place / "task" / str(pid) / "children").write_text(children)
        (place / "comm").write_text(f"{name}\n")
        (place / "maps").write_text("7f00 libc.so\n")
        (place / "status").write_text("Uid:\t1000\nSeccomp:\t0\n")
        for part in ("fd", "net"):
            (place / part).mkdir()

    def open(
        self, pid: int, inode: int, protocol: str, peer: str, *, state: str = CONNECTED, port: int = 50000
    ) -> None:
        (self.folder / str(pid) / "fd" / str(inode)).symlink_to(f"socket:[{inode}]")
        counters = "00000000:00000000 00:00000000 00000000"
        self.rows[protocol].append(f"   0: 0100007F:{port:04X} {peer} {state} {counters}  1000        0 {inode} 1 0\n")
        self.write()

    def write(self) -> None:
        for protocol, rows in self.rows.items():
            for pid in (UP, GATEWAY, WORKER):
                (self.folder / str(pid) / "net" / protocol).write_text(HEAD + "".join(rows))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def proc(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProc:
    fake = FakeProc(tmp_path / "proc", home)
    for module in (product_processes, socket_table, connections):
        monkeypatch.setattr(module, "PROC", fake.folder)
    return fake


def heard(home: Path, allowed: AllowedPeers = NOBODY) -> dict[str, int]:
    watch = SocketWatch(home, allowed)
    watch.look_at_sockets()
    watch.look_at_sockets()
    return dict(watch.heard.calls)


def test_processes_are_those_below_the_holder_of_the_lock(proc: FakeProc, home: Path) -> None:
    assert find_processes(home) == {UP: "up", GATEWAY: "gateway", WORKER: "worker-1"}


def test_real_lock_is_found(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w") as lock:
        assert lock_holders(tmp_path / "lock") == []
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert lock_holders(tmp_path / "lock") == [os.getpid()]


@pytest.mark.parametrize(
    ("protocol", "peer", "said"),
    [
        ("tcp", ABROAD, "203.0.113.5 port 443 (tcp)"),
        ("udp", "087100CB:0035", "203.0.113.8 port 53 (udp)"),
        ("tcp6", "0000000000000000FFFF0000057100CB:01BB", "203.0.113.5 port 443 (tcp)"),
        ("tcp6", "B80D0120000000000000000001000000:01BB", "2001:db8::1 port 443 (tcp)"),
    ],
)
def test_connection_that_leaves_the_machine_is_told_once(
    proc: FakeProc, home: Path, protocol: str, peer: str, said: str
) -> None:
    proc.open(GATEWAY, 555, protocol, peer, state=ASKING if protocol == "tcp" else CONNECTED)
    assert heard(home) == {f"gateway to {said}": 1}


@pytest.mark.parametrize(
    ("protocol", "peer"),
    [
        ("tcp", "0100007F:1538"),
        ("udp", "00000000:0000"),
        ("tcp6", "00000000000000000000000001000000:1538"),
        ("tcp6", "0000000000000000FFFF00000100007F:1538"),
    ],
)
def test_connection_on_this_machine_is_no_matter(proc: FakeProc, home: Path, protocol: str, peer: str) -> None:
    proc.open(GATEWAY, 555, protocol, peer)
    assert heard(home) == {}


def test_connection_that_others_opened_is_no_matter(proc: FakeProc, home: Path) -> None:
    proc.open(GATEWAY, 554, "tcp", "00000000:0000", state=LISTENING, port=8443)
    proc.open(GATEWAY, 555, "tcp", ABROAD, port=8443)
    assert heard(home) == {}
    assert [row.is_listening for row in read_sockets(UP)] == [True, False]
    assert outgoing(read_sockets(UP)) == []


def test_connection_of_another_program_is_no_matter(proc: FakeProc, home: Path) -> None:
    proc.open(OTHER, 555, "tcp", ABROAD)
    assert heard(home) == {}


def test_configured_machine_is_allowed_and_name_servers_only_where_a_name_is_configured(tmp_path: Path) -> None:
    resolver = tmp_path / "resolv.conf"
    resolver.write_text("search example.org\nnameserver 203.0.113.8\n")
    by_address = AllowedPeers.of({"203.0.113.5", "localhost"}, resolver)
    assert [str(one) for one in by_address.addresses] == ["203.0.113.5"]
    assert not by_address.name_servers
    by_name = AllowedPeers.of({"unknown.invalid"}, resolver)
    assert [str(one) for one in by_name.name_servers] == ["203.0.113.8"]


def test_configured_peer_is_no_matter(proc: FakeProc, home: Path) -> None:
    proc.open(GATEWAY, 555, "tcp", ABROAD)
    assert heard(home, AllowedPeers.of({"203.0.113.5"})) == {}


def test_hosts_are_those_of_the_settings() -> None:
    settings = Settings(
        database_url="postgresql://user:word@db.example.org:5432/onlooker?target_session_attrs=any",
        nats_url="nats://10.0.0.1:4322,nats://10.0.0.2:4322",
        traces_url="http://collector.example.org:4318/v1/traces",
    )
    assert configured_hosts(settings) == {"db.example.org", "10.0.0.1", "10.0.0.2", "collector.example.org"}
    assert configured_hosts(Settings(database_url="postgresql:///onlooker?host=/run/postgresql", nats_url="")) == set()


@pytest.mark.parametrize(("seccomp", "is_wrong"), [("0", True), ("2", False)])
def test_runtime_in_a_process_that_is_not_confined_is_told(
    proc: FakeProc, home: Path, seccomp: str, is_wrong: bool
) -> None:
    (proc.folder / str(WORKER) / "maps").write_text("7f00 /lib/onnxruntime/capi/onnxruntime_pybind11_state.so\n")
    (proc.folder / str(WORKER) / "status").write_text(f"Seccomp:\t{seccomp}\n")
    watch = SocketWatch(home, NOBODY)
    for _ in range(RUNTIME_LOOKS - 1):
        watch.look_at_runtimes()
    assert judge_heard(watch.heard, is_confined=True) == [], "it may still be starting"
    watch.look_at_runtimes()
    wrong = judge_heard(watch.heard, is_confined=True)
    assert [sentence.partition(" has loaded")[0] for sentence in wrong] == (
        [f"worker-1 ({WORKER})"] if is_wrong else []
    )
    assert judge_heard(watch.heard, is_confined=False) == []


def test_check_fails_and_names_the_call(proc: FakeProc, home: Path, tmp_path: Path) -> None:
    proc.open(WORKER, 555, "tcp", ABROAD)
    installation = Installation(Settings(home=str(home)), tmp_path, print)
    with installation.things:
        assert CHECK.begin
        CHECK.begin(installation)
        watch: SocketWatch = installation.kept[CHECK.id]
        while watch.heard.looks < 3:
            time.sleep(0.01)
        finding = check_connections(installation)
    assert not finding.ok
    assert "A connection left the machine: worker-1 to 203.0.113.5 port 443 (tcp), 1 times." in finding.found
    assert CHECK.promises == ("dependencies-send-nothing",)
    assert "can be missed" in finding.limits[0]


def test_without_a_running_product_it_can_not_be_checked(tmp_path: Path) -> None:
    installation = Installation(Settings(home=str(tmp_path)), tmp_path, print)
    with installation.things:
        assert CHECK.begin
        CHECK.begin(installation)
        with pytest.raises(Unchecked, match="No `onlooker up` of this machine"):
            check_connections(installation)
