"""The lines of the time chart: a metric bucket by bucket, read with the statements of the data endpoint."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from onlooker.console.bucket_numbers import open_reader
from onlooker.console.dashboard.figures import COUNTED, OF_FACES
from onlooker.console.dashboard.period import Period
from onlooker.console.dashboard.report import COUNTS, all_buckets, find_gap, make_query
from onlooker.console.time_chart.choice import ChartChoice
from onlooker.console.time_chart.ghost import Ghost, align_buckets, ghost_buckets
from onlooker.database import Pool
from onlooker.metrics.buckets import Buckets
from onlooker.metrics.changes import FEWEST_PEOPLE
from onlooker.metrics.coverage import BucketCoverage
from onlooker.metrics.definitions import METRICS, Figures, Number
from onlooker.metrics.query import Query
from onlooker.streams.models import Stream


@dataclass(frozen=True)
class MetricSeries:
    """A metric bucket by bucket."""

    metric: str
    values: tuple[Number, ...]
    """None where there is no number: not watched, no such hour, or of too few people."""
    is_few: tuple[bool, ...]
    """Whether a mean or a share is not told because it would be of fewer than 10 people."""
    exact: bool = True


@dataclass(frozen=True)
class ChartLines:
    """All that the time chart shows besides people passing by and interested."""

    ahead: Buckets
    """The rest of today: nothing is known of it, but the axis and the ghost reach as far."""
    main: MetricSeries | None = None
    beside: MetricSeries | None = None
    ghost: MetricSeries | None = None

    @property
    def exact(self) -> bool:
        return all(one.exact for one in (self.main, self.beside, self.ghost) if one)


@dataclass(frozen=True)
class ChartSource:
    """What is read, and of which streams."""

    stream: Stream
    period: Period
    choice: ChartChoice
    ghost: Ghost | None
    other: Stream | None
    """The stream beside it."""
    now: datetime


async def read_lines(pool: Pool, source: ChartSource) -> ChartLines:
    """Reads what is shown, and nothing otherwise."""
    choice, stream = source.choice, source.stream
    query = make_query(stream.pk, source.period, source.period.time, grid=stream.grid)
    buckets, ahead = all_buckets(query), find_ahead(query, source.period)
    reader = _SeriesReader(pool, source.now, choice.in_hours)
    main, beside, ghost = await asyncio.gather(
        reader.read(stream, query, choice.metric, buckets),
        reader.read(source.other or stream, query, choice.main if source.other else choice.beside, buckets),
        _read_ghost(reader, source, query, (buckets, ahead)),
    )
    return ChartLines(ahead, main, beside, ghost)


def find_ahead(query: Query, period: Period) -> Buckets:
    """The buckets of today that have not begun; of other periods none."""
    begun = all_buckets(query)
    if period.name != "today":
        return Buckets((), begun.edges_s[-1:])
    ends_at = period.ends.replace(tzinfo=period.zone).astimezone(UTC)
    whole = all_buckets(replace(query, to_at=max(query.to_at, ends_at)))
    first = len(begun.keys)
    return Buckets(whole.keys[first:], whole.edges_s[first:])


async def _read_ghost(
    reader: "_SeriesReader", source: ChartSource, query: Query, drawn: tuple[Buckets, Buckets]
) -> MetricSeries | None:
    ghost = source.ghost
    if ghost is None:
        return None
    buckets, ahead = drawn
    keys, edges = (*buckets.keys, *ahead.keys), (*buckets.edges, *ahead.edges[1:])
    own = ghost_buckets(query, ghost, keys, edges)
    earlier = replace(query, from_at=ghost.from_at, to_at=ghost.to_at)
    found = await reader.read(source.stream, earlier, source.choice.main, own)
    assert found
    places = align_buckets(keys, own.keys, ghost, query.time)
    return replace(
        found,
        values=tuple(None if place is None else found.values[place] for place in places),
        is_few=tuple(place is not None and found.is_few[place] for place in places),
    )


@dataclass(frozen=True)
class _SeriesReader:
    pool: Pool
    now: datetime
    in_hours: bool

    async def read(self, stream: Stream, query: Query, metric: str, buckets: Buckets) -> MetricSeries | None:
        """Counts tell where a gap is, so they are read with every metric. None where no metric is asked for.

        Another stream's buckets are those of this one's clock: they are the same moments.
        """
        if not metric:
            return None
        wanted = tuple(dict.fromkeys((*COUNTS, *((metric,) if metric in METRICS else ()))))
        query = replace(query, stream_id=stream.pk, metrics=wanted)
        query = query.on_grid() if stream.grid else query
        reader = await open_reader(self.pool, query, now=self.now, in_hours=self.in_hours)
        (figures, exact), covered = await asyncio.gather(
            reader.read_figures(query, buckets.edges_s), reader.read_coverage(query, buckets)
        )
        return replace(shape_series(metric, figures, covered, reads_faces=stream.reads_faces), exact=exact)


def shape_series(
    metric: str, figures: dict[str, list[Figures]], covered: Sequence[BucketCoverage], *, reads_faces: bool = True
) -> MetricSeries:
    """A time in which nobody was watched for is no zero, and a mean of few people is not told."""
    passing_by, interested = ([row[0] for row in figures[name]] for name in COUNTS)
    if not reads_faces and metric in OF_FACES and not any(interested):
        return MetricSeries(metric, (None,) * len(covered), (False,) * len(covered))
    is_gap = [
        not any(people) and find_gap(watched) is not None
        for *people, watched in zip(passing_by, interested, covered, strict=True)
    ]
    if metric == "conversion":
        people, numbers = passing_by, list(map(_divide, interested, passing_by))
    else:
        people, numbers = [row[-1] for row in figures[metric]], _shape_values(metric, figures[metric])
    is_few = [
        metric not in COUNTED and not gap and count < FEWEST_PEOPLE for gap, count in zip(is_gap, people, strict=True)
    ]
    hidden = zip(numbers, is_gap, is_few, strict=True)
    return MetricSeries(metric, tuple(None if gap or few else value for value, gap, few in hidden), tuple(is_few))


def _shape_values(metric: str, rows: Sequence[Figures]) -> list[Number]:
    shape = METRICS[metric].shape
    return [shape(row)["value"] for row in rows]


def _divide(count: int, total: int) -> float | None:
    return count / total if total else None
