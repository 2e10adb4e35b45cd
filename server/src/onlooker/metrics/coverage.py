"""How much of each bucket was looked at, and why not the rest: tells 'nobody came' from 'the camera was off'."""

from collections import defaultdict
from datetime import UTC, datetime
from typing import Any

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from onlooker.database import Pool, load_queries
from onlooker.metrics.absences import Absence, BucketCoverage, Closure, Part, Stretch, cut_stretches, reckon
from onlooker.metrics.buckets import Buckets
from onlooker.metrics.query import Query
from onlooker.streams.coverage import Reason, reason_of

TOLD_BY_STATE = [Reason.STREAM_DISABLED, Reason.QUOTA_EXCEEDED]
"""Refusals that say nothing new: the log of states has when they began, and when they ended."""

_queries = load_queries("onlooker.metrics")


async def read_coverage(pool: Pool, query: Query, buckets: Buckets, *, now: datetime) -> tuple[BucketCoverage, ...]:
    """The coverage of each bucket, as far as it lies inside the range and in the past."""
    from_at = max(query.from_at.astimezone(UTC), buckets.edges[0])
    to_at = min(query.to_at.astimezone(UTC), buckets.edges[-1], now)
    values = {"stream_id": query.stream_id, "from_at": from_at, "to_at": to_at, "now": now}
    async with pool.connection() as connection:
        [known] = await _read(connection, "find_known_since", values)
        closures = [_closure_of(row) for row in await _read(connection, "read_closures", values)]
        cut = cut_stretches(
            buckets.edges, closures, within=(from_at, to_at), known_since=known["since"].astimezone(UTC)
        )
        stretches = await _read_parts(connection, list(cut), values)
    return tuple(reckon(stretches[bucket], closures) for bucket in range(len(buckets.keys)))


async def _read_parts(
    connection: AsyncConnection[DictRow], stretches: list[Stretch], values: dict[str, Any]
) -> dict[int, list[tuple[Stretch, list[Part]]]]:
    """The stretches by their bucket, each with its parts."""
    froms, tos = [stretch.from_at for stretch in stretches], [stretch.to_at for stretch in stretches]
    more = {"froms": froms, "tos": tos, "told_by_state": TOLD_BY_STATE}
    parts: dict[int, list[Part]] = defaultdict(list)
    for row in await _read(connection, "read_coverage", values | more):
        parts[row["number"] - 1].append(_part_of(row))
    found: dict[int, list[tuple[Stretch, list[Part]]]] = defaultdict(list)
    for number, stretch in enumerate(stretches):
        found[stretch.bucket].append((stretch, parts[number]))
    return found


async def _read(connection: AsyncConnection[DictRow], name: str, values: dict[str, Any]) -> list[DictRow]:
    return await (await connection.execute(_queries[name], values, prepare=True)).fetchall()


def _closure_of(row: DictRow) -> Closure:
    return Closure(Absence(row["state"]), row["from_at"].astimezone(UTC), row["to_at"].astimezone(UTC))


def _part_of(row: DictRow) -> Part:
    return Part(row["length_s"], row["covered_s"], reason_of(row["reason"]) if row["reason"] else None)
