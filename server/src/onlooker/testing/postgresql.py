"""Databases for tests: a fresh one on the server there is, or on a cluster of the test's own."""

import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from onlooker.testing.ports import free_ports


def server_url() -> str:
    """The PostgreSQL that tests use: `TEST_DATABASE_URL`, or the one on this machine."""
    return os.environ.get("TEST_DATABASE_URL", "postgresql://127.0.0.1:5432/test")


@contextmanager
def fresh_database(server: str | None = None) -> Iterator[str]:
    """URL of a new, empty database, dropped on leaving."""
    server = server or server_url()
    name = f"onlooker_test_{secrets.token_hex(6)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    try:
        address = urlsplit(server)
        yield f"{address.scheme}://{address.netloc}/{name}" + (f"?{address.query}" if address.query else "")
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@dataclass(frozen=True)
class Cluster:
    """A PostgreSQL server that a test may restart and tune."""

    programs: Path
    data: Path
    port: int
    user: str
    tuning: tuple[str, ...] = ()
    """Settings of the server, as `name=value`."""

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def control(self, *arguments: str) -> None:
        """Run pg_ctl as the cluster's user; PostgreSQL refuses to run as root."""
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -k {self.data}"
        options += "".join(f" -c {setting}" for setting in self.tuning)
        command = [str(self.programs / "pg_ctl"), "-D", str(self.data), "-o", options, "-w", "-l"]
        log = str(self.data / "server.log")
        subprocess.run([*command, log, *arguments], check=True, user=self.user, stdout=subprocess.DEVNULL, cwd="/")

    def restart(self) -> None:
        self.control("restart", "-m", "fast")


@contextmanager
def own_cluster(*tuning: str) -> Iterator[Cluster]:
    """A new cluster on a free port, removed on leaving; with settings of the server as `name=value`."""
    folder = Path(tempfile.mkdtemp(prefix="onlooker-postgresql-"))
    try:
        with kept_cluster(folder, *tuning, stop="immediate") as cluster:
            yield cluster
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def kept_cluster(folder: Path, *tuning: str, stop: str = "fast") -> Iterator[Cluster]:
    """The cluster that a folder has, on a free port; made where there is none, and stopped on leaving."""
    programs, user = _find_programs(), "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
    shutil.chown(folder, user)
    cluster = Cluster(programs, folder / "data", free_ports(1)[0], user, tuning)
    if not (cluster.data / "PG_VERSION").exists():
        options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8"]
        command = [str(programs / "initdb"), "-D", str(cluster.data), *options]
        subprocess.run(command, check=True, user=user, stdout=subprocess.DEVNULL, cwd="/")
    cluster.control("start")
    try:
        yield cluster
    finally:
        cluster.control("stop", "-m", stop)


def _find_programs() -> Path:
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    found = programs[-1] if programs else shutil.which("initdb")
    if not found:
        raise RuntimeError("PostgreSQL's programs are missing. Install them with: apt-get install postgresql")
    return Path(found).parent
