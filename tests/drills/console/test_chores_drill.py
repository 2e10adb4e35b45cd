"""One console of all does the chores; what fails or dies keeps nobody from them for long."""

import asyncio
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from onlooker.console.web import chores
from onlooker.database import VANISHED_SERVER
from onlooker.settings import Settings
from testkit import fresh_database
from testkit.stopwatch import Stopwatch
from wire import wait_for

pytest_plugins = ["pages"]

CONSOLE = """
import asyncio, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "onlooker.console.web.settings"
import django
django.setup()
from onlooker.console.web.chores import Chore, run_chores
from onlooker.settings import read_settings

def note():
    with open(sys.argv[1], "a") as notes:
        notes.write(f"{os.getpid()}\\n")

asyncio.run(run_chores(read_settings(), chores=(Chore("__main__.note", every_s=0.05),), every_s=0.1))
"""
done: list[str] = []


@pytest.fixture(autouse=True)
def _forget() -> None:
    done.clear()


def test_a_database_that_does_not_answer_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(VANISHED_SERVER, "connect_timeout", 2)  # less is none to psycopg
    with socket.create_server(("127.0.0.1", 0)) as mute:
        settings = Settings(database_url=f"postgresql://127.0.0.1:{mute.getsockname()[1]}/gone?sslmode=disable")

        async def try_once() -> None:
            trying = asyncio.create_task(chores.run_chores(settings, chores=(), every_s=60))
            async with asyncio.timeout(4):
                while "chores put off" not in caplog.text:
                    await asyncio.sleep(0.05)
            trying.cancel()

        with caplog.at_level(logging.WARNING):
            asyncio.run(try_once())


class Consoles:
    """Processes that all want to do the chores."""

    def __init__(self, url: str, notes: Path) -> None:
        self._environment = os.environ | {"ONLOOKER_DATABASE_URL": url}
        self._notes = notes
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        command = [sys.executable, "-c", CONSOLE, str(self._notes)]
        self.processes.append(subprocess.Popen(command, env=self._environment))

    def who(self) -> list[int]:
        """Who did chores, in order."""
        return [int(line) for line in self._notes.read_text().split()] if self._notes.exists() else []

    def work(self, count: int) -> list[int]:
        """Until so many more chores were done, and by whom."""
        before = len(self.who())
        return wait_for(lambda: self.who()[before:], lambda new: len(new) >= count, limit_s=20)


@pytest.fixture
def consoles(tmp_path: Path) -> Iterator[Consoles]:
    with fresh_database() as url:
        made = Consoles(url, tmp_path / "notes")
        try:
            yield made
        finally:
            for process in made.processes:
                process.kill()
                process.wait()


def test_one_console_does_the_chores_and_another_takes_over_when_it_is_killed(consoles: Consoles) -> None:
    consoles.start()
    consoles.work(1)
    consoles.start()
    time.sleep(2.5)  # the second is up by now, and tries
    first, second = (process.pid for process in consoles.processes)
    assert set(consoles.work(5)) == {first}
    consoles.processes[0].send_signal(signal.SIGKILL)
    consoles.processes[0].wait()
    watch = Stopwatch()
    assert set(consoles.work(5)) == {second}
    assert watch.elapsed_s < 5
    assert consoles.processes[1].poll() is None
