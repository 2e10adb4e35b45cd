"""What the overview shows of a stream: its last days one by one, and its numbers against those of the days before."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from onlooker.console.dashboard.figures import Figure, make_figure, number_of
from onlooker.console.dashboard.period import Period, parse_period
from onlooker.console.dashboard.points import gap_of
from onlooker.console.dashboard.report import COUNTS, all_buckets
from onlooker.console.dashboard.words import say_gap
from onlooker.database import Pool
from onlooker.metrics.absences import BucketCoverage
from onlooker.metrics.coverage import read_coverage
from onlooker.metrics.definitions import Number, Value
from onlooker.metrics.query import Query, Time
from onlooker.metrics.running import run_query
from onlooker.streams.models import Stream

PERIOD = "7d"
AT_A_TIME = 6
"""Streams that are asked for at once: fewer than connections, so that other pages find one, too."""
METRICS = ("passing_by", "interested", "conversion")


@dataclass(frozen=True)
class Day:
    """A local day, as far as it lies in the period."""

    begins_at: datetime
    passing_by: int
    gap: str
    """Why that nobody was seen says nothing; empty where it does not matter."""


@dataclass(frozen=True)
class Glance:
    """A stream's last days."""

    period: Period
    days: tuple[Day, ...]
    numbers: dict[str, Number]
    """By metric; conversion is None where nobody passed by."""
    before: dict[str, Number]

    @property
    def is_watched(self) -> bool:
        """Whether its numbers say anything."""
        return any(not day.gap for day in self.days)

    @property
    def figures(self) -> list[Figure]:
        is_comparable = bool(self.before["passing_by"])
        return [make_figure(name, self.numbers[name], self.before[name] if is_comparable else None) for name in METRICS]


async def read_glances(pool: Pool, streams: Iterable[Stream], *, now: datetime) -> dict[int, Glance]:
    """By the streams' numbers, each asked for by itself: no query goes over several streams."""
    places = asyncio.Semaphore(AT_A_TIME)

    async def read(stream: Stream) -> tuple[int, Glance]:
        async with places:
            return stream.id, await read_glance(pool, stream, now=now)

    return dict(await asyncio.gather(*map(read, streams)))


async def read_glance(pool: Pool, stream: Stream, *, now: datetime) -> Glance:
    period = parse_period({"period": PERIOD}, zone=ZoneInfo(stream.time_zone), now=now)
    by_day = Query(stream.id, COUNTS, period.from_at, period.to_at, period.zone, Time.BY_DAY)
    before = replace(by_day, from_at=period.before_from_at, to_at=period.before_to_at, time=Time.GLOBAL)
    found = (await run_query(pool, by_day)).entities
    counts: dict[str, Value] = {
        name: {"value": sum(day[name]["value"] or 0 for day in found.values())} for name in COUNTS
    }
    return Glance(
        period=period,
        days=await _read_days(pool, by_day, found, now=now),
        numbers=_numbers(counts),
        before=_numbers((await run_query(pool, before)).entities["global"]),
    )


def _numbers(counts: dict[str, Value]) -> dict[str, Number]:
    return {name: number_of(name, counts) for name in METRICS}


async def _read_days(pool: Pool, query: Query, found: dict[str, dict[str, Value]], *, now: datetime) -> tuple[Day, ...]:
    """A day with people is no gap, so coverage is read where there is one without."""
    passing_by = [int(day["passing_by"]["value"] or 0) for day in found.values()]
    gaps = [""] * len(passing_by)
    if not all(passing_by):
        covered = await read_coverage(pool, query, all_buckets(query), now=now)
        gaps = ["" if people else _say_gap(one) for people, one in zip(passing_by, covered, strict=True)]
    begins = map(datetime.fromisoformat, found)
    return tuple(Day(*values) for values in zip(begins, passing_by, gaps, strict=True))


def _say_gap(covered: BucketCoverage) -> str:
    return say_gap(covered) if gap_of(covered) else ""
