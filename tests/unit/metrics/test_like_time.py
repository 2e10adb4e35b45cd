"""Slots that are compared: the same weekday and time of day on the local clock, whatever the clock does."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onlooker.metrics.like_time import SlotPairs, SlotRun, TimeRange, find_shift_s, pair_slots, previous_range
from testkit.like_time import like_slots
from testkit.worlds.clocks import ERAS, Era, unix_s

PARIS = ZoneInfo("Europe/Paris")
SLOT_S = 900
DAY_S = 86_400


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


@pytest.mark.parametrize(
    ("begins", "ends", "before"),
    [
        ("2026-11-17T00:00+01:00", "2026-11-17T10:00+01:00", "2026-11-10T00:00+01:00"),  # today: a week ago
        ("2026-11-11T00:00+01:00", "2026-11-17T10:00+01:00", "2026-11-04T00:00+01:00"),  # seven days: the week before
        ("2026-10-19T00:00+02:00", "2026-11-17T10:00+01:00", "2026-09-14T00:00+02:00"),  # thirty days: five weeks
        ("2026-03-29T00:00+01:00", "2026-03-30T00:00+02:00", "2026-03-22T00:00+01:00"),  # a day of 23 hours
    ],
)
def test_a_period_is_compared_with_the_same_weekdays(begins: str, ends: str, before: str) -> None:
    found = previous_range(TimeRange(moment(begins), moment(ends)), PARIS)
    assert found.from_at == moment(before)
    assert found.to_at <= moment(begins)


def test_a_week_with_an_hour_more_is_compared_without_it() -> None:
    now = TimeRange(moment("2026-10-19T00:00+02:00"), moment("2026-10-26T00:00+01:00"))
    before = previous_range(now, PARIS)
    spans = [[SlotRun(int(one.from_at.timestamp()), int(one.to_at.timestamp()))] for one in (now, before)]
    pairs = pair_slots(*spans, zone=PARIS, shift_s=find_shift_s(now, before, PARIS))
    assert now.to_at - now.from_at == timedelta(hours=169)
    assert sum(pair.length_s for pair in pairs) == 168 * 3600


def test_periods_without_a_weekday_in_common_have_no_pairs() -> None:
    monday, sunday = (
        TimeRange(moment(f"{day}T00:00+00:00"), moment(f"{day}T00:00+00:00") + timedelta(days=1))
        for day in ("2026-11-16", "2026-11-15")
    )
    spans = [[SlotRun(int(one.from_at.timestamp()), int(one.to_at.timestamp()))] for one in (monday, sunday)]
    zone = ZoneInfo("UTC")
    assert pair_slots(*spans, zone=zone, shift_s=find_shift_s(monday, sunday, zone)) == []


def test_pairs_know_both_of_their_runs() -> None:
    pair = SlotPairs(9000, 900, 1800)
    assert (pair.now, pair.before) == (SlotRun(9000, 10_800), SlotRun(900, 2700))


def at_second(unix: int) -> datetime:
    return datetime.fromtimestamp(unix, UTC)


def runs_of(slots: set[int]) -> list[SlotRun]:
    begins = sorted(slot for slot in slots if slot - SLOT_S not in slots)
    ends = sorted(slot + SLOT_S for slot in slots if slot + SLOT_S not in slots)
    return [SlotRun(*pair) for pair in zip(begins, ends, strict=True)]


def inside(slots: set[int], period: TimeRange) -> set[int]:
    begin, end = period.from_at.timestamp(), period.to_at.timestamp()
    return {slot for slot in slots if begin <= slot and slot + SLOT_S <= end}


@st.composite
def _periods(draw: st.DrawFn) -> tuple[ZoneInfo, TimeRange, TimeRange, set[int]]:
    era: Era = draw(st.sampled_from(ERAS))
    zone = ZoneInfo(draw(st.sampled_from(era.zones)))
    near = unix_s(draw(st.sampled_from(era.moments)))
    begins = near - draw(st.integers(0, 9 * DAY_S)) // draw(st.sampled_from((1, 60, 900))) * 60
    length_s = draw(st.sampled_from((3600, 86_400, 3 * DAY_S, 7 * DAY_S, 9 * DAY_S))) + draw(st.integers(-1000, 1000))
    now = TimeRange(at_second(begins), at_second(begins + length_s))
    before = previous_range(now, zone)
    if draw(st.booleans()):
        ends = begins - draw(st.integers(0, 16 * DAY_S))
        before = TimeRange(at_second(ends - draw(st.integers(1, 20 * DAY_S))), at_second(ends))
    first, last = (int(at.timestamp()) // SLOT_S for at in (before.from_at, now.to_at))
    off = draw(st.lists(st.tuples(st.integers(first, last), st.integers(1, 300)), max_size=5))
    slots = set(range(first - 4, last + 4)) - {slot + more for slot, count in off for more in range(count)}
    return zone, now, before, {SLOT_S * slot for slot in slots}


@settings(max_examples=60, deadline=None)
@given(_periods())
def test_pairs_are_those_that_pythons_clock_finds(drawn: tuple[ZoneInfo, TimeRange, TimeRange, set[int]]) -> None:
    zone, now, before, slots = drawn
    shift_s = find_shift_s(now, before, zone)
    pairs = pair_slots(runs_of(inside(slots, now)), runs_of(inside(slots, before)), zone=zone, shift_s=shift_s)
    found = {
        at_second(pair.now_s + more): at_second(pair.before_s + more)
        for pair in pairs
        for more in range(0, pair.length_s, SLOT_S)
    }
    covered = {at_second(slot): 900.0 for slot in slots}
    assert found == like_slots((now.from_at, now.to_at), (before.from_at, before.to_at), zone, covered)
    assert sum(pair.length_s for pair in pairs) == SLOT_S * len(found)
    assert len(set(found.values())) == len(found), "a slot was compared twice"
