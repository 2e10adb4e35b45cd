"""A cell as deploy/cell/try starts it, and what can happen to its hosts."""

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.lib.product import ROOT, say
from testkit import Stack

TRY = ROOT / "deploy" / "cell" / "try"
NAMESPACES = ROOT / "deploy" / "cell" / "namespaces"
EDGE = "edge"
PROGRAM = "onlooker"
ADDRESSES = {"h1": "10.77.0.1", "h2": "10.77.0.2", "h3": "10.77.0.3", EDGE: "10.77.0.9"}
SCRIPT = """#!/bin/sh
clock=${{ONLOOKER_HOME%/var/*}}/clock
if [ -e "$clock" ]; then
    export LD_PRELOAD='{clock}' DONT_FAKE_MONOTONIC=1 FAKETIME_CACHE_DURATION=1 FAKETIME_TIMESTAMP_FILE="$clock"
fi
exec {program} "$@"
"""
FAKE_CLOCK = "/usr/$LIB/faketime/libfaketimeMT.so.1"
OWN_PROGRAM = Path(sys.executable).with_name("onlooker")
CLONE_NEWNET = 0x40000000


@dataclass
class Cell:
    """Its folder has a folder for each host: the configuration, what it keeps, its logs and process ids."""

    folder: Path

    def install(self, program: Path) -> None:
        """What processes are from their next start on, on all hosts; with a clock that can be set, if there is one.

        Only Onlooker's own: Patroni and PostgreSQL, which run as another user, break with libfaketime.
        """
        script = self.folder / "onlooker.new"
        script.write_text(SCRIPT.format(clock=FAKE_CLOCK, program=program))
        script.chmod(0o755)
        script.replace(self.folder / PROGRAM)

    @property
    def cell_file(self) -> Path:
        return self.folder / "cell.env"

    def as_stack(self) -> Stack:
        """How benches see a product: its address, its authority and its database, from the edge."""
        password = (self.folder / "secrets" / "postgresql-password").read_text().strip()
        home = self.folder / "client"
        (home / "tls").mkdir(parents=True, exist_ok=True)
        (home / "tls" / "ca.pem").write_bytes((self.folder / "secrets" / "authority.pem").read_bytes())
        environment = {
            "ONLOOKER_PUBLIC_URL": f"https://{ADDRESSES[EDGE]}:8443",
            "ONLOOKER_CONSOLE_URL": f"https://{ADDRESSES[EDGE]}:8444",
            "ONLOOKER_DATA_URL": f"https://{ADDRESSES[EDGE]}:8445",
            "ONLOOKER_DATABASE_URL": f"postgresql://postgres:{password}@127.0.0.1:5000/onlooker?sslmode=require",
        }
        return Stack(home, environment, subprocess.Popen(["true"]), self.folder / "start.log")

    def pid_of(self, host: str, name: str) -> int | None:
        """None while it does not run. `postgresql` is the server that Patroni started."""
        state = self.folder / host / "var"
        path = state / "postgresql" / "postmaster.pid" if name == "postgresql" else state / "run" / f"{name}.pid"
        with contextlib.suppress(OSError, ValueError):
            pid = int(path.read_text().split()[0])
            os.kill(pid, 0)
            return pid
        return None

    def kill(self, host: str, name: str) -> bool:
        """SIGKILL; its host starts it again. False if it was not running."""
        pid = self.pid_of(host, name)
        if pid is None:
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        return True

    def restart(self, host: str, name: str) -> None:
        """As an operator does it: it finishes what it has begun."""
        pid = self.pid_of(host, name)
        if pid is not None:
            os.kill(pid, signal.SIGTERM)

    def crash(self, host: str) -> None:
        """SIGKILL everything on a host, at once."""
        found = subprocess.run(["ip", "netns", "pids", f"cell-{host}"], capture_output=True, text=True, check=True)
        for pid in map(int, found.stdout.split()):
            if pid != os.getpid():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def boot(self, host: str) -> None:
        environment = os.environ | {"CELL_ONLOOKER": str(self.folder / PROGRAM)}
        subprocess.run([TRY, "host", self.folder, host], check=True, env=environment)

    def set_clock(self, host: str, ahead_s: int) -> None:
        (self.folder / host / "clock").write_text(f"{ahead_s:+d}s\n")

    def cut(self, host: str) -> None:
        subprocess.run([NAMESPACES, self.cell_file, "cut", host], check=True)

    def join(self, host: str) -> None:
        subprocess.run([NAMESPACES, self.cell_file, "join", host], check=True)

    def primary(self) -> str | None:
        """The host whose PostgreSQL is the primary."""
        for host in ("h1", "h2"):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://{ADDRESSES[host]}:8008/primary", timeout=1).close()
                return host
        return None

    def has_standby(self) -> bool:
        """Whether the other one has all that was committed, so that it may become the primary."""
        for host in ("h1", "h2"):
            with contextlib.suppress(OSError, ValueError):
                url = f"http://{ADDRESSES[host]}:8008/cluster"
                with urllib.request.urlopen(url, timeout=1) as answer:
                    members = json.load(answer)["members"]
                roles = {one["role"] for one in members if one["state"] in ("running", "streaming")}
                return {"sync_standby", "leader"} <= roles
        return False

    def fail_over(self) -> None:
        """As an operator does it who wants the primary elsewhere."""
        leader = self.primary()
        other = "h2" if leader == "h1" else "h1"
        configuration = self.folder / str(leader) / "etc" / "patroni.yml"
        command = [
            str(self.folder / "patroni" / "bin" / "patronictl"),
            "-c",
            str(configuration),
            "failover",
            "onlooker",
            "--candidate",
            other,
            "--force",
        ]
        subprocess.run(["ip", "netns", "exec", f"cell-{leader}", *command], check=True, capture_output=True)

    def await_health(self, limit_s: float) -> bool:
        """Until all processes are ready, PostgreSQL has a standby, and all replicas on the bus are up to date."""
        give_up_at = time.monotonic() + limit_s
        while time.monotonic() < give_up_at:
            if self.has_standby() and all(map(_is_ready, self._monitored())) and self._bus_is_whole():
                return True
            time.sleep(0.5)
        return False

    def await_ready(self, limit_s: float) -> bool:
        """Until all processes are ready."""
        give_up_at = time.monotonic() + limit_s
        while time.monotonic() < give_up_at:
            if all(map(_is_ready, self._monitored())):
                return True
            time.sleep(0.5)
        return False

    def _bus_is_whole(self) -> bool:
        script = f"set -a; . {self.folder}/h1/etc/onlooker.env; exec onlooker bus check --passwords $0"
        command = ["bash", "-c", script, str(self.folder / "secrets" / "passwords.json")]
        inside = ["ip", "netns", "exec", "cell-h1", *command]
        return not subprocess.run(inside, check=False, capture_output=True, timeout=60).returncode

    def _monitored(self) -> list[str]:
        """Where processes report that they are ready."""
        ports = {"gateway": 9100, "dispatcher": 9101, "recorder": 9102, "console": 9103, "data": 9104}
        ports |= {"worker-1": 9110}
        found = []
        for host in ("h1", "h2", "h3"):
            for path in (self.folder / host / "var" / "run").glob("*.pid"):
                if path.stem in ports:
                    found.append(f"http://{ADDRESSES[host]}:{ports[path.stem]}/readyz")
        return found


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=1) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@contextlib.contextmanager
def inside_host(name: str) -> Iterator[None]:
    """This thread, and every one that it starts meanwhile, has the network of a host."""
    with Path("/proc/self/ns/net").open() as ours, Path(f"/run/netns/cell-{name}").open() as theirs:
        _enter(theirs.fileno())
        try:
            yield
        finally:
            _enter(ours.fileno())


