"""The demo's own product: a folder with a PostgreSQL and a home, free ports, and `onlooker up` on them."""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from onlooker.compute.service_loader import chosen_services
from onlooker.demo.ports import are_free, free_ports
from onlooker.demo.postgresql import kept_cluster
from onlooker.settings import Settings
from onlooker_pipeline.catalogue import read_catalogue
from onlooker_pipeline.model_runtime import ModelsUnavailable, require_models

START_LIMIT_S = 90.0
PROCESSES = 6
"""Gateway, dispatcher, recorder, console, data endpoint, worker: each has a monitoring port, counted up."""
DATABASE = "onlooker"
NO_SOCKET = "unix_socket_directories="
"""A socket's path has at most a hundred characters, and that of a clone may be longer."""


@dataclass(frozen=True)
class Ports:
    """The demo's ports: plain HTTP on this machine only, so that no browser warns about a certificate."""

    nats: int
    gateway: int
    console: int
    data: int
    monitoring: int

    @property
    def all(self) -> list[int]:
        return [self.nats, self.gateway, self.console, self.data, *range(self.monitoring, self.monitoring + PROCESSES)]


def choose_ports() -> Ports:
    """The usual ones; others if one of them is in use."""
    usual = Settings()
    nats = urlsplit(usual.nats_url).port or 4222
    ports = Ports(nats, usual.http_port, usual.console_http_port, usual.data_http_port, usual.monitoring_port)
    return ports if are_free(ports.all) else Ports(*free_ports(4 + PROCESSES)[:5])


def settings_of(folder: Path, database_url: str, ports: Ports) -> dict[str, str]:
    """The settings that differ from their defaults."""
    return {
        "home": str(folder / "home"),
        "database_url": database_url,
        "nats_url": f"nats://127.0.0.1:{ports.nats}",
        "public_url": f"http://localhost:{ports.gateway}",
        "console_url": f"http://localhost:{ports.console}",
        "data_url": f"http://localhost:{ports.data}",
        "https_port": "0",
        "console_https_port": "0",
        "data_https_port": "0",
        "http_port": str(ports.gateway),
        "console_http_port": str(ports.console),
        "data_http_port": str(ports.data),
        "monitoring_port": str(ports.monitoring),
        "gateways": "1",
        "worker_services": possible_services(),
    }


def possible_services() -> str:
    """All services if the models are installed; otherwise those that need none."""
    services = chosen_services(read_catalogue(""), "")
    try:
        require_models(services)
    except ModelsUnavailable:
        return ",".join(dict.fromkeys(service.name for service in services if not service.models))
    return ""


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Two demos in one folder would share a PostgreSQL."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RuntimeError(f"A demo runs already in {folder}. Stop it, or name another --folder.") from None
        yield


@contextmanager
def own_database(folder: Path) -> Iterator[str]:
    """URL of a migrated database in the folder's own PostgreSQL."""
    place = folder / "postgresql"
    place.mkdir(parents=True, exist_ok=True)
    with kept_cluster(place, free_ports(1)[0], NO_SOCKET) as cluster:
        url = cluster.url.removesuffix("postgres") + DATABASE
        with psycopg.connect(cluster.url, autocommit=True) as connection:
            if not connection.execute("SELECT FROM pg_database WHERE datname = %s", (DATABASE,)).fetchall():
                connection.execute(f"CREATE DATABASE {DATABASE}")
        run_onlooker({"database_url": url}, "migrate")
        yield url


def read_password(folder: Path) -> str:
    """The owner's password; empty if there is none yet."""
    file = folder / "password"
    return file.read_text() if file.exists() else ""


def keep_password(folder: Path, password: str) -> None:
    file = folder / "password"
    file.touch(mode=0o600)
    file.write_text(password)


def forget(folder: Path) -> None:
    """Remove what a demo keeps there, and nothing else."""
    for name in ("postgresql", "home"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in ("password", "up.log"):
        (folder / name).unlink(missing_ok=True)


def run_onlooker(settings: dict[str, str], *command: str, text: str = "") -> None:
    arguments = [sys.executable, "-m", "onlooker", *command]
    subprocess.run(
        arguments, input=text, text=True, check=True, env=environment_of(settings), stdout=subprocess.DEVNULL
    )


def environment_of(settings: dict[str, str]) -> dict[str, str]:
    """These settings and no others: those in the current environment belong to something else."""
    known = {name: value for name, value in os.environ.items() if not name.startswith(("ONLOOKER_", "PG"))}
    return known | {f"ONLOOKER_{name.upper()}": value for name, value in settings.items()}


@contextmanager
def running(folder: Path, settings: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """`onlooker up` in a session of its own, so that Ctrl-C reaches us and we stop it last."""
    output = folder / "up.log"
    command = [sys.executable, "-m", "onlooker", "up"]
    with output.open("wb") as log:
        process = subprocess.Popen(
            command, env=environment_of(settings), stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        _await_ready(process, output)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def _await_ready(process: subprocess.Popen[bytes], output: Path) -> None:
    give_up_at = time.monotonic() + START_LIMIT_S
    while "Ready." not in output.read_text(errors="replace"):
        if process.poll() is not None or time.monotonic() > give_up_at:
            raise RuntimeError(f"`onlooker up` did not become ready:\n{output.read_text(errors='replace')[-4000:]}")
        time.sleep(0.1)


def worker_settings(settings: dict[str, str]) -> Settings:
    """What live traffic needs: the database, and a worker's role on the bus."""
    passwords = json.loads((Path(settings["home"]) / "nats" / "passwords.json").read_text())
    return Settings(
        database_url=settings["database_url"],
        nats_url=settings["nats_url"],
        nats_user="worker-1",
        nats_password=passwords["worker-1"],
    )
