"""Numbers of a stream's buckets, of all hours or of its opening hours alone.

A visit counts in the bucket in which it begins. So buckets are cut where the stream opens and closes, and of the parts
the open ones are added up: the numbers of open and of closed hours together are those of all hours.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import compress
from typing import Any

from onlooker.database import Pool
from onlooker.metrics.buckets import Buckets
from onlooker.metrics.changes import sum_figures
from onlooker.metrics.coverage import (
    Absence,
    BucketCoverage,
    Closure,
    read_closed_time,
    read_coverage,
    read_covered,
    sum_coverage,
)
from onlooker.metrics.definitions import METRICS, Figures, Value
from onlooker.metrics.execution import Answer, count_between, figures_between, run_query
from onlooker.metrics.hour_sums import past_buckets
from onlooker.metrics.query import Query


@dataclass(frozen=True)
class CutBuckets:
    """Buckets cut where a stream opens and closes. Pure."""

    edges_s: tuple[float, ...]
    """Of the parts."""
    places: tuple[int, ...]
    """The bucket that each part is of, counted from 0."""
    is_open: tuple[bool, ...]

    def add_up(self, parts: Sequence[Any], *, nothing: Any) -> list[Any]:
        """Of each bucket, what its open parts come to."""
        found = [nothing] * (self.places[-1] + 1)
        for place, part in compress(zip(self.places, parts, strict=True), self.is_open):
            found[place] += part
        return found


def cut_buckets(edges_s: Sequence[float], closed: Sequence[Closure]) -> CutBuckets:
    """`closed` is in order, and apart."""
    if not closed:
        count = len(edges_s) - 1
        return CutBuckets(tuple(edges_s), tuple(range(count)), (True,) * count)
    begins_s, ends_s = ([end.timestamp() for end in ends] for ends in _ends_of(closed))
    inside = {cut_s for cut_s in (*begins_s, *ends_s) if edges_s[0] < cut_s < edges_s[-1]}
    cuts_s = sorted({*edges_s, *inside})
    last_closed = [bisect_right(begins_s, cut_s) - 1 for cut_s in cuts_s[:-1]]
    return CutBuckets(
        tuple(cuts_s),
        tuple(bisect_right(edges_s, cut_s) - 1 for cut_s in cuts_s[:-1]),
        tuple(at < 0 or ends_s[at] <= cut_s for at, cut_s in zip(last_closed, cuts_s[:-1], strict=True)),
    )


def _ends_of(closed: Sequence[Closure]) -> tuple[list[datetime], list[datetime]]:
    return [one.from_at for one in closed], [one.to_at for one in closed]


@dataclass(frozen=True)
class BucketReader:
    """Reads the numbers of a query's stream and range."""

    pool: Pool
    now: datetime
    closed: Sequence[Closure] | None = None
    """What is left out; None: nothing, as all hours are read."""

    async def read_values(self, whole: Query) -> tuple[dict[str, Value], bool]:
        """All metrics of the range, and whether they are exact."""
        if self.closed is None:
            answer = await run_query(self.pool, whole)
            return answer.entities["global"], answer.exact
        found, exact = await self.read_figures(whole, (whole.from_at.timestamp(), whole.to_at.timestamp()))
        return {name: METRICS[name].shape(figures) for name, [figures] in found.items()}, exact

    async def read_answer(self, query: Query, buckets: Buckets) -> Answer:
        """All metrics of all buckets, on one page."""
        size = len(buckets.keys)
        if self.closed is None:
            return await run_query(self.pool, query, size=size)
        found, exact = await self.read_figures(query, buckets.edges_s)
        entities = {
            key: {name: METRICS[name].shape(figures[place]) for name, figures in found.items()}
            for place, key in enumerate(buckets.keys)
        }
        return Answer(query, 1, size, 1, entities, exact)

    async def read_counts(self, query: Query, edges_s: Sequence[float]) -> tuple[dict[str, list[int]], bool]:
        """Of metrics that are plain counts."""
        if self.closed is None:
            return await count_between(self.pool, query, edges_s)
        cut = cut_buckets(edges_s, self.closed)
        counts, exact = await count_between(self.pool, query, cut.edges_s)
        return {name: cut.add_up(parts, nothing=0) for name, parts in counts.items()}, exact

    async def read_figures(self, query: Query, edges_s: Sequence[float]) -> tuple[dict[str, list[Figures]], bool]:
        """What the metrics are computed from."""
        cut = cut_buckets(edges_s, self.closed or ())
        found, exact = await figures_between(self.pool, query, cut.edges_s, with_blocks=True)
        return {name: _add_up_figures(cut, parts) for name, parts in found.items()}, exact

    async def read_coverage(self, query: Query, buckets: Buckets) -> tuple[BucketCoverage, ...]:
        """What was watched while the stream was closed does not count."""
        if self.closed is None:
            return await read_coverage(self.pool, query, buckets, now=self.now)
        cut = cut_buckets(buckets.edges_s, self.closed)
        parts = await read_coverage(self.pool, query, Buckets(("",) * len(cut.places), cut.edges_s), now=self.now)
        of_bucket: list[list[BucketCoverage]] = [[] for _ in buckets.keys]
        for place, is_open, part in zip(cut.places, cut.is_open, parts, strict=True):
            of_bucket[place].append(part if is_open else _without_watched(part))
        return tuple(map(sum_coverage, of_bucket))

    async def read_covered_s(self, query: Query, edges_s: Sequence[float]) -> list[float]:
        """Seconds that were watched, of thousands of buckets."""
        if self.closed is None:
            return (await read_covered(self.pool, query.stream_id, past_buckets(query, edges_s, self.now)))[0]
        cut = cut_buckets(edges_s, self.closed)
        parts, _ = await read_covered(self.pool, query.stream_id, past_buckets(query, cut.edges_s, self.now))
        return cut.add_up(parts, nothing=0.0)


def _add_up_figures(cut: CutBuckets, parts: Sequence[Figures]) -> list[Figures]:
    if len(cut.places) == cut.places[-1] + 1 and all(cut.is_open):
        return list(parts)
    of_bucket: list[list[Figures]] = [[[0] * len(parts[0])] for _ in range(cut.places[-1] + 1)]
    for place, part in compress(zip(cut.places, parts, strict=True), cut.is_open):
        of_bucket[place].append(part)
    return [sum_figures(rows) for rows in of_bucket]


def _without_watched(part: BucketCoverage) -> BucketCoverage:
    """Of a time in which the stream was closed, unless it did not exist yet."""
    if set(part.missing) == {Absence.NOT_CREATED} or not part.length_s:
        return part
    return replace(part, covered_s=0.0, missing={Absence.CLOSED: part.length_s}, refused_for=None)


async def open_reader(pool: Pool, query: Query, *, now: datetime, in_hours: bool) -> BucketReader:
    """`in_hours`: of opening hours alone, by those that held then."""
    if not in_hours:
        return BucketReader(pool, now)
    async with pool.connection() as connection:
        return BucketReader(pool, now, await read_closed_time(connection, query.stream_id, query.from_at, query.to_at))
