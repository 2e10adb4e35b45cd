"""The buckets of a query: where an hour, a day, a week or a month begins on the local clock. Pure."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple
from zoneinfo import ZoneInfo

from onlooker.metrics.query import EARLIEST, LATEST, Query, Time
from onlooker.slots import SLOT_S

HOUR_S, DAY_S = 3600, 86_400
WEEK_S = 7 * DAY_S
HOURS_A_WEEK = 168
HOURS_BEFORE_1970 = 72
"""It began on a Thursday."""
PROBE_S = 3 * DAY_S
"""How far apart a clock is probed. Since 1970 no clock has changed twice within six days."""
AROUND_DAY = timedelta(days=3)
"""Longer than a day on any clock."""
AROUND = {Time.BY_WEEK: timedelta(days=10), Time.BY_MONTH: timedelta(days=34)}
"""The same of longer buckets: the first and last bucket of a range begin and end within this distance of it."""
CACHED_YEARS = 80_000
CACHED_KEYS = 16_384
"""Two years of hours of one time zone: pages of different streams have the same ones."""
CACHED_TEXTS = 4096
CACHED_RANGES = 256
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)

Week = tuple[datetime, datetime]
"""When it begins and ends, in UTC."""


@dataclass(frozen=True)
class Buckets:
    """The buckets of one page."""

    keys: tuple[str, ...]
    edges_s: tuple[float, ...]
    """As Unix times, one more than buckets. The first is the start of its bucket, even if the range begins later."""

    @cached_property
    def edges(self) -> tuple[datetime, ...]:
        """The same in UTC."""
        return tuple([datetime.fromtimestamp(edge_s, UTC) for edge_s in self.edges_s])


@dataclass(frozen=True)
class Hours:
    """The hours of a range. A year has thousands: neither datetimes nor keys are made of them."""

    edges_s: list[int]
    """As in Buckets."""
    of_week: list[int]
    """The hour of the local week at which each begins, counted from Monday midnight."""


def count_buckets(query: Query) -> int:
    """How many buckets the whole range has."""
    if query.time is Time.GLOBAL:
        return 1
    return len(_starts_around(query).numbers_of(query))


def page_buckets(query: Query, *, first: int, count: int) -> Buckets:
    """`count` buckets starting with number `first`, counted from 0; fewer if the range ends earlier."""
    if query.time is Time.GLOBAL:
        return Buckets(("global",), (query.from_at.timestamp(), query.to_at.timestamp()))
    starts = _starts_around(query)
    numbers = starts.numbers_of(query)[first : first + count]
    edges_s: list[int] = []
    keys: list[str] = []
    for stretch in starts.begin(range(numbers.start, numbers.stop + 1)):
        edges_s += stretch.at_s
        keys += [_key_of(at_s, stretch.offset_s) for at_s in stretch.at_s]
    return Buckets(tuple(keys[:-1]), tuple(edges_s))


def all_hours(query: Query) -> Hours:
    """The hours of the whole range, whatever buckets the query has."""
    by_hour = replace(query, time=Time.BY_HOUR)
    starts = _starts_around(by_hour)
    numbers = starts.numbers_of(by_hour)
    edges_s: list[int] = []
    of_week: list[int] = []
    for stretch in starts.begin(range(numbers.start, numbers.stop + 1)):
        edges_s += stretch.at_s
        ahead_s = stretch.offset_s + HOURS_BEFORE_1970 * HOUR_S
        of_week += [(at_s + ahead_s) // HOUR_S % HOURS_A_WEEK for at_s in stretch.at_s]
    return Hours(edges_s, of_week[:-1])


def week_around(at: datetime, zone: ZoneInfo) -> Week:
    """From Monday to Monday on the local clock."""
    buckets = page_buckets(Query(0, (), at, at + timedelta.resolution, zone, Time.BY_WEEK), first=0, count=1)
    return buckets.edges[0], buckets.edges[1]


@lru_cache(maxsize=CACHED_KEYS)
def _key_of(at_s: int, offset_s: int) -> str:
    """Like `isoformat`, which takes five times as long for a page of hours."""
    day, second = divmod(at_s + offset_s, DAY_S)
    return f"{_date_text(day)}T{_clock_text(second)}{_offset_text(offset_s)}"


@lru_cache(maxsize=CACHED_TEXTS)
def _date_text(day: int) -> str:
    return (_EPOCH + timedelta(days=day)).date().isoformat()


@lru_cache(maxsize=CACHED_TEXTS)
def _clock_text(second: int) -> str:
    return (_EPOCH + timedelta(seconds=second)).time().isoformat()


@lru_cache(maxsize=CACHED_TEXTS)
def _offset_text(offset_s: int) -> str:
    return _EPOCH.replace(tzinfo=timezone(timedelta(seconds=offset_s))).isoformat()[len("1970-01-01T00:00:00") :]


class _Unit(NamedTuple):
    """Buckets of one length, numbered by a clock."""

    length_s: int
    ahead_s: int = 0
    """How long before 1970 number 0 began."""

    def number_at(self, local_s: int) -> int:
        return (local_s + self.ahead_s) // self.length_s

    def begin(self, numbers: range, *, clock_s: int) -> Sequence[int]:
        """When consecutive ones begin, by a clock that is so much ahead of UTC."""
        ahead_s = self.ahead_s + clock_s
        return range(numbers.start * self.length_s - ahead_s, numbers.stop * self.length_s - ahead_s, self.length_s)


class _Months:
    """The months of the calendar, numbered from the first that any range comes near."""

    def __init__(self) -> None:
        years = range(EARLIEST.year - 1, LATEST.year + 2)
        self._begin_s = [_floor_s(datetime(year, month, 1, tzinfo=UTC)) for year in years for month in range(1, 13)]

    def number_at(self, local_s: int) -> int:
        return bisect_right(self._begin_s, local_s) - 1

    def begin(self, numbers: range, *, clock_s: int) -> Sequence[int]:
        return [begins_s - clock_s for begins_s in self._begin_s[numbers.start : numbers.stop]]


class _Stretch(NamedTuple):
    """Buckets one after another, all with one offset: when they begin."""

    at_s: list[int]
    offset_s: int


class _Run(NamedTuple):
    """The buckets that begin between two changes of a clock, by their number."""

    begins_s: int
    offset_s: int
    clock_s: int
    """What the clock that they are numbered by is ahead of UTC."""
    unit: _Unit | _Months
    first: int
    after: int

    def count_before(self, moment_s: int) -> int:
        """How many of them begin before a moment."""
        return max(0, min(self.after, self.unit.number_at(moment_s - 1 + self.clock_s) + 1) - self.first)

    def begin(self, indexes: range) -> _Stretch:
        """The very first may begin late, with the change itself."""
        numbers = range(self.first + indexes.start, self.first + indexes.stop)
        begin_s = self.unit.begin(numbers, clock_s=self.clock_s)
        return _Stretch([max(self.begins_s, begin_s[0]), *begin_s[1:]], self.offset_s)


class _Starts:
    """The moments at which buckets begin. They are counted, and listed only as far as needed."""

    def __init__(self, runs: list[_Run]) -> None:
        self._runs = runs
        self._begins_s = [run.begins_s for run in runs]
        self._before = list(accumulate((run.after - run.first for run in runs), initial=0))

    def numbers_of(self, query: Query) -> range:
        """The buckets that have a moment in the query's range."""
        first = self._count_before(_floor_s(query.from_at) + 1) - 1
        return range(first, self._count_before(_ceil_s(query.to_at)))

    def begin(self, numbers: range) -> Iterator[_Stretch]:
        """Some consecutive ones, from one change of the clock to the next."""
        while numbers:
            index = bisect_right(self._before, numbers.start) - 1
            before = self._before[index]
            here = numbers[: self._before[index + 1] - numbers.start]
            yield self._runs[index].begin(range(here.start - before, here.stop - before))
            numbers = numbers[len(here) :]

    def _count_before(self, moment_s: int) -> int:
        index = bisect_left(self._begins_s, moment_s) - 1
        return self._before[index] + self._runs[index].count_before(moment_s)


