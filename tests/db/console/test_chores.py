"""One console of all does the chores; what fails or dies keeps nobody from them for long."""

import logging
from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.backends.db import SessionStore
from django.utils import timezone
from django.utils.module_loading import import_string

from onlooker.console.accounts.deletion import delete_expired_sessions
from onlooker.console.accounts.models import Account
from onlooker.console.streams.passwords import delete_expired_tokens
from onlooker.console.web import counters
from onlooker.console.web.chores import CHORES, Chore, ChoreSchedule
from onlooker.streams.administration import create_stream, rotate_access_token
from onlooker.streams.models import AccessToken

pytest_plugins = ["pages"]
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
