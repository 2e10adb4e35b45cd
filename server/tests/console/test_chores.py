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
from datetime import timedelta
from pathlib import Path

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.backends.db import SessionStore
from django.utils import timezone
from django.utils.module_loading import import_string

from onlooker.console.accounts.deletion import delete_expired_sessions
from onlooker.console.accounts.models import Account
from onlooker.console.streams.passwords import delete_expired_tokens
from onlooker.console.web import chores, counters
from onlooker.console.web.chores import CHORES, Chore, ChoreSchedule
from onlooker.database import VANISHED_SERVER
from onlooker.settings import Settings
from onlooker.streams.administration import create_stream, rotate_access_token
from onlooker.streams.models import AccessToken
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


def work() -> int:
    done.append("work")
    return 1


def fail() -> None:
    done.append("fail")
    raise ZeroDivisionError


def put_off() -> None:
    raise OSError("away")


@pytest.fixture(autouse=True)
def _forget() -> None:
    done.clear()


def test_every_chore_there_is_can_be_called_and_does_nothing_twice(transactional_db: None) -> None:
    for chore in CHORES:
        import_string(chore.name)()  # tests before may have left something to do
        assert not import_string(chore.name)()


def test_a_chore_that_fails_keeps_no_other_from_being_done(caplog: pytest.LogCaptureFixture) -> None:
    names = [f"{__name__}.{name}" for name in ("fail", "put_off", "missing", "work")]
    before = [counters.chores(*labels)._value.get() for labels in (("fail", "failed"), ("work", "done"))]
    with caplog.at_level(logging.INFO):
        ChoreSchedule(tuple(Chore(name, every_s=60) for name in names)).run_due()
    assert done == ["fail", "work"]
    said = {record.message for record in caplog.records}
    assert said == {"chore failed", "chore put off", "chore done"}
    after = [counters.chores(*labels)._value.get() for labels in (("fail", "failed"), ("work", "done"))]
    assert [b - a for a, b in zip(before, after, strict=True)] == [1, 1]


def test_each_chore_is_done_as_often_as_it_says() -> None:
    chores = ChoreSchedule((Chore(f"{__name__}.work", every_s=30),))
    for now in (0.0, 10.0, 29.0, 31.0, 60.0, 62.0):
        chores.run_due(now=lambda now=now: now)
    assert len(done) == 3


def test_access_tokens_go_a_day_after_their_end(owner: Account) -> None:
    stream = create_stream("Lobby", owner=owner, kind="developer").stream
    rotate_access_token(stream, grace=timedelta(hours=1))
    now = timezone.now()
    assert delete_expired_tokens(now + timedelta(hours=24)) == 0
    assert delete_expired_tokens(now + timedelta(hours=25, minutes=1)) == 1
    assert AccessToken.objects.get().expires_at is None


def test_sessions_that_ended_go_from_both_lists(owner: Account) -> None:
    alive, dead = SessionStore(), SessionStore()
    dead.set_expiry(-10)
    for store in (alive, dead):
        store.create()
        UserSession.objects.create(user=owner, ip="127.0.0.1", session_key=store.session_key, user_agent="test")
    assert delete_expired_sessions() == 0, "it may just have been made"
    assert delete_expired_sessions(timezone.now() + timedelta(hours=2)) == 1
    assert UserSession.objects.get().session_key == alive.session_key
    assert not SessionStore().exists(dead.session_key)


@pytest.mark.alone
def test_a_database_that_does_not_answer_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(VANISHED_SERVER, "connect_timeout", 2)  # less is none to psycopg
    with socket.create_server(("127.0.0.1", 0)) as mute:
        settings = Settings(database_url=f"postgresql://127.0.0.1:{mute.getsockname()[1]}/gone?sslmode=disable")

        async def try_for(limit_s: float) -> None:
            async with asyncio.timeout(limit_s):
                await chores.run_chores(settings, chores=(), every_s=60)

        with pytest.raises(TimeoutError), caplog.at_level(logging.WARNING):
            asyncio.run(try_for(4))
    assert "chores put off" in caplog.text


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


@pytest.mark.alone
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
