"""Processes of this release and of an earlier one, side by side on one bus and one database."""

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from deploy.release.source_tree import unpack_commit
from onlooker.settings import Settings
from onlooker.up.nats_server import find_program
from testkit import free_ports
from wire import wait_for

EARLIER = "ef66476"
"""The commit on which the work on several hosts began."""
SUPPORT = Path(__file__).parent
POOLS = ("worker-new", "worker-old")
"""A user for each worker: in the earlier release the subjects of a worker have its name."""


def earlier_sources(folder: Path) -> Path:
    """The sources of the earlier release, unpacked; skips where there is no history."""
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    try:
        return unpack_commit(EARLIER, folder, "server/src", "pipeline/src")
    except subprocess.CalledProcessError:
        pytest.skip(f"the history does not go back to {EARLIER}")


@dataclass
class MixedReleases:
    """What runs: `new` processes are of this release, `old` ones of the earlier."""

    folder: Path
    sources: Path
    database_url: str
    nats_port: int
    started: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)

    def environment(self, release: str, **settings: object) -> dict[str, str]:
        sources = [self.sources / "server/src", self.sources / "pipeline/src"] if release == "old" else []
        common = {
            "home": self.folder / "home",
            "database_url": self.database_url,
            "nats_url": f"nats://127.0.0.1:{self.nats_port}",
            "extra_services": "extra.passer",
            "compute_spares": 0,
        }
        ours = {k: v for k, v in os.environ.items() if not k.startswith("ONLOOKER_")}
        path = {"PYTHONPATH": os.pathsep.join(map(str, [*sources, SUPPORT]))}
        return ours | path | {f"ONLOOKER_{k.upper()}": str(v) for k, v in (common | settings).items()}

    def run(self, release: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "onlooker", *arguments]
        environment = self.environment(release)
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)

    def start(self, release: str, process: str) -> None:
        """With a monitoring port, and for gateways and data endpoints one for HTTP."""
        name = f"{release} {process}"
        user = f"worker-{release}" if process == "worker" else process
        http, monitoring = free_ports(2)
        self.ports[name] = monitoring
        self.ports[f"{name} http"] = http
        settings: dict[str, object] = {"monitoring_port": monitoring}
        settings |= {f"{kind}https_port": 0 for kind in ("", "console_", "data_")}
        settings |= {f"{kind}http_port": http for kind in ("", "console_", "data_")}
        if process != "data":
            settings |= {"nats_user": user, "nats_password": self.password(user)}
        if process == "worker":
            settings |= {"worker_name": user, "worker_services": "dummy,passer"}
        with (self.folder / f"{name}.log").open("wb") as log:
            command = [sys.executable, "-m", "onlooker", process]
            environment = self.environment(release, **settings)
            self.started[name] = subprocess.Popen(command, env=environment, stderr=log)

    def password(self, user: str) -> str:
        passwords: dict[str, str] = json.loads((self.folder / "home/nats/passwords.json").read_text())
        return passwords[user]

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.ports[f'{name} http']}"

    def is_ready(self, name: str) -> bool:
        assert self.started[name].poll() is None, (self.folder / f"{name}.log").read_text()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.ports[name]}/readyz", timeout=2):
                return True
        except OSError:
            return False

    def await_ready(self, *names: str) -> None:
        for name in names:
            wait_for(lambda name=name: self.is_ready(name), bool, limit_s=60)  # type: ignore[misc]

    def counted(self, name: str, metric: str) -> float:
        """The sum of a metric over its labels."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.ports[name]}/metrics", timeout=5) as answer:
            found = re.findall(rf"^{metric}(?:{{[^}}]*}})? (\S+)$", answer.read().decode(), re.MULTILINE)
        return sum(map(float, found))


@contextmanager
def mixed_releases(folder: Path, database_url: str) -> Iterator[MixedReleases]:
    """The bus runs, with the users of both releases; processes are started by the test."""
    sources = earlier_sources(folder / "earlier")
    mixed = MixedReleases(folder, sources, database_url, free_ports(1)[0])
    pools = [argument for pool in POOLS for argument in ("--pool", pool)]
    listen = f"127.0.0.1:{mixed.nats_port}"
    printed = mixed.run("new", "bus", "configuration", "--name", "n1", "--listen", listen, *pools)
    assert printed.returncode == 0, printed.stderr
    (folder / "nats.conf").write_text(printed.stdout)
    with (folder / "nats.log").open("wb") as log:
        bus = subprocess.Popen([find_program(Settings()), "-c", str(folder / "nats.conf")], stderr=log)
    try:
        prepared = mixed.run("new", "bus", "prepare")
        assert prepared.returncode == 0, prepared.stderr
        yield mixed
    finally:
        for process in (*mixed.started.values(), bus):
            process.kill()
            process.wait()
