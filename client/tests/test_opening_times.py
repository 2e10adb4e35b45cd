"""When a stream is open, as an agent knows it: from the server, later weeks, and without a clock."""

import math
import time

import pytest

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
