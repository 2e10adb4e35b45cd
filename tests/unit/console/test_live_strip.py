"""What follows on the first events when nothing happens, when the database is away, and when it is there again."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import msgspec
import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.db import OperationalError
from django.utils.translation import get_language
from psycopg_pool import PoolTimeout

from onlooker.console.dashboard import live
from onlooker.console.dashboard.live import LiveStrip, LiveViewer, StreamSnapshot, describe_strip, describe_unknown
from onlooker.console.streams.status import StatusLabel, StreamStatus
from onlooker.metrics.in_view import InView
from onlooker.standby import NumbersPool

AT = datetime(2026, 10, 31, 23, 30, tzinfo=UTC)
PARIS = ZoneInfo("Europe/Paris")


def status_with(label: StatusLabel) -> StreamStatus:
    return StreamStatus(label=label, since=AT, last_frame_at=AT, used_s=1.0, quota_s=None, goes_on_at=AT)


SNAPSHOT = StreamSnapshot(1, PARIS, status_with(StatusLabel.LIVE))
NOBODY = describe_strip(SNAPSHOT.status, InView(0, 0), PARIS)


@pytest.mark.parametrize(
    ("label", "in_view", "words"),
    [
        (StatusLabel.LIVE, InView(0, 0), "Nobody in view"),
        (StatusLabel.LIVE, InView(1, 1), "1 in view, 1 looking"),
        (StatusLabel.LIVE, InView(2, 0), "2 in view, none looking"),
        (StatusLabel.SILENT, InView(2, 1), "since 1 Nov 2026, 00:30:00"),
        (StatusLabel.DISABLED, InView(0, 0), "since 1 Nov 2026, 00:30:00"),
        (StatusLabel.QUOTA, InView(0, 0), "resumes 1 Nov 2026, 00:30:00"),
        (StatusLabel.NEVER_SEEN, InView(0, 0), "no frames received yet"),
    ],
)
def test_a_strip_says_who_is_in_view_or_the_status_of_the_stream(
    label: StatusLabel, in_view: InView, words: str
) -> None:
    strip = describe_strip(status_with(label), in_view, PARIS)
    assert (strip.sign, strip.label, strip.words) == (label.css_class, label.value.capitalize(), words)
    assert strip.in_view == (in_view.people if label is StatusLabel.LIVE else None)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(live, "LOOK_EVERY_S", 0.01)
    monkeypatch.setattr(live, "BEAT_EVERY_S", 0.1)
    return monkeypatch


def hear(
    count: int, *, looks: list[LiveStrip | Exception], quick: pytest.MonkeyPatch, language: str = "en-gb"
) -> list[str]:
    """The first events of an open page; the last look stays."""

    async def read_strip(pool: Any, snapshot: StreamSnapshot) -> LiveStrip:
        found = looks.pop(0) if len(looks) > 1 else looks[0]
        if isinstance(found, Exception):
            raise found
        return found if get_language() == "en-gb" else msgspec.structs.replace(found, words=get_language())

    async def listen() -> list[str]:
        pool: Any = None
        viewer = LiveViewer(SessionStore(), uuid4(), 30.0, language)
        events = viewer.follow(NumbersPool(pool), snapshot=SNAPSHOT, shown=NOBODY)
        return [(await anext(events)).decode() for _ in range(count)]

    quick.setattr(live, "read_strip", read_strip)
    return asyncio.run(listen())


def test_a_quiet_server_says_that_it_lives(quick: pytest.MonkeyPatch) -> None:
    assert hear(2, looks=[NOBODY], quick=quick) == ["event: beat\ndata: {}\n\n"] * 2


def test_events_are_in_the_language_of_their_page(quick: pytest.MonkeyPatch) -> None:
    assert '"words":"fr"' in hear(1, looks=[NOBODY], quick=quick, language="fr")[0]


@pytest.mark.parametrize("trouble", [PoolTimeout("none is free"), OperationalError("it is away")])
def test_a_database_that_is_away_is_said_and_waited_for(quick: pytest.MonkeyPatch, trouble: Exception) -> None:
    away, back = hear(2, looks=[trouble, trouble, NOBODY], quick=quick)
    assert describe_unknown().words in away
    assert "Nobody in view" in back


def test_who_may_not_see_the_stream_any_more_hears_no_more(quick: pytest.MonkeyPatch) -> None:
    quick.setattr(live, "CHECK_EVERY_S", 0.02)
    quick.setattr(LiveViewer, "check", lambda self: None)
    with pytest.raises(StopAsyncIteration):
        hear(1, looks=[NOBODY], quick=quick)


def test_who_cannot_be_checked_is_told_nothing_of_the_stream(quick: pytest.MonkeyPatch) -> None:
    def fail(self: LiveViewer) -> None:
        raise OperationalError("it is away")

    quick.setattr(live, "CHECK_EVERY_S", 0.02)
    quick.setattr(live, "TRUSTED_S", 0.0)
    quick.setattr(LiveViewer, "check", fail)
    first, second = hear(2, looks=[NOBODY], quick=quick)
    assert describe_unknown().words in first
    assert "Nobody" not in second


def test_a_check_that_hangs_does_not_keep_the_page_waiting(quick: pytest.MonkeyPatch) -> None:
    quick.setattr(live, "CHECK_EVERY_S", 0.02)
    quick.setattr(live, "CHECK_LIMIT_S", 0.05)
    quick.setattr(LiveViewer, "check", lambda self: time.sleep(0.5))
    assert describe_unknown().words in hear(1, looks=[NOBODY], quick=quick)[0]