class OffsetChange(NamedTuple):
    """The moment at which a clock takes on an offset."""

    at_s: int
    offset_s: int


def _starts_around(query: Query) -> _Starts:
    around = AROUND.get(query.time, AROUND_DAY)
    return _starts_of_years(query.zone.key, (query.from_at - around).year, (query.to_at + around).year, query.time)


@lru_cache(maxsize=CACHED_RANGES)
def _starts_of_years(zone_key: str, first: int, last: int, time: Time) -> _Starts:
    """Whole years, so that most queries share them."""
    zone = ZoneInfo(zone_key)
    begins_s, ends_s = (_floor_s(datetime(year, 1, 1, tzinfo=UTC)) for year in (first, last + 1))
    begin = OffsetChange(begins_s, _offset_at(zone, begins_s))
    end = OffsetChange(ends_s, _offset_at(zone, ends_s))
    return _Starts(list(_runs_of([begin, *_changes_between(zone, begins_s, ends_s), end], time)))


def offsets_around(zone: ZoneInfo, begins_s: int, ends_s: int) -> list[OffsetChange]:
    """What a clock shows from some days before a range until its end: the offset at first, then each change."""
    first_s = begins_s - AROUND_DAY // _SECOND
    return [OffsetChange(first_s, _offset_at(zone, first_s)), *_changes_between(zone, first_s, ends_s)]


