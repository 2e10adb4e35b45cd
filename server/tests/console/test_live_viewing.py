"""What follows on the first events when nothing happens, when the database is away, and when it is there again."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.db import OperationalError
from psycopg_pool import PoolTimeout

from onlooker.console.dashboard import viewing
from onlooker.console.dashboard.view_words import UNKNOWN, View, describe
from onlooker.console.dashboard.viewing import Stand, Viewing
from onlooker.console.streams.standing import Sign, Standing
from onlooker.metrics.in_view import InView

AT = datetime(2026, 10, 31, 23, 30, tzinfo=UTC)
PARIS = ZoneInfo("Europe/Paris")


def standing(sign: Sign) -> Standing:
    return Standing(sign=sign, since=AT, last_frame_at=AT, used_s=1.0, quota_s=None, goes_on_at=AT)


STAND = Stand(1, PARIS, standing(Sign.LIVE))
NOBODY = describe(STAND.standing, InView(0, 0), PARIS)


@pytest.mark.parametrize(
    ("sign", "in_view", "words"),
    [
        (Sign.LIVE, InView(0, 0), "Nobody in view"),
        (Sign.LIVE, InView(1, 1), "1 in view, 1 looking"),
        (Sign.LIVE, InView(2, 0), "2 in view, none looking"),
        (Sign.SILENT, InView(2, 1), "since 1 Nov 2026, 00:30:00"),
        (Sign.DISABLED, InView(0, 0), "since 1 Nov 2026, 00:30:00"),
        (Sign.QUOTA, InView(0, 0), "goes on 1 Nov 2026, 00:30:00"),
        (Sign.NEVER_SEEN, InView(0, 0), "no frame has come yet"),
    ],
)
def test_a_strip_says_who_is_in_view_or_how_the_stream_stands(sign: Sign, in_view: InView, words: str) -> None:
    view = describe(standing(sign), in_view, PARIS)
    assert (view.sign, view.label, view.words) == (sign.badge, sign.value.capitalize(), words)
    assert view.in_view == (in_view.people if sign is Sign.LIVE else None)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(viewing, "LOOK_EVERY_S", 0.01)
    monkeypatch.setattr(viewing, "BEAT_EVERY_S", 0.1)
    return monkeypatch


def hear(count: int, *, looks: list[View | Exception], quick: pytest.MonkeyPatch) -> list[str]:
    """The first events of an open page; the last look stays."""

    async def look(pool: Any, stand: Stand) -> View:
        found = looks.pop(0) if len(looks) > 1 else looks[0]
        if isinstance(found, Exception):
            raise found
        return found

    async def listen() -> list[str]:
        pool: Any = None
        events = Viewing(SessionStore(), uuid4(), 30.0).follow(pool, stand=STAND, shown=NOBODY)
        return [(await anext(events)).decode() for _ in range(count)]

    quick.setattr(viewing, "look", look)
    return asyncio.run(listen())


def test_a_quiet_server_says_that_it_lives(quick: pytest.MonkeyPatch) -> None:
    assert hear(2, looks=[NOBODY], quick=quick) == ["event: beat\ndata: {}\n\n"] * 2


@pytest.mark.parametrize("trouble", [PoolTimeout("none is free"), OperationalError("it is away")])
def test_a_database_that_is_away_is_said_and_waited_for(quick: pytest.MonkeyPatch, trouble: Exception) -> None:
    away, back = hear(2, looks=[trouble, trouble, NOBODY], quick=quick)
    assert UNKNOWN.words in away
    assert "Nobody in view" in back


def test_who_may_not_see_the_stream_any_more_hears_no_more(quick: pytest.MonkeyPatch) -> None:
    quick.setattr(viewing, "CHECK_EVERY_S", 0.02)
    quick.setattr(Viewing, "check", lambda self: None)
    with pytest.raises(StopAsyncIteration):
        hear(1, looks=[NOBODY], quick=quick)


def test_who_cannot_be_checked_is_told_nothing_of_the_stream(quick: pytest.MonkeyPatch) -> None:
    def fail(self: Viewing) -> None:
        raise OperationalError("it is away")

    quick.setattr(viewing, "CHECK_EVERY_S", 0.02)
    quick.setattr(viewing, "TRUSTED_S", 0.0)
    quick.setattr(Viewing, "check", fail)
    first, second = hear(2, looks=[NOBODY], quick=quick)
    assert UNKNOWN.words in first
    assert "Nobody" not in second


def test_a_check_that_hangs_does_not_keep_the_page_waiting(quick: pytest.MonkeyPatch) -> None:
    quick.setattr(viewing, "CHECK_EVERY_S", 0.02)
    quick.setattr(viewing, "CHECK_LIMIT_S", 0.05)
    quick.setattr(Viewing, "check", lambda self: time.sleep(0.5))
    assert UNKNOWN.words in hear(1, looks=[NOBODY], quick=quick)[0]
