"""All that a dashboard shows of a stream's period, as values: read with the queries of the data endpoint."""

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext

from onlooker.console.bucket_numbers import BucketReader, open_reader
from onlooker.console.dashboard.period import Period
from onlooker.console.languages.locale_text import join_clauses, write_count, write_percent
from onlooker.database import Pool
from onlooker.metrics.buckets import HOURS_A_WEEK, Buckets, all_hours, count_buckets, page_buckets
from onlooker.metrics.changes import sum_figures
from onlooker.metrics.comparison import Comparison, read_comparison
from onlooker.metrics.coverage import Absence, BucketCoverage, sum_coverage
from onlooker.metrics.definitions import METRICS, Unit, Value
from onlooker.metrics.device_share import DeviceShare, read_device_share
from onlooker.metrics.like_time import TimeRange
from onlooker.metrics.quality import BucketQuality, QualityChange, read_quality_and_changes
from onlooker.metrics.query import Query, Time

COUNTS = ("passing_by", "interested")
COMPARED = tuple(name for name, metric in METRICS.items() if metric.unit is not Unit.PARTS)
GAP_BELOW = 0.01
"""With a smaller share watched, nobody seen is a gap rather than a zero."""
JUDGED_FROM_S = 60.0
"""A bucket that has only just begun is no gap: its coverage is not written yet."""
WATCHED_FROM_S = 1800.0
"""Hours watched for less are left out of the week: one person in one minute would count as sixty an hour."""
ALL_ON_DEVICE = 0.99
"""A slot that a range cuts counts whole, so shares are rough."""
LATE_S = 3600.0
"""What arrives sooner is no news: a device collects for a while before it sends."""

NOTHING_WATCHED = {
    Absence.NOT_CREATED: _lazy("The stream did not exist for most of this time."),
    Absence.OFFLINE: _lazy("The camera sent nothing."),
    Absence.DISABLED: _lazy("The stream was disabled."),
    Absence.QUOTA: _lazy("The stream had reached its monthly limit."),
    Absence.REFUSED: _lazy("The frames that the camera sent were refused."),
    Absence.BLACK: _lazy("The camera's picture was black."),
    Absence.COVERED: _lazy("The camera's lens was covered."),
    Absence.DARK: _lazy("It was too dark for the camera."),
    Absence.OVEREXPOSED: _lazy("The camera's picture was overexposed."),
    Absence.BLURRED: _lazy("The camera's picture was blurred."),
    Absence.FROZEN: _lazy("The camera's picture was frozen."),
    Absence.MOVED: _lazy("The camera was being moved."),
    Absence.UNKNOWN: _lazy("The reason is no longer known."),
    Absence.CLOSED: _lazy("The stream was closed."),
}
"""Why nothing was watched, as sentences."""

Week = tuple[tuple[float | None, ...], ...]
"""From Monday, 24 hours each: people passing by per watched hour; None where no hour was watched."""


@dataclass(frozen=True)
class Point:
    """A bucket of the time chart, such as an hour or a day."""

    key: str
    """The bucket's start, as the data endpoint writes it."""
    from_at: datetime
    """The bucket's own start and end, in UTC; they may lie outside the period."""
    to_at: datetime
    passing_by: int | None
    """None where the camera did not watch and nobody was seen: a gap, not a zero."""
    interested: int | None
    watched: BucketCoverage
    share: float | None
    """How much of it was watched; see `watched_share`."""
    gap: Absence | None
    changes: tuple[QualityChange, ...]
    """Numbers before and after may differ for these reasons alone."""
    notes: tuple[str, ...] = ()
    """What people noted of its days; see `console.notes.marks`."""


@dataclass(frozen=True)
class Totals:
    """The numbers of a stream's period, and how they differ from those of the one it is compared with."""

    period: Period
    values: dict[str, Value]
    """By metric, as the data endpoint answers `time=global` for the same range."""
    comparison: Comparison
    watched: BucketCoverage
    watched_before: BucketCoverage
    exact: bool
    """False where visits that a number needs were deleted when their retention ended, and on the grid."""

    share: float | None = field(init=False)
    """How much of the period was watched; see `watched_share`."""
    share_before: float | None = field(init=False)
    is_watched: bool = field(init=False)
    """Whether its zeros mean that nobody came."""
    is_before_stream: bool = field(init=False)
    """Whether it ends before the stream was created, and no older recording was sent later."""
    told: int = field(init=False)
    """How many interested people its means are of: the others are in no block yet."""

    def __post_init__(self) -> None:
        is_watched = any(self.values[name]["value"] for name in COUNTS) or not find_gap(self.watched)
        found = {
            "share": watched_share(self.watched),
            "share_before": watched_share(self.watched_before),
            "is_watched": is_watched,
            "is_before_stream": not is_watched and set(self.watched.missing) == {Absence.NOT_CREATED},
            "told": sum_figures(self.comparison.clusters["stop_time"])[-1],
        }
        for name, value in found.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Report(Totals):
    """All of a period that a dashboard shows: its totals, and what is drawn of it."""

    points: tuple[Point, ...]
    week: Week
    quality: BucketQuality
    computed: str = ""
    """Where, if not on the server."""
    in_hours: bool = False
    """Whether only visits that began in opening hours count, and only what was watched in them."""


