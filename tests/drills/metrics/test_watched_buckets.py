"""Buckets of local time, against a clock that somebody looks at all the time."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from onlooker.metrics.buckets import Buckets, count_buckets, page_buckets
from onlooker.metrics.query import Query, Time

ZONES = (
    *("Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Casablanca", "Pacific/Apia"),
    *("America/St_Johns", "Asia/Beirut", "America/Sao_Paulo", "Africa/Monrovia", "Pacific/Chatham", "Antarctica/Troll"),
    *("UTC", "Etc/GMT+5", "Asia/Gaza", "America/Boa_Vista", "Pacific/Kwajalein"),
)
DAY_S = 86_400
FIRST_S = int(datetime(1970, 1, 1, tzinfo=UTC).timestamp())
LAST_S = int(datetime(2099, 12, 31, tzinfo=UTC).timestamp())
BY_CLOCK = st.sampled_from([time for time in Time if time is not Time.GLOBAL])
AROUND_DAYS = {Time.BY_WEEK: 9, Time.BY_MONTH: 33}
"""From so long before a range on, its first bucket is seen to begin."""


def ask(zone: str, from_at: datetime | str, to_at: datetime | str, *, by: Time) -> Query:
    """Dates without an offset are local."""
    place = ZoneInfo(zone)
    moments = [datetime.fromisoformat(at) if isinstance(at, str) else at for at in (from_at, to_at)]
    local = [at.astimezone(place) if at.tzinfo else at.replace(tzinfo=place) for at in moments]
    return Query(1, ("interested",), local[0], local[1], place, by)


def all_of(query: Query) -> Buckets:
    return page_buckets(query, first=0, count=count_buckets(query))


def moment(at_s: int) -> datetime:
    return datetime.fromtimestamp(at_s, UTC)


def bucket_shown(clock: datetime, *, by: Time) -> object:
    """What of a clock and its calendar stays the same for all of a day, week or month."""
    if by is Time.BY_WEEK:
        return clock.isocalendar()[:2]
    return (clock.year, clock.month) if by is Time.BY_MONTH else clock.date()


def tick(zone: ZoneInfo, from_s: int, to_s: int, *, by: Time) -> Iterator[int]:
    """The moments in between at which a bucket begins: anyone who watches the clock sees them."""
    shown: set[object] = set()
    offset = None
    for at_s in range(from_s, to_s, 30 if zone.key == "Africa/Monrovia" else 60):
        clock = datetime.fromtimestamp(at_s, zone)
        turned = (clock.minute, clock.second) == (0, 0) or clock.utcoffset() != offset
        if by is Time.BY_QUARTER_HOUR:
            turned = at_s % 900 == 0
        elif by is not Time.BY_HOUR:
            turned = bucket_shown(clock, by=by) not in shown
            shown.add(bucket_shown(clock, by=by))
        if turned:
            yield at_s
        offset = clock.utcoffset()


def watched_edges(query: Query) -> list[datetime]:
    """Looked at from some days before the range on, so that the dates of its first days are known as new."""
    from_s, to_s = (int(at.timestamp()) // 60 * 60 for at in (query.from_at, query.to_at))
    around_s = AROUND_DAYS.get(query.time, 3) * DAY_S
    edges = [moment(at_s) for at_s in tick(query.zone, from_s - around_s, to_s + around_s, by=query.time)]
    first = max(number for number, edge in enumerate(edges) if edge <= query.from_at)
    last = min(number for number, edge in enumerate(edges) if edge >= query.to_at)
    return edges[first : last + 1]


@cache
def days_of_change(zone: str) -> list[int]:
    """The beginnings of the days at whose end the clock has another offset."""
    days = range(FIRST_S, LAST_S, DAY_S)
    offsets = [datetime.fromtimestamp(day, ZoneInfo(zone)).utcoffset() for day in days]
    return [day for day, (before, after) in zip(days, pairwise(offsets), strict=False) if before != after]


@st.composite
def short_ranges(draw: st.DrawFn) -> Query:
    """Up to two days, mostly where a clock changes."""
    zone = draw(st.sampled_from(ZONES))
    days = st.sampled_from([*days_of_change(zone), FIRST_S, LAST_S])
    from_s = draw(st.one_of(days, st.integers(FIRST_S, LAST_S))) + draw(st.integers(-DAY_S, DAY_S))
    from_at = moment(from_s) + timedelta(microseconds=draw(st.sampled_from([0, 0, 1, 999_999])))
    lasts = timedelta(seconds=draw(st.integers(0, 2 * DAY_S)), microseconds=draw(st.sampled_from([1, 500_000])))
    return ask(zone, from_at, from_at + lasts, by=draw(BY_CLOCK))


@settings(max_examples=15, deadline=None)
@given(short_ranges())
def test_buckets_begin_where_the_clock_says(query: Query) -> None:
    found, expected = all_of(query), watched_edges(query)
    assert list(found.edges) == expected
    assert count_buckets(query) == len(expected) - 1
    assert list(found.keys) == [edge.astimezone(query.zone).isoformat(timespec="seconds") for edge in expected[:-1]]
    assert all(edge.tzinfo is UTC for edge in found.edges)