def _enter(namespace: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(namespace, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "can't enter a network namespace: this needs root")


@contextlib.contextmanager
def running_cell(
    folder: Path, *, settings: str = "", program: Path | None = None, with_clocks: bool = False
) -> Iterator[Cell]:
    """Started by deploy/cell/try, and stopped on leaving; meanwhile this thread is at its edge.

    `settings` are further lines of the processes' environment; `program` is what they are, unless this release;
    `with_clocks`, theirs can be set.
    """
    say("starting a cell of four hosts ...")
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o711)
    cell = Cell(folder)
    cell.install(program or OWN_PROGRAM)
    for host in ("h1", "h2", "h3") if with_clocks else ():
        (folder / host).mkdir(mode=0o711, exist_ok=True)
        cell.set_clock(host, 0)
    try:
        with (folder / "start.log").open("w") as log:
            started = subprocess.run(
                [str(TRY), "start", str(folder)],
                env=os.environ | {"CELL_SETTINGS": settings, "CELL_ONLOOKER": str(folder / PROGRAM)},
                check=False,
                stdout=log,
                stderr=subprocess.STDOUT,
                timeout=400,
            )
        if started.returncode:
            raise RuntimeError(f"the cell did not start:\n{(folder / 'start.log').read_text()[-3000:]}")
        with inside_host(EDGE):
            yield cell
    finally:
        subprocess.run([TRY, "stop", folder], check=False)