async def read_report(
    pool: Pool, stream_id: int, period: Period, *, now: datetime, grid: bool = False, in_hours: bool = False
) -> Report:
    """Run all queries at once. Longer buckets are sums of hours, so hours are read once for chart and week."""
    whole = make_query(stream_id, period, Time.GLOBAL, grid=grid)
    by_hour = replace(whole, metrics=COUNTS, time=Time.BY_HOUR)
    hours, buckets = all_hours(whole), all_buckets(replace(whole, time=period.time))
    reader = await open_reader(pool, whole, now=now, in_hours=in_hours)
    reading_quality = read_quality_and_changes(pool, whole, all_buckets(whole), now=now)
    (
        (values, values_exact),
        (comparison, watched_before),
        ((counts, is_exact), drawn),
        (covered, covered_s),
        (([quality], changes), device),
    ) = await asyncio.gather(
        reader.read_values(whole),
        _read_comparison(reader, whole, period),
        asyncio.gather(
            reader.read_counts(by_hour, hours.edges_s),
            _count_quarter_hours(reader, replace(by_hour, time=period.time), buckets),
        ),
        asyncio.gather(reader.read_coverage(whole, buckets), reader.read_covered_s(by_hour, hours.edges_s)),
        asyncio.gather(reading_quality, read_device_share(pool, whole)),
    )
    watched = sum_coverage(covered)
    return Report(
        period=period,
        values=values,
        comparison=comparison,
        watched=watched,
        watched_before=watched_before,
        exact=values_exact and is_exact,
        points=draw_points(buckets, covered, drawn or sum_hours(counts, hours.edges_s, buckets), changes),
        week=draw_week(hours.of_week, counts["passing_by"], covered_s),
        quality=quality,
        computed="" if in_hours else describe_device(device, watched.covered_s),
        in_hours=in_hours,
    )


async def read_totals(
    pool: Pool, stream_id: int, period: Period, *, now: datetime, grid: bool = False, in_hours: bool = False
) -> Totals:
    """Those of the report alone."""
    whole = make_query(stream_id, period, Time.GLOBAL, grid=grid)
    reader = await open_reader(pool, whole, now=now, in_hours=in_hours)
    (values, exact), (comparison, watched_before), [watched] = await asyncio.gather(
        reader.read_values(whole),
        _read_comparison(reader, whole, period),
        reader.read_coverage(whole, all_buckets(whole)),
    )
    return Totals(period, values, comparison, watched, watched_before, exact)


async def read_points(
    pool: Pool, stream_id: int, period: Period, *, now: datetime, grid: bool = False, in_hours: bool = False
) -> tuple[Point, ...]:
    """Those of the report alone."""
    whole = make_query(stream_id, period, Time.GLOBAL, grid=grid)
    query = replace(whole, metrics=COUNTS, time=period.time)
    buckets = all_buckets(query)
    reader = await open_reader(pool, whole, now=now, in_hours=in_hours)
    (counts, _exact), covered, (_quality, changes) = await asyncio.gather(
        reader.read_counts(query, buckets.edges_s),
        reader.read_coverage(whole, buckets),
        read_quality_and_changes(pool, whole, all_buckets(whole), now=now),
    )
    return draw_points(buckets, covered, counts, changes)


async def _read_comparison(reader: BucketReader, whole: Query, period: Period) -> tuple[Comparison, BucketCoverage]:
    """And what was watched of the earlier period."""
    in_hours = reader.closed is not None
    before = TimeRange(period.before_from_at, period.before_to_at)
    whole_before = replace(whole, from_at=before.from_at, to_at=before.to_at)
    reader_before = await open_reader(reader.pool, whole_before, now=reader.now, in_hours=in_hours)
    compared = replace(whole, metrics=COMPARED)
    comparison, [watched_before] = await asyncio.gather(
        read_comparison(reader.pool, compared, before, now=reader.now, in_hours=in_hours),
        reader_before.read_coverage(whole_before, all_buckets(whole_before)),
    )
    return comparison, watched_before


async def _count_quarter_hours(reader: BucketReader, query: Query, buckets: Buckets) -> dict[str, list[int]]:
    """Which hours do not tell; nothing where longer buckets are drawn."""
    if query.time is not Time.BY_QUARTER_HOUR:
        return {}
    return (await reader.read_counts(query, buckets.edges_s))[0]


