"""Figures of chosen slots of many streams, added up: what comparisons of sites, tags and streams are computed from.

Visits count whole in the slot in which they begin, as in the roll-up, which may lack those of the last minute.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from psycopg.rows import DictRow, tuple_row

from onlooker.database import Pool, load_sql_parts
from onlooker.metrics.definitions import BLOCK_FIGURES, METRICS, Figures, Unit, figures_of
from onlooker.metrics.fleet import ClosedTimes
from onlooker.metrics.like_time import SlotRun, TimeRange
from onlooker.metrics.statements import as_array
from onlooker.slots import SLOT_IN_SQL

POOLED = tuple(name for name, metric in METRICS.items() if metric.unit is not Unit.PARTS)
"""Metrics that are one number."""
POOLED_COLUMNS = tuple(figures_of(POOLED))
_NULLABLE = {"told": "coalesce(slot.told, slot.interested)"}
"""Rows of an earlier release told of all people."""

_parts = load_sql_parts("onlooker.metrics", "sql/pooled_figures.sql")


@dataclass(frozen=True)
class StreamPeriod:
    """A stream, and the range in which it is looked at: the same on its own local clock as that of others."""

    stream_id: int
    zone: ZoneInfo
    period: TimeRange
    """In UTC; it ends now at the latest."""


class PartyRun(NamedTuple):
    """Consecutive slots of a stream, added up with those of its party."""

    party: int
    stream_id: int
    run: SlotRun
    offset_s: int = 0
    """Of the stream's clock."""
    until_s: float = 0.0
    """Where the stream's period ends: a block of people who stayed longer is not told."""


class PooledCluster(NamedTuple):
    """People who may have come together: one independent draw. Of a stream with groups, a block is one by itself."""

    from_s: int
    to_s: int
    """On the local clock."""
    figures: Figures
    """Of all metrics, in the order of POOLED_COLUMNS: `clusters_of` picks those of one."""


def _compile(name: str) -> str:
    about_people = [column for column in POOLED_COLUMNS if column in BLOCK_FIGURES]
    sums = {column: f"sum({column}) FILTER (WHERE singly)" for column in about_people}
    slots = {
        column: f"coalesce({sums.get(column, f'sum({column})')}, 0)::bigint AS {column}" for column in POOLED_COLUMNS
    }
    blocks = (f"{column if column in about_people else 0}::bigint AS {column}" for column in POOLED_COLUMNS)
    on_clock = _parts["runs_on_clock"].substitute()
    return _parts[name].substitute(
        SLOT_IN_SQL,
        of_slots=", ".join(slots.values()),
        of_slot=", ".join(_NULLABLE.get(column, f"slot.{column}") for column in POOLED_COLUMNS),
        of_blocks=", ".join(blocks),
        columns=", ".join(POOLED_COLUMNS),
        runs_with_days=_parts["runs_with_days"].substitute(runs_on_clock=on_clock),
    )


POOLED_STATEMENTS = {name: _compile(name) for name in ("pool_slots", "pool_blocks", "sum_watched", "read_hours")}


async def read_clusters(pool: Pool, runs: Sequence[PartyRun], cluster_s: int) -> dict[int, list[PooledCluster]]:
    """By party, all that its streams counted in their runs."""
    values = _as_values(runs)
    found: dict[int, list[PooledCluster]] = defaultdict(list)
    for row in await _read_rows(pool, "pool_slots", values | {"cluster_s": cluster_s}):
        from_s = row[1] * cluster_s
        found[row[0]].append(PooledCluster(from_s, from_s + cluster_s, row[2:]))
    for row in await _read_rows(pool, "pool_blocks", values):
        found[row[0]].append(PooledCluster(row[1], row[2], row[3:]))
    return found


def clusters_of(metric: str, clusters: Iterable[PooledCluster]) -> list[Figures]:
    """The figures of a metric. At least one, so that there is always a sum."""
    pick = _PICKS[metric]
    return [pick(one.figures) for one in clusters] or [(0,) * len(METRICS[metric].figures)]


def _pick(metric: str) -> Callable[[Figures], Figures]:
    first, *others = map(POOLED_COLUMNS.index, METRICS[metric].figures)
    return itemgetter(first, *others) if others else itemgetter(slice(first, first + 1))


_PICKS = {name: _pick(name) for name in POOLED}


async def sum_watched(pool: Pool, runs: Sequence[PartyRun]) -> dict[int, float]:
    """By party, how many seconds its streams watched in their runs."""
    rows = await _read(pool, "sum_watched", _as_values(runs))
    return defaultdict(float, {row["party"]: row["watched_s"] for row in rows})


def _as_values(runs: Sequence[PartyRun]) -> dict[str, Any]:
    return {
        "parties": as_array(one.party for one in runs),
        "stream_ids": as_array(one.stream_id for one in runs),
        "begins_s": as_array(one.run.from_s for one in runs),
        "ends_s": as_array(one.run.to_s for one in runs),
        "offsets_s": as_array(one.offset_s for one in runs),
        "until_s": as_array(one.until_s for one in runs),
    }


async def read_open_times(pool: Pool, streams: Collection[StreamPeriod]) -> list[float]:
    """For how many seconds of its period each stream was open; whether it existed does not matter."""
    periods = [one.period for one in streams]
    if not periods:
        return []
    values = {"stream_ids": [one.stream_id for one in streams], "ends": [period.to_at for period in periods]}
    rows = await _read(pool, "read_hours", values)
    versions = {
        row["number"] - 1: [(float(since), hours, zone) for since, hours, zone in row["versions"]] for row in rows
    }
    times = ClosedTimes(min(period.from_at for period in periods), max(period.to_at for period in periods))
    return [
        _lasted_s(period) - times.between(period.from_at, period.to_at, versions.get(number, ()))
        for number, period in enumerate(periods)
    ]


def _lasted_s(period: TimeRange) -> float:
    return (period.to_at - period.from_at).total_seconds()


async def _read_rows(pool: Pool, name: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    """For thousands of rows."""
    async with pool.connection() as connection:
        cursor = connection.cursor(row_factory=tuple_row)
        return await (await cursor.execute(POOLED_STATEMENTS[name], values)).fetchall()


async def _read(pool: Pool, name: str, values: dict[str, Any]) -> list[DictRow]:
    async with pool.connection() as connection:
        return await (await connection.execute(POOLED_STATEMENTS[name], values)).fetchall()


def cut_to_past(period: TimeRange, now: datetime) -> TimeRange:
    """What of a range lies in the past."""
    return TimeRange(period.from_at, max(period.from_at, min(period.to_at, now)))
