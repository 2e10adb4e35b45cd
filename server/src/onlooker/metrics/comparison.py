"""A period compared with another one, like with like: read from roll-up and coverage in a handful of statements."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import compress, pairwise
from math import ceil

from onlooker.database import Pool, load_queries
from onlooker.metrics.changes import Change, compare_metric
from onlooker.metrics.coverage import Closure, read_closed_time
from onlooker.metrics.definitions import METRICS, Figures, Unit
from onlooker.metrics.execution import BlockFigures, blocks_between, figures_between
from onlooker.metrics.like_time import (
    LEAST_SHARE,
    WATCHED_FROM,
    SlotPairs,
    SlotRun,
    TimeRange,
    find_shift_s,
    pair_slots,
)
from onlooker.metrics.query import Query, Time
from onlooker.slots import SLOT_S

DAY_S = 86_400
CLUSTERS_S = ((8 * DAY_S, SLOT_S), (62 * DAY_S, 3600))
"""Up to which length of a period its clusters, which the error of a mean is found from, have which length."""

_queries = load_queries("onlooker.metrics", "sql/comparison.sql")


class NoComparison(StrEnum):
    """Why there is none. A closed list: it is part of the interface."""

    NO_COMMON_TIME = "no_common_time"
    """The periods have no weekday and time of day in common."""
    NOT_WATCHED = "not_watched"
    NOT_WATCHED_BEFORE = "not_watched_before"
    """Not watched, or longer ago than coverage is kept."""
    TOO_LITTLE = "too_little"
    """Less than a third of the period was watched in both."""


@dataclass(frozen=True)
class LikeTime:
    """What of two periods is compared."""

    before: TimeRange
    length_s: float
    """Of the period, as far as it is past and was not closed."""
    watched: tuple[SlotRun, ...]
    """Slots of the period that were watched, whether they are compared or not."""
    pairs: tuple[SlotPairs, ...]
    """All that were watched in both, even where that is too little for a comparison."""
    reason: NoComparison | None
    open_runs: tuple[SlotRun, ...] | None = None
    """What counts of the period, where only opening hours do."""
    watched_closed_s: float = 0.0
    """Watched while closed: compared all the same, although `length_s` lacks it."""

    @property
    def comparable_s(self) -> float:
        """What `compared_s` is a part of."""
        return self.length_s + self.watched_closed_s

    @property
    def compared_s(self) -> int:
        return sum(pair.length_s for pair in self.pairs)

    @property
    def watched_s(self) -> int:
        return sum(run.to_s - run.from_s for run in self.watched)


@dataclass(frozen=True)
class Comparison:
    """How a period differs from another one."""

    like: LikeTime
    changes: dict[str, dict[str, Change]]
    """By metric and part; empty where there is no comparison."""
    clusters: dict[str, list[Figures]]
    """By metric: the figures of all clusters of the period. Of what is told about people, blocks follow."""
    edges_s: tuple[float, ...]
    """Where clusters begin, and where the last one ends."""
    exact: bool


async def read_comparison(
    pool: Pool, query: Query, before: TimeRange, *, now: datetime, in_hours: bool = False
) -> Comparison:
    """All metrics of visits that the query has, over its range, against another range.

    `in_hours`: only of visits that begin in opening hours.
    """
    query = replace(query, metrics=tuple(name for name in query.metrics if name in METRICS))
    like, exposure = await read_like_time(pool, query, before, now=now, in_hours=in_hours)
    cluster_s = find_cluster_length_s((query.to_at - query.from_at).total_seconds())
    runs = [] if like.reason else [pair.now for pair in like.pairs]
    ours = await _read_clusters(pool, query, runs, cluster_s, within=like.open_runs)
    if like.reason:
        return Comparison(like, {}, ours.everything, ours.edges_s, ours.is_exact)
    earlier = replace(query, from_at=before.from_at, to_at=before.to_at)
    earlier = earlier.on_grid() if query.grid else earlier
    runs = sorted(pair.before for pair in like.pairs)
    theirs = await _read_clusters(pool, earlier, runs, cluster_s if _has_means(query) else DAY_S)
    changes = {
        name: compare_metric(METRICS[name], ours.inside[name], theirs.inside[name], exposure=exposure)
        for name in query.metrics
    }
    return Comparison(like, changes, ours.everything, ours.edges_s, ours.is_exact and theirs.is_exact)


def _has_means(query: Query) -> bool:
    return any(METRICS[name].unit in (Unit.SECONDS, Unit.SHARE) for name in query.metrics)


async def read_like_time(
    pool: Pool, query: Query, before: TimeRange, *, now: datetime, in_hours: bool = False
) -> tuple[LikeTime, float]:
    """What is compared, and how many times as long that was watched as before: slots may be watched in part."""
    period = TimeRange(query.from_at, max(query.from_at, min(query.to_at, now)))
    ours, theirs = await read_watched_runs(pool, [(query.stream_id, period), (query.stream_id, before)])
    closed = await _read_closed(pool, query.stream_id, period)
    open_runs = _find_open_runs(period, closed)
    watched_closed_s = 0.0 if in_hours else _sum_runs(ours) - _sum_runs(intersect_runs(ours, open_runs))
    if in_hours:
        open_before = _find_open_runs(before, await _read_closed(pool, query.stream_id, before))
        ours, theirs = intersect_runs(ours, open_runs), intersect_runs(theirs, open_before)
    shift_s = find_shift_s(TimeRange(query.from_at, query.to_at), before, query.zone)
    pairs = tuple(pair_slots(ours, theirs, zone=query.zone, shift_s=shift_s))
    length_s = _open_s(period, closed)
    reason = _why_not(ours, theirs, pairs, length_s)
    counting = open_runs if in_hours else None
    like = LikeTime(before, length_s, tuple(ours), pairs, reason, counting, watched_closed_s)
    return like, 1.0 if like.reason else await _read_exposure(pool, query.stream_id, pairs)


async def _read_closed(pool: Pool, stream_id: int, period: TimeRange) -> list[Closure]:
    async with pool.connection() as connection:
        return await read_closed_time(connection, stream_id, period.from_at, period.to_at)


def _find_open_runs(period: TimeRange, closed: Sequence[Closure]) -> tuple[SlotRun, ...]:
    """Opening hours begin and end with slots; a range that begins inside one begins its first run."""
    begins = [period.from_at, *(one.to_at for one in closed)]
    ends = [*(one.from_at for one in closed), period.to_at]
    seconds = ((int(begin.timestamp()), ceil(end.timestamp())) for begin, end in zip(begins, ends, strict=True))
    return tuple(SlotRun(*ends_s) for ends_s in seconds if ends_s[0] < ends_s[1])


def intersect_runs(runs: Sequence[SlotRun], others: Sequence[SlotRun]) -> list[SlotRun]:
    """What lies in both, which are in order and apart each."""
    found, place = [], 0
    for run in runs:
        while place < len(others) and others[place].to_s <= run.from_s:
            place += 1
        for other in others[place:]:
            if other.from_s >= run.to_s:
                break
            found.append(SlotRun(max(run.from_s, other.from_s), min(run.to_s, other.to_s)))
    return found


def _sum_runs(runs: Iterable[SlotRun]) -> int:
    return sum(run.to_s - run.from_s for run in runs)


def _open_s(period: TimeRange, closed: Sequence[Closure]) -> float:
    """How long the stream was open."""
    length_s = (period.to_at - period.from_at).total_seconds()
    return length_s - sum((one.to_at - one.from_at).total_seconds() for one in closed)


def _why_not(
    ours: Sequence[SlotRun], theirs: Sequence[SlotRun], pairs: Sequence[SlotPairs], length_s: float
) -> NoComparison | None:
    if not ours:
        return NoComparison.NOT_WATCHED
    if not theirs:
        return NoComparison.NOT_WATCHED_BEFORE
    if not pairs:
        return NoComparison.NO_COMMON_TIME
    return NoComparison.TOO_LITTLE if sum(pair.length_s for pair in pairs) < LEAST_SHARE * length_s else None


async def read_watched_runs(pool: Pool, asked: Sequence[tuple[int, TimeRange]]) -> list[list[SlotRun]]:
    """Which slots of a stream's range were watched, in the order asked."""
    return await _read_runs(pool, "read_watched", asked)


