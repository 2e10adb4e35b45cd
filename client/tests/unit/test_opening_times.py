"""When a stream is open, as an agent knows it: from the server, later weeks, and without a clock."""

import math
import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from onlooker.streams.business_hours import clock_changes, open_spans, parse_hours

from onlooker_client.agent.business_hours import ALWAYS_OPEN, WEEK_S, OpeningTimes, read_opening
from onlooker_client.agent.hours_watch import OpeningWatch
from onlooker_client.agent.stream_answer import StreamAnswer

HOUR_S = 3600
FROM_S = 1_000 * WEEK_S
OPENING = {
    "hours": "mo 01:00-02:00",
    "since": FROM_S - WEEK_S,
    "from": FROM_S,
    "to": FROM_S + 2 * WEEK_S,
    "spans": [[FROM_S + HOUR_S, FROM_S + 2 * HOUR_S], [FROM_S + WEEK_S + HOUR_S, FROM_S + WEEK_S + 2 * HOUR_S]],
}


@pytest.mark.parametrize("weeks", [-1, 0, 1, 2, 3, 100])
@pytest.mark.parametrize(("at_s", "is_open"), [(0, False), (HOUR_S, True), (2 * HOUR_S - 1, True), (2 * HOUR_S, False)])
def test_every_week_is_like_those_that_are_known(weeks: int, at_s: int, is_open: bool) -> None:
    assert read_opening(OPENING).is_open(FROM_S + weeks * WEEK_S + at_s) is is_open


def test_what_was_before_the_hours_is_open() -> None:
    assert read_opening(OPENING).is_open(FROM_S - WEEK_S - 1)


@pytest.mark.parametrize("weeks", [0, 1, 5])
def test_it_knows_when_it_opens(weeks: int) -> None:
    opening, begins = read_opening(OPENING), FROM_S + weeks * WEEK_S
    assert opening.opens_at(begins + 3 * HOUR_S) == begins + WEEK_S + HOUR_S
    assert opening.opens_at(begins) == begins + HOUR_S
    assert opening.opens_at(begins + HOUR_S) is None


def told(hours: str, zone: ZoneInfo, now: datetime) -> dict[str, Any]:
    """As a server tells it."""
    week = parse_hours(hours)
    assert week
    from_at, to_at = now - timedelta(days=1), now + timedelta(days=14)
    spans = open_spans(week, zone, from_at, to_at)
    return {
        "hours": hours,
        "since": 0,
        "from": from_at.timestamp(),
        "to": to_at.timestamp(),
        "spans": [[span.from_at.timestamp(), span.to_at.timestamp()] for span in spans],
        "changes": [
            [set_at.timestamp(), by.total_seconds()]
            for set_at, by in clock_changes(zone, from_at, now + timedelta(days=400))
        ],
    }


@pytest.mark.parametrize("zone", ["Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"])
@pytest.mark.parametrize("day", [datetime(2026, 10, 1, tzinfo=UTC), datetime(2026, 10, 20, tzinfo=UTC)])
def test_weeks_that_are_not_told_follow_the_local_clock(zone: str, day: datetime) -> None:
    """Without a line for a year, and however the clock is set meanwhile."""
    hours, place = "mo-fr 09:00-18:30, sa 20:00-24:00, su 05:00-06:00", ZoneInfo(zone)
    opening, week = read_opening(told(hours, place, day)), parse_hours(hours)
    assert week
    spans = open_spans(week, place, day, day + timedelta(days=380))
    for span, later in pairwise(spans):
        begins_s, ends_s = span.from_at.timestamp(), span.to_at.timestamp()
        if span is not spans[0]:
            assert not opening.is_open(begins_s - 1), span
        assert opening.is_open(begins_s), span
        assert opening.is_open(ends_s - 1), span
        assert opening.opens_at(ends_s) == later.from_at.timestamp(), span


def test_an_older_server_tells_no_changes_of_the_clock() -> None:
    assert read_opening(OPENING).changes == ()


@pytest.mark.parametrize("said", [None, {}, "always", {**OPENING, "spans": 5}, {**OPENING, "to": FROM_S + 5}])
def test_what_is_no_opening_is_always_open(said: object) -> None:
    assert read_opening(said) is ALWAYS_OPEN
    assert not ALWAYS_OPEN.is_limited


def watch(opening: OpeningTimes, clock_s: float | None) -> OpeningWatch:
    nobody: object = None
    return OpeningWatch(nobody, known=opening, read_clock=lambda: clock_s)  # type: ignore[arg-type]


def test_without_hours_nothing_is_closed_whatever_the_clock_says() -> None:
    assert not watch(ALWAYS_OPEN, None).is_closed()


def test_with_hours_and_without_a_clock_it_is_closed() -> None:
    assert watch(read_opening(OPENING), None).is_closed()


def test_the_servers_clock_comes_before_the_machines() -> None:
    seen = watch(ALWAYS_OPEN, FROM_S + 90 * 60.0)
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(FROM_S + 5 * HOUR_S))
    seen.take(StreamAnswer({"opening": OPENING, "now": moment}))
    assert seen.is_closed()
    assert seen.opens_at() == pytest.approx(FROM_S + WEEK_S + HOUR_S)


def test_hours_that_never_open_are_closed_for_good() -> None:
    never = OpeningTimes(since_s=-math.inf, from_s=0.0, to_s=WEEK_S)
    assert never.opens_at(5.0) is None
    assert not never.is_open(5.0)
