"""All that a dashboard shows of a stream's period: a value, read with the queries of the data endpoint."""

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime

from onlooker.console.dashboard.period import Period
from onlooker.console.dashboard.points import Point, draw_points, sum_up
from onlooker.console.dashboard.week import Week, draw_week
from onlooker.database import Pool
from onlooker.metrics.absences import BucketCoverage, add_up
from onlooker.metrics.buckets import Buckets, all_hours, count_buckets, page_buckets
from onlooker.metrics.coverage import read_coverage, read_coverage_and_hours
from onlooker.metrics.definitions import METRICS, Value
from onlooker.metrics.query import Query, Time
from onlooker.metrics.running import count_between, run_query

COUNTS = ("passing_by", "interested")


@dataclass(frozen=True)
class Report:
    """A stream's period, and the one before it."""

    period: Period
    values: dict[str, Value]
    """By metric, as the data endpoint answers `time=global` for the same range."""
    before: dict[str, Value]
    watched: BucketCoverage
    watched_before: BucketCoverage
    points: tuple[Point, ...]
    week: Week
    exact: bool
    """False where visits were deleted after their time that a number would need."""


async def read_report(pool: Pool, stream_id: int, period: Period, *, now: datetime) -> Report:
    """All at once. Days of the chart are sums of hours, which lie inside them, so hours are read once for all."""
    whole = query_of(stream_id, period, Time.GLOBAL)
    before = replace(whole, from_at=period.before_from_at, to_at=period.before_to_at)
    by_hour = replace(whole, metrics=COUNTS, time=Time.BY_HOUR)
    hours, buckets = all_hours(whole), all_buckets(replace(whole, time=period.time))
    total, total_before, (counts, is_exact), (covered, covered_s), [watched_before] = await asyncio.gather(
        run_query(pool, whole),
        run_query(pool, before),
        count_between(pool, by_hour, hours.edges),
        read_coverage_and_hours(pool, by_hour, buckets, hours.edges_s, now=now),
        read_coverage(pool, before, all_buckets(before), now=now),
    )
    return Report(
        period=period,
        values=total.entities["global"],
        before=total_before.entities["global"],
        watched=add_up(covered),
        watched_before=watched_before,
        points=draw_points(buckets, covered, sum_up(counts, hours.edges, buckets)),
        week=draw_week(hours.of_week, counts["passing_by"], covered_s),
        exact=total.exact and is_exact,
    )


def query_of(stream_id: int, period: Period, time: Time) -> Query:
    """All metrics of the period."""
    return Query(stream_id, tuple(METRICS), period.from_at, period.to_at, period.zone, time)


def all_buckets(query: Query) -> Buckets:
    return page_buckets(query, first=0, count=count_buckets(query))
