"""Streams, sites and tags side by side, over the slots of the local clock that were watched in all of them."""

import asyncio
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from onlooker.database import Pool
from onlooker.metrics.comparison import NoComparison, find_cluster_length_s, read_watched_by_days
from onlooker.metrics.like_time import LEAST_SHARE, ClockRun, SlotRun, on_clock
from onlooker.metrics.pooled_figures import (
    PartyRun,
    PooledCluster,
    StreamPeriod,
    read_clusters,
    read_open_times,
    sum_watched,
)

WATCHED_BY = 9, 10
"""A slot of a row is watched if at least nine in ten of its streams watched it: of fewer than ten, all."""
FEWEST_ROWS = 2


class ClockSpan(NamedTuple):
    """Consecutive slots of the local clock; `fold` is 1 where it shows them for the second time."""

    fold: int
    from_s: int
    to_s: int


@dataclass(frozen=True)
class WatchedStream:
    """A stream of a row, and when it watched."""

    stream: StreamPeriod
    runs: tuple[ClockRun, ...]
    open_s: float

    @property
    def watched_s(self) -> int:
        return sum(run.to_s - run.from_s for run in self.runs)

    @property
    def is_enough(self) -> bool:
        """As with ranks: a stream that was off nearly always would leave nothing of the others' time."""
        return self.open_s > 0 and self.watched_s >= LEAST_SHARE * self.open_s


@dataclass(frozen=True)
class ComparedRow:
    """What a row counted over the compared time."""

    streams: tuple[WatchedStream, ...]
    clusters: tuple[PooledCluster, ...] = ()
    compared_watched_s: float = 0.0
    """How long its streams watched in the compared time, all together."""

    @property
    def taking_part(self) -> list[WatchedStream]:
        return [one for one in self.streams if one.is_enough]

    @property
    def watched_share(self) -> float | None:
        """Of the time that its streams were open; None where they never were."""
        open_s = sum(one.open_s for one in self.streams)
        return min(1.0, sum(one.watched_s for one in self.streams) / open_s) if open_s else None

    @property
    def hours(self) -> float:
        """For how long the row was watched in the compared time, as if it were one camera."""
        return self.compared_watched_s / 3600 / max(1, len(self.taking_part))


@dataclass(frozen=True)
class SideBySide:
    """Rows over the time that was watched in all of them."""

    rows: tuple[ComparedRow, ...]
    common: tuple[ClockSpan, ...]
    reason: NoComparison | None = None
    without: int | None = None
    """The row without which there would be most time to compare, where there is too little."""
    open_s: float = 0.0
    """For how long the stream was open that was open least."""
    cluster_s: int = field(default=3600, compare=False)

    @property
    def compared_s(self) -> int:
        return _length_s(self.common)


async def read_side_by_side(pool: Pool, rows: Sequence[Sequence[StreamPeriod]]) -> SideBySide:
    """Each row is its streams. A stream may be in several rows."""
    found = await _read_watched(pool, rows)
    bare = find_common_time(found)
    if bare.reason:
        return bare
    runs = [
        PartyRun(number, one.stream.stream_id, run, offset_s, one.stream.period.to_at.timestamp())
        for number, row in enumerate(found)
        for one in row.taking_part
        for run, offset_s in runs_within(one.runs, bare.common)
    ]
    clusters, watched_s = await asyncio.gather(read_clusters(pool, runs, bare.cluster_s), sum_watched(pool, runs))
    read = tuple(
        ComparedRow(row.streams, tuple(clusters.get(number, ())), watched_s[number]) for number, row in enumerate(found)
    )
    return SideBySide(read, bare.common, open_s=bare.open_s, cluster_s=bare.cluster_s)


async def _read_watched(pool: Pool, rows: Sequence[Sequence[StreamPeriod]]) -> list[ComparedRow]:
    streams = list(dict.fromkeys(one for row in rows for one in row))
    watched = await read_watched_by_days(pool, [(one.stream_id, one.period) for one in streams])
    opened = await read_open_times(pool, streams)
    known = {
        one: WatchedStream(one, tuple(on_clock(runs, one.zone)), open_s)
        for one, runs, open_s in zip(streams, watched, opened, strict=True)
    }
    return [ComparedRow(tuple(known[one] for one in row)) for row in rows]


def find_common_time(rows: Sequence[ComparedRow]) -> SideBySide:
    """What is compared, without numbers. Pure."""
    spans = {number: spans_of_row(row.taking_part) for number, row in enumerate(rows) if row.taking_part}
    if len(spans) < FEWEST_ROWS:
        return SideBySide(tuple(rows), (), NoComparison.NOT_WATCHED)
    taking_part = [one for row in rows for one in row.taking_part]
    open_s = min(one.open_s for one in taking_part)
    longest_s = max((one.stream.period.to_at - one.stream.period.from_at).total_seconds() for one in taking_part)
    common = watched_by(list(spans.values()), len(spans))
    if _length_s(common) < LEAST_SHARE * open_s:
        reason = NoComparison.TOO_LITTLE if common else NoComparison.NO_COMMON_TIME
        return SideBySide(tuple(rows), tuple(common), reason, _find_odd_row(spans), open_s)
    return SideBySide(tuple(rows), tuple(common), open_s=open_s, cluster_s=find_cluster_length_s(longest_s))


def _find_odd_row(spans: dict[int, list[ClockSpan]]) -> int | None:
    """Of two rows, neither is the odd one."""
    if len(spans) == FEWEST_ROWS:
        return None
    left_s = {
        number: _length_s(watched_by([one for other, one in spans.items() if other != number], len(spans) - 1))
        for number in spans
    }
    return max(left_s, key=lambda number: left_s[number])


def spans_of_row(streams: Sequence[WatchedStream]) -> list[ClockSpan]:
    """What at least nine in ten of its streams watched."""
    spans = [[ClockSpan(*run[:3]) for run in one.runs] for one in streams]
    part, whole = WATCHED_BY
    return watched_by(spans, -(-part * len(spans) // whole))


def watched_by(parties: Sequence[Iterable[ClockSpan]], least: int) -> list[ClockSpan]:
    """The time in which at least so many have a span; those of one party do not overlap."""
    edges = sorted(
        edge for spans in parties for fold, from_s, to_s in spans for edge in ((fold, from_s, 1), (fold, to_s, -1))
    )
    found, present, since_s = [], 0, 0
    for (fold, at_s), group in groupby(edges, key=itemgetter(0, 1)):
        were = present
        present += sum(step for _, _, step in group)
        if were < least <= present:
            since_s = at_s
        elif present < least <= were:
            found.append(ClockSpan(fold, since_s, at_s))
    return found


def runs_within(runs: Iterable[ClockRun], spans: Sequence[ClockSpan]) -> Iterator[tuple[SlotRun, int]]:
    """What of a stream's runs lies in spans, in UTC, each with its clock's offset."""
    place = 0
    for run in sorted(runs):
        while place < len(spans) and (spans[place].fold, spans[place].to_s) <= (run.fold, run.from_s):
            place += 1
        for fold, from_s, to_s in spans[place:]:
            if (fold, from_s) >= (run.fold, run.to_s):
                break
            begin, end = max(run.from_s, from_s) - run.offset_s, min(run.to_s, to_s) - run.offset_s
            yield SlotRun(begin, end), run.offset_s


def _length_s(spans: Collection[ClockSpan]) -> int:
    return sum(span.to_s - span.from_s for span in spans)