def without_interest(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """Of a stream that only counts: nobody knows who was interested, unless faces were read before."""
    if any(point.interested for point in points):
        return points
    return tuple(replace(point, interested=None) for point in points)


def describe_device(device: DeviceShare, covered_s: float) -> str:
    """Such as `Computed on the device; part of it arrived up to 3 days later`."""
    if device.watched_s < 1 or not covered_s:
        return ""
    share = min(1.0, device.watched_s / covered_s)
    computed = _("Computed on the device")
    if share < ALL_ON_DEVICE:
        computed = _("{share} computed on the device").format(share=write_percent(share, 0))
    return join_clauses((computed, _describe_lateness(device.late_s))) if device.late_s >= LATE_S else computed


def _describe_lateness(late_s: float) -> str:
    hours = round(late_s / 3600)
    if hours < 48:
        said = ngettext(
            "part of it arrived up to {hours} hour later", "part of it arrived up to {hours} hours later", hours
        )
        return said.format(hours=hours)
    days = round(hours / 24)
    said = ngettext("part of it arrived up to {days} day later", "part of it arrived up to {days} days later", days)
    return said.format(days=write_count(days))


def make_query(
    stream_id: int, period: Period, time: Time, *, metrics: tuple[str, ...] = tuple(METRICS), grid: bool = False
) -> Query:
    """Of the period, all metrics or some."""
    query = Query(stream_id, metrics, period.from_at, period.to_at, period.zone, time)
    return query.on_grid() if grid else query


def all_buckets(query: Query) -> Buckets:
    return page_buckets(query, first=0, count=count_buckets(query))


def watched_share(watched: BucketCoverage) -> float | None:
    """None where it is no longer known, or where none of the time has passed yet or all of it was closed."""
    return watched.watched.share


def find_gap(watched: BucketCoverage) -> Absence | None:
    """Why a time in which nobody was seen is no zero; None where it is one, or where the reason is unknown."""
    if not watched.covered_s and set(watched.missing) == {Absence.NOT_CREATED}:
        return Absence.NOT_CREATED
    if watched.length_s < JUDGED_FROM_S or watched.covered_s >= GAP_BELOW * max(watched.open_s, JUDGED_FROM_S):
        return None
    missing = {absence: lost_s for absence, lost_s in watched.missing.items() if absence is not Absence.CLOSED}
    if watched.open_s < JUDGED_FROM_S or not missing:
        return Absence.CLOSED if Absence.CLOSED in watched.missing else None
    main = max(missing, key=lambda absence: missing[absence])
    return None if main is Absence.UNKNOWN else main


def sum_hours(counts: Mapping[str, list[int]], hours_s: Sequence[int], buckets: Buckets) -> dict[str, list[int]]:
    """The buckets' counts, from the counts of hours given by their edges. Buckets may reach beyond the hours."""
    cuts = [0, *(bisect_left(hours_s, edge_s) for edge_s in buckets.edges_s[1:-1]), len(hours_s) - 1]
    return {name: [sum(values[first:after]) for first, after in pairwise(cuts)] for name, values in counts.items()}


def draw_points(
    buckets: Buckets,
    covered: tuple[BucketCoverage, ...],
    counts: Mapping[str, list[int]],
    changes: Sequence[QualityChange] = (),
) -> tuple[Point, ...]:
    people = zip(counts["passing_by"], counts["interested"], strict=True)
    changed: list[tuple[QualityChange, ...]] = [()] * len(buckets.keys)
    for change in changes:
        place = max(bisect_right(buckets.edges, change.at) - 1, 0)  # a range may begin inside a slot
        changed[place] += (change,)
    given = zip(buckets.keys, pairwise(buckets.edges), covered, people, changed, strict=True)
    return tuple(_make_point(*one) for one in given)


def _make_point(
    key: str,
    edges: tuple[datetime, datetime],
    watched: BucketCoverage,
    people: tuple[int, int],
    changes: tuple[QualityChange, ...],
) -> Point:
    gap = None if any(people) else find_gap(watched)
    passing_by, interested = (None, None) if gap else people
    return Point(key, *edges, passing_by, interested, watched, watched_share(watched), gap, changes)


def draw_week(of_week: Sequence[int], passing_by: Sequence[int], covered_s: Sequence[float]) -> Week:
    """People per watched hour, over all hours of the period that were watched for at least 30 minutes.

    An hour that was watched for 45 minutes, or that the period cuts, has the weight of what was watched of it. Hours
    whose coverage is no longer known are left out.
    """
    people, watched_s = [0] * HOURS_A_WEEK, [0.0] * HOURS_A_WEEK
    for hour, count, seen_s in zip(of_week, passing_by, covered_s, strict=True):
        if seen_s >= WATCHED_FROM_S:
            people[hour] += count
            watched_s[hour] += seen_s
    means = [3600 * count / lasted_s if lasted_s else None for count, lasted_s in zip(people, watched_s, strict=True)]
    return tuple(tuple(means[first : first + 24]) for first in range(0, HOURS_A_WEEK, 24))
