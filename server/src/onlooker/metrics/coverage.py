"""How much of each bucket was looked at, and why not the rest: tells 'nobody came' from 'the camera was off'."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

from psycopg import AsyncConnection
from psycopg.rows import DictRow, tuple_row

from onlooker.database import Pool, load_queries
from onlooker.metrics.absences import Absence, BucketCoverage, Closure, Part, Stretch, cut_stretches, reckon
from onlooker.metrics.buckets import Buckets
from onlooker.metrics.compiling import as_array
from onlooker.metrics.query import Query
from onlooker.streams.coverage import SLOT_S, Reason, reason_of

TOLD_BY_STATE = [Reason.STREAM_DISABLED, Reason.QUOTA_EXCEEDED]
"""Refusals that say nothing new: the log of states has when they began, and when they ended."""

Row = tuple[int, str | None, float, float]
"""Number, reason, seconds of it and seconds that were covered."""

_queries = load_queries("onlooker.metrics")


async def read_coverage(pool: Pool, query: Query, buckets: Buckets, *, now: datetime) -> tuple[BucketCoverage, ...]:
    """The coverage of each bucket, as far as it lies inside the range and in the past."""
    return (await read_coverage_and_hours(pool, query, buckets, now=now))[0]


async def read_coverage_and_hours(
    pool: Pool, query: Query, buckets: Buckets, hours_s: Sequence[float] = (), *, now: datetime
) -> tuple[tuple[BucketCoverage, ...], list[float]]:
    """The coverage of each bucket, and how many seconds of each hour between these Unix times were looked at.

    Both are of one reading: a year has thousands of hours, and their causes would take longer than all the rest.
    """
    from_at, to_at = _past_of(query, buckets, now)
    values = {"stream_id": query.stream_id, "from_at": from_at, "to_at": to_at, "now": now}
    async with pool.connection() as connection:
        [known] = await _read(connection, "find_known_since", values)
        closures = [_closure_of(row) for row in await _read(connection, "read_closures", values)]
        known_since = known["since"].astimezone(UTC)
        stretches = list(cut_stretches(buckets.edges, closures, within=(from_at, to_at), known_since=known_since))
        begins_s = [stretch.from_at.timestamp() for stretch in stretches]
        ends_s = (from_at.timestamp(), to_at.timestamp())
        inside = hours_s[bisect_right(hours_s, ends_s[0]) : bisect_left(hours_s, ends_s[1])]
        cuts_s = sorted({*ends_s, *begins_s, *inside})
        rows = await _read_parts(connection, cuts_s, values)
    parts = _gather(rows, cuts_s, begins_s)
    found: dict[int, list[tuple[Stretch, list[Part]]]] = defaultdict(list)
    for number, stretch in enumerate(stretches):
        found[stretch.bucket].append((stretch, parts[number]))
    covered = tuple(reckon(found[bucket], closures) for bucket in range(len(buckets.keys)))
    return covered, _by_hour(rows, cuts_s, hours_s)


def _past_of(query: Query, buckets: Buckets, now: datetime) -> tuple[datetime, datetime]:
    """What of the buckets lies inside the range and in the past."""
    from_at = max(query.from_at.astimezone(UTC), buckets.edges[0])
    return from_at, max(from_at, min(query.to_at.astimezone(UTC), buckets.edges[-1], now))


async def _read_parts(
    connection: AsyncConnection[DictRow], cuts_s: Sequence[float], values: dict[str, Any]
) -> list[Row]:
    """What lies between one cut and the next, by its number from 1 on."""
    cut_slots_s = {cut_s - cut_s % SLOT_S for cut_s in cuts_s if cut_s % SLOT_S}
    more = {"cuts_s": as_array(cuts_s), "cut_slots_s": as_array(cut_slots_s), "told_by_state": TOLD_BY_STATE}
    cursor = connection.cursor(row_factory=tuple_row, binary=True)
    await cursor.execute(_queries["read_coverage"], values | more, prepare=True)
    return await cursor.fetchall()


def _gather(rows: list[Row], cuts_s: list[float], begins_s: list[float]) -> dict[int, list[Part]]:
    """The parts of each stretch, one a reason."""
    stretch_of = _numbers_of(cuts_s, begins_s)
    sums: dict[tuple[int, str | None], tuple[float, float]] = {}
    for number, reason, length_s, covered_s in rows:
        key = (stretch_of[number - 1], reason)
        before = sums.get(key, (0.0, 0.0))
        sums[key] = (before[0] + length_s, before[1] + covered_s)
    parts: dict[int, list[Part]] = defaultdict(list)
    for (number, reason), seconds in sums.items():
        parts[number].append(Part(*seconds, reason_of(reason) if reason else None))
    return parts


def _numbers_of(cuts_s: list[float], begins_s: Sequence[float]) -> list[int]:
    """In which part, counted from 0, each cut lies. A part begins with a cut, but the first may begin before all."""
    begins = set(begins_s[1:])
    return list(accumulate(cut_s in begins for cut_s in cuts_s))


def _by_hour(rows: list[Row], cuts_s: list[float], hours_s: Sequence[float]) -> list[float]:
    covered = [0.0] * max(len(hours_s) - 1, 0)
    if covered:
        hour_of = _numbers_of(cuts_s, hours_s)
        for number, _, _, covered_s in rows:
            covered[hour_of[number - 1]] += covered_s
    return covered


async def _read(connection: AsyncConnection[DictRow], name: str, values: dict[str, Any]) -> list[DictRow]:
    return await (await connection.execute(_queries[name], values, prepare=True)).fetchall()


def _closure_of(row: DictRow) -> Closure:
    return Closure(Absence(row["state"]), row["from_at"].astimezone(UTC), row["to_at"].astimezone(UTC))