async def read_watched_by_days(pool: Pool, asked: Sequence[tuple[int, TimeRange]]) -> list[list[SlotRun]]:
    """The same, of many streams over a long time: days that were watched whole come first, and hours of the others."""
    days = await _read_runs(pool, "read_watched_days", asked)
    rests = [
        (number, (stream_id, rest))
        for number, ((stream_id, period), runs) in enumerate(zip(asked, days, strict=True))
        for rest in _between(runs, period)
    ]
    others = await _read_runs(pool, "read_watched", [rest for _, rest in rests])
    for (number, _), runs in zip(rests, others, strict=True):
        days[number] += runs
    return [join_runs(runs) for runs in days]


async def _read_runs(pool: Pool, name: str, asked: Sequence[tuple[int, TimeRange]]) -> list[list[SlotRun]]:
    values = {
        "stream_ids": [stream_id for stream_id, _ in asked],
        "begins": [one.from_at for _, one in asked],
        "ends": [one.to_at for _, one in asked],
        "least_s": WATCHED_FROM * SLOT_S,
    }
    async with pool.connection() as connection:
        rows = await (await connection.execute(_queries[name], values)).fetchall()
    found: list[list[SlotRun]] = [[] for _ in asked]
    for row in rows:
        found[row["number"] - 1].append(SlotRun(row["from_s"], row["to_s"]))
    return found


