"""Clocks of the world around the moments at which they jump; the edges of buckets, found tick by tick."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

MARGIN_S = 3 * 86_400
"""A day that begins before an era ends in it."""
CALENDAR_MARGIN_S = 34 * 86_400
"""So does a month."""


@dataclass(frozen=True)
class Era:
    """A stretch of time, its interesting moments, and a tick at which every edge of its hours and days lies."""

    begins: str
    ends: str
    zones: tuple[str, ...]
    moments: tuple[str, ...]
    tick_s: int = 900

    @property
    def begins_s(self) -> int:
        return unix_s(self.begins)

    @property
    def ends_s(self) -> int:
        return unix_s(self.ends)


WINTER = Era(
    "2025-10-20T00:00",
    "2026-04-10T00:00",
    zones=(
        "UTC",
        "Europe/Paris",
        "America/New_York",
        "America/Havana",  # goes back to midnight
        "Asia/Beirut",  # goes on at midnight
        "Asia/Kathmandu",
        "Africa/Casablanca",
        "Australia/Lord_Howe",  # half an hour of summer time
        "Pacific/Chatham",
        "Antarctica/Troll",  # two hours of summer time
    ),
    moments=(
        "2026-01-14T09:15",
        "2026-01-14T10:07:30",
        "2025-10-25T21:00",  # Beirut goes back
        "2025-10-26T01:00",  # so does Europe
        "2025-10-31T23:00",  # November comes to Paris
        "2025-11-01T00:00",
        "2025-11-02T05:00",  # Havana goes back
        "2025-11-02T06:00",  # so does New York
        "2025-12-31T18:15",  # the year comes to Kathmandu
        "2026-01-01T00:00",
        "2026-02-15T02:00",  # Casablanca goes back for Ramadan
        "2026-03-08T07:00",  # New York goes on
        "2026-03-22T02:00",  # so does Casablanca
        "2026-03-28T22:00",  # so does Beirut
        "2026-03-29T01:00",  # so does Europe
        "2026-04-04T14:00",  # Chatham goes back
        "2026-04-04T15:00",  # so does Lord Howe
    ),
)
SKIPPED_DAY = Era(
    "2011-12-28T00:00", "2012-01-03T00:00", ("Pacific/Apia", "UTC"), ("2011-12-30T10:00", "2012-01-01T00:00")
)
BACK_OVER_MIDNIGHT = Era(
    "2010-11-05T00:00", "2010-11-10T00:00", ("America/St_Johns", "UTC"), ("2010-11-07T02:30", "2010-11-07T02:31"), 60
)
OFF_BY_SECONDS = Era(
    "1972-01-04T00:00", "1972-01-10T00:00", ("Africa/Monrovia", "UTC"), ("1972-01-07T00:44:30", "1972-01-06T00:44"), 30
)
ERAS = (WINTER, SKIPPED_DAY, BACK_OVER_MIDNIGHT, OFF_BY_SECONDS)


def unix_s(moment: str) -> int:
    return int(datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp())


def months_of(era: Era) -> set[date]:
    days = range(era.begins_s - MARGIN_S, era.ends_s + MARGIN_S, 86_400)
    return {datetime.fromtimestamp(day, UTC).date().replace(day=1) for day in days}


@lru_cache(maxsize=64)
def hour_edges(era: Era, zone: str) -> tuple[int, ...]:
    """Where the clock reads a whole hour, and where its offset changes; unix time."""
    edges, offset = [], None
    for tick, local in _ticks(era, zone):
        jumped = offset is not None and local.utcoffset() != offset
        offset = local.utcoffset()
        if jumped or (local.minute, local.second) == (0, 0):
            edges.append(tick)
    return tuple(edges)


def day_edges(era: Era, zone: str) -> tuple[int, ...]:
    """The first tick of every date that the clock shows."""
    return _calendar_edges(era, zone, _day_of, MARGIN_S)


def week_edges(era: Era, zone: str) -> tuple[int, ...]:
    """The first tick of every ISO week."""
    return _calendar_edges(era, zone, _week_of, CALENDAR_MARGIN_S)


def month_edges(era: Era, zone: str) -> tuple[int, ...]:
    return _calendar_edges(era, zone, _month_of, CALENDAR_MARGIN_S)


def quarter_hour_edges(era: Era, zone: str) -> tuple[int, ...]:
    """Every clock has the same ones: 15 minutes of UTC."""
    return tuple(tick for tick, _ in _ticks(era, zone) if tick % 900 == 0)


EDGES: dict[str, Callable[[Era, str], tuple[int, ...]]] = {
    "by_quarter_hour": quarter_hour_edges,
    "by_hour": hour_edges,
    "by_day": day_edges,
    "by_week": week_edges,
    "by_month": month_edges,
}


def _day_of(day: date) -> object:
    return day


def _week_of(day: date) -> object:
    return day.isocalendar()[:2]


def _month_of(day: date) -> object:
    return day.year, day.month


@lru_cache(maxsize=256)
def _calendar_edges(era: Era, zone: str, name_of: Callable[[date], object], margin_s: int) -> tuple[int, ...]:
    """The first tick of everything that has a name of its own on the calendar."""
    edges, latest = [], date.min
    for tick, local in _ticks(era, zone, margin_s):
        if local.date() > latest:
            if latest == date.min or name_of(local.date()) != name_of(latest):
                edges.append(tick)
            latest = local.date()
    return tuple(edges[1:])


def _ticks(era: Era, zone: str, margin_s: int = MARGIN_S) -> Iterator[tuple[int, datetime]]:
    clock = ZoneInfo(zone)
    for tick in range(era.begins_s - margin_s, era.ends_s + margin_s, era.tick_s):
        yield tick, datetime.fromtimestamp(tick, clock)


def moment_at(at_us: int, zone: str = "UTC") -> datetime:
    """Exact to the microsecond, which `fromtimestamp` is not."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at_us)).astimezone(ZoneInfo(zone))
