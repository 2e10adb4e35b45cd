"""Which slots of two periods are compared: of the same local weekday and time of day, watched in both. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import NamedTuple
from zoneinfo import ZoneInfo

from onlooker.metrics.buckets import offsets_around
from onlooker.slots import SLOT_S

WATCHED_FROM = 0.9
"""A slot is compared if at least this share of it was watched."""
LEAST_SHARE = 1 / 3
"""With less of a period compared there is no comparison."""
WEEK = timedelta(days=7)
WEEK_S = int(WEEK.total_seconds())
SECOND = timedelta(seconds=1)
_EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True)
class TimeRange:
    """A period in UTC; its end is not part of it."""

    from_at: datetime
    to_at: datetime


class SlotRun(NamedTuple):
    """Consecutive slots, as Unix times."""

    from_s: int
    to_s: int


class SlotPairs(NamedTuple):
    """Consecutive slots of a period, and as many of the one it is compared with."""

    now_s: int
    before_s: int
    length_s: int

    @property
    def now(self) -> SlotRun:
        return SlotRun(self.now_s, self.now_s + self.length_s)

    @property
    def before(self) -> SlotRun:
        return SlotRun(self.before_s, self.before_s + self.length_s)


def previous_range(period: TimeRange, zone: ZoneInfo) -> TimeRange:
    """The same local times as few whole weeks earlier as do not overlap: today is compared with a week ago."""
    begins, ends = (_local(at, zone) for at in (period.from_at, period.to_at))
    earlier = max(1, -((begins - ends) // WEEK)) * WEEK
    to_at = min(_to_utc(ends - earlier, zone), period.from_at)
    return TimeRange(min(_to_utc(begins - earlier, zone), to_at - SECOND), to_at)


def find_shift_s(now: TimeRange, before: TimeRange, zone: ZoneInfo) -> int:
    """How far apart on the local clock slots are that are compared: whole weeks, from start to start or nearly so."""
    begins, ends, begins_before, ends_before = (
        (_local(at, zone) - _EPOCH) // SECOND for at in (now.from_at, now.to_at, before.from_at, before.to_at)
    )

    def common_s(shift_s: int) -> int:
        return min(ends, ends_before + shift_s) - max(begins, begins_before + shift_s)

    fewer_s = (begins - begins_before) // WEEK_S * WEEK_S
    return max((fewer_s, fewer_s + WEEK_S), key=common_s)


def pair_slots(now: Iterable[SlotRun], before: Iterable[SlotRun], *, zone: ZoneInfo, shift_s: int) -> list[SlotPairs]:
    """The slots of both that are this far apart on the local clock, in order.

    An hour that the clock shows twice is compared with an hour once: the second time only with a second time.
    """
    ours, theirs = sorted(on_clock(list(now), zone)), sorted(on_clock(list(before), zone))
    found, place = [], 0
    for one in ours:
        while place < len(theirs) and theirs[place].ends_before(one, shift_s):
            place += 1
        for other in theirs[place:]:
            if other.begins_after(one, shift_s):
                break
            begin = max(one.from_s, other.from_s + shift_s)
            length_s = min(one.to_s, other.to_s + shift_s) - begin
            if length_s > 0 and (one.from_s - other.from_s - shift_s) % SLOT_S == 0:
                found.append(SlotPairs(begin - one.offset_s, begin - shift_s - other.offset_s, length_s))
    return sorted(found)


class ClockRun(NamedTuple):
    """Slots on the local clock, by when they begin; `fold` is 1 where it shows that time for the second time."""

    fold: int
    from_s: int
    to_s: int
    offset_s: int

    def ends_before(self, other: "ClockRun", shift_s: int) -> bool:
        return (self.fold, self.to_s + shift_s) <= (other.fold, other.from_s)

    def begins_after(self, other: "ClockRun", shift_s: int) -> bool:
        return (self.fold, self.from_s + shift_s) >= (other.fold, other.to_s)


def on_clock(runs: Sequence[SlotRun], zone: ZoneInfo) -> Iterator[ClockRun]:
    """Runs cut where the clock changes. A slot belongs to the offset with which it begins."""
    if not runs:
        return
    stretches = list(_stretches_of(zone, runs[0].from_s, runs[-1].to_s))
    place = 0
    for run in runs:
        while stretches[place].to_s <= run.from_s:
            place += 1
        for stretch in stretches[place:]:
            if stretch.from_s >= run.to_s:
                break
            begin, end = max(run.from_s, stretch.from_s), min(run.to_s, stretch.to_s)
            yield ClockRun(stretch.fold, begin + stretch.offset_s, end + stretch.offset_s, stretch.offset_s)


def _stretches_of(zone: ZoneInfo, from_s: int, to_s: int) -> Iterator[ClockRun]:
    """In UTC: between two changes, the time shown for the second time apart."""
    changes = offsets_around(zone, from_s, to_s)
    ends_s = [*(change.at_s for change in changes[1:]), to_s]
    offsets = [changes[0].offset_s, *(change.offset_s for change in changes)]
    for change, end_s, (before_s, offset_s) in zip(changes, ends_s, pairwise(offsets), strict=True):
        edges = [change.at_s, min(change.at_s + max(0, before_s - offset_s), end_s), end_s]
        for fold, (begin, end) in zip((1, 0), pairwise(map(_slot_from, edges)), strict=True):
            if begin < end:
                yield ClockRun(fold, begin, end, offset_s)


def _slot_from(at_s: int) -> int:
    """The first slot that begins then or later."""
    return -(-at_s // SLOT_S) * SLOT_S


def _local(at: datetime, zone: ZoneInfo) -> datetime:
    return at.astimezone(zone).replace(tzinfo=None)


def _to_utc(clock: datetime, zone: ZoneInfo) -> datetime:
    return clock.replace(tzinfo=zone).astimezone(UTC)