def _between(runs: Sequence[SlotRun], period: TimeRange) -> list[TimeRange]:
    """What of a period lies in none of the runs, which are in order and apart."""
    begins = [period.from_at, *(datetime.fromtimestamp(run.to_s, UTC) for run in runs)]
    ends = [*(datetime.fromtimestamp(run.from_s, UTC) for run in runs), period.to_at]
    return [TimeRange(*edges) for edges in zip(begins, ends, strict=True) if edges[0] < edges[1]]


def join_runs(runs: Iterable[SlotRun]) -> list[SlotRun]:
    """In order; those that touch as one."""
    joined: list[SlotRun] = []
    for run in sorted(runs):
        if joined and joined[-1].to_s == run.from_s:
            joined[-1] = SlotRun(joined[-1].from_s, run.to_s)
        else:
            joined.append(run)
    return joined


async def _read_exposure(pool: Pool, stream_id: int, pairs: Sequence[SlotPairs]) -> float:
    runs = [*((pair.now, False) for pair in pairs), *((pair.before, True) for pair in pairs)]
    values = {
        "stream_id": stream_id,
        "begins_s": [run.from_s for run, _ in runs],
        "ends_s": [run.to_s for run, _ in runs],
        "before": [is_before for _, is_before in runs],
    }
    async with pool.connection() as connection:
        rows = await (await connection.execute(_queries["sum_watched"], values)).fetchall()
    watched_s = {row["before"]: row["watched_s"] for row in rows}
    return float(watched_s[False] / watched_s[True])


def find_cluster_length_s(length_s: float) -> int:
    """Of a period that is so long."""
    return next((cluster_s for longest_s, cluster_s in CLUSTERS_S if length_s <= longest_s), DAY_S)


@dataclass(frozen=True)
class _Clusters:
    """Figures by metric: of all clusters of a range, and of those inside compared slots."""

    edges_s: tuple[float, ...]
    everything: dict[str, list[Figures]]
    inside: dict[str, list[Figures]]
    is_exact: bool


async def _read_clusters(
    pool: Pool, query: Query, runs: Sequence[SlotRun], cluster_s: int, *, within: Sequence[SlotRun] | None = None
) -> _Clusters:
    """`runs` are in order, and lie within. Clusters are cut where compared time begins and ends."""
    edges_s = cut_clusters(query, (*runs, *(within or ())), cluster_s)
    found, exact = await figures_between(pool, replace(query, time=Time.BY_HOUR), edges_s)
    is_inside = are_inside(edges_s, runs)
    inside = {name: list(compress(rows, is_inside)) for name, rows in found.items()}
    blocks = await blocks_between(pool, query)
    if within is None:
        everything = _add_blocks(found, blocks)
    else:
        kept = are_inside(edges_s, within)
        counted = {name: list(compress(rows, kept)) for name, rows in found.items()}
        everything = _add_blocks(counted, blocks_inside(blocks, within))
    return _Clusters(edges_s, everything, _add_blocks(inside, blocks_inside(blocks, runs)), exact)


def _add_blocks(clusters: dict[str, list[Figures]], blocks: Sequence[BlockFigures]) -> dict[str, list[Figures]]:
    """Each block is a cluster by itself: of its slots nothing else is told about people."""
    return {
        name: [*rows, *(block.figures[name] for block in blocks if name in block.figures)]
        for name, rows in clusters.items()
    }


def blocks_inside(blocks: Iterable[BlockFigures], runs: Sequence[SlotRun]) -> list[BlockFigures]:
    """Those that lie in a run; both are in order."""
    begins_s = [run.from_s for run in runs]
    places = ((block, bisect_right(begins_s, block.from_s) - 1) for block in blocks)
    return [block for block, place in places if place >= 0 and block.to_s <= runs[place].to_s]


def cut_clusters(query: Query, runs: Iterable[SlotRun], cluster_s: int) -> tuple[float, ...]:
    """The edges of clusters of a range, from its start to its end."""
    begin_s, end_s = query.from_at.timestamp(), query.to_at.timestamp()
    cuts = {edge for run in runs for edge in run if begin_s < edge < end_s}
    first = int(begin_s // cluster_s + 1) * cluster_s
    cuts.update(cut for cut in range(first, int(-(-end_s // 1)), cluster_s) if begin_s < cut < end_s)
    return (begin_s, *sorted(cuts), end_s)


def are_inside(edges_s: Sequence[float], runs: Sequence[SlotRun]) -> list[bool]:
    """Whether each cluster lies in a run: no cluster lies in one partly."""
    found, place = [], 0
    for begin_s, _ in pairwise(edges_s):
        while place < len(runs) and runs[place].to_s <= begin_s:
            place += 1
        found.append(place < len(runs) and runs[place].from_s <= begin_s)
    return found
