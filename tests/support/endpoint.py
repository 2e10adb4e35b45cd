"""A plugin: a data endpoint in this process, and one in a process of its own, on one migrated database."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from data_process import Served
from readers import CONSOLE_URL, DATA_URL, Archive, Question, Reader, Watched
from recorder_process import eventually
from testkit import free_ports, migrated_database


@pytest.fixture(scope="session")
def archive() -> Iterator[Archive]:
    with migrated_database() as url:
        yield Archive(url)


@pytest.fixture(scope="session")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as made:
        yield made


@pytest.fixture(scope="session")
def reader(runner: asyncio.Runner, archive: Archive) -> Iterator[Reader]:
    made = Reader(runner, archive)
    yield made
    made.close()


@pytest.fixture
def watched(archive: Archive) -> Watched:
    """A fresh stream."""
    return archive.create_stream()


@pytest.fixture
def question(reader: Reader, watched: Watched) -> Question:
    return Question(reader, watched)


@pytest.fixture(scope="session")
def served(archive: Archive, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """`onlooker data` and nothing else."""
    http_port, monitoring_port = free_ports(2)
    log = Path(tmp_path_factory.mktemp("data")) / "data.log"
    settings = {
        "database_url": archive.database_url,
        "console_url": CONSOLE_URL,
        "data_url": DATA_URL,
        "data_https_port": 0,
        "data_http_port": http_port,
        "data_time_limit_s": 1,
        "data_rate_limit_burst": 10_000,
        "monitoring_port": monitoring_port,
    }
    environment = os.environ | {f"ONLOOKER_{name.upper()}": str(value) for name, value in settings.items()}
    with log.open("wb") as output:
        process = subprocess.Popen([sys.executable, "-m", "onlooker", "data"], env=environment, stderr=output)
    made = Served(archive, process, http_port, monitoring_port, log)
    try:
        eventually(made.is_ready, within_s=30)
        yield made
    finally:
        process.terminate()
        assert process.wait(20) == 0