def _runs_of(changes: list[OffsetChange], time: Time) -> Iterator[_Run]:
    """Every change begins an hour. It begins a day, week or month only if the clock has not shown any of it before."""
    if time is Time.BY_QUARTER_HOUR:
        yield from _runs_of_slots(changes)
        return
    unit = _UNITS[time]
    shown = unit.number_at(changes[0].at_s + changes[0].offset_s)
    for change, following in pairwise(changes):
        first = unit.number_at(change.at_s + change.offset_s)
        after = unit.number_at(following.at_s - 1 + change.offset_s) + 1
        if time is not Time.BY_HOUR:
            first, shown = max(first, shown), after
        yield _Run(change.at_s, change.offset_s, change.offset_s, unit, first, max(first, after))


def _runs_of_slots(changes: list[OffsetChange]) -> Iterator[_Run]:
    """Quarter hours are slots whatever the clock does: each has 15 minutes, and none is cut."""
    for change, following in pairwise(changes):
        first, after = (-(-at_s // SLOT_S) for at_s in (change.at_s, following.at_s))
        yield _Run(change.at_s, change.offset_s, 0, _SLOTS, first, after)


def _changes_between(zone: ZoneInfo, begins_s: int, ends_s: int) -> Iterable[OffsetChange]:
    first, last = (datetime.fromtimestamp(moment_s, UTC).year for moment_s in (begins_s, ends_s - 1))
    changes = (change for year in range(first, last + 1) for change in changes_of_year(zone.key, year))
    return (change for change in changes if begins_s < change.at_s < ends_s)


@lru_cache(maxsize=CACHED_YEARS)
def changes_of_year(zone_key: str, year: int) -> tuple[OffsetChange, ...]:
    """Python does not say when a clock changes, so we search between two moments with different offsets."""
    zone = ZoneInfo(zone_key)
    end_s = _floor_s(datetime(year + 1, 1, 1, tzinfo=UTC)) - 1
    probes = [*range(_floor_s(datetime(year, 1, 1, tzinfo=UTC)) - 1, end_s, PROBE_S), end_s]
    offsets = [_offset_at(zone, probe) for probe in probes]
    return tuple(
        OffsetChange(_find_change(zone, *between), offset)
        for between, (before, offset) in zip(pairwise(probes), pairwise(offsets), strict=True)
        if before != offset
    )


def _find_change(zone: ZoneInfo, before_s: int, after_s: int) -> int:
    """The first second of the new offset."""
    offset_s = _offset_at(zone, before_s)
    moments = range(before_s, after_s)
    return before_s + bisect_left(moments, True, key=lambda moment: _offset_at(zone, moment) != offset_s)


def _offset_at(zone: ZoneInfo, moment_s: int) -> int:
    offset = datetime.fromtimestamp(moment_s, zone).utcoffset()
    return offset // _SECOND if offset else 0


def _floor_s(at: datetime) -> int:
    return (at - _EPOCH) // _SECOND


def _ceil_s(at: datetime) -> int:
    return -((_EPOCH - at) // _SECOND)


_SLOTS = _Unit(SLOT_S)
_UNITS: dict[Time, _Unit | _Months] = {
    Time.BY_HOUR: _Unit(HOUR_S),
    Time.BY_DAY: _Unit(DAY_S),
    Time.BY_WEEK: _Unit(WEEK_S, ahead_s=HOURS_BEFORE_1970 * HOUR_S),
    Time.BY_MONTH: _Months(),
}
