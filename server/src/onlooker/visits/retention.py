"""Deleting visits and what devices told of slots past their stream's retention, and what is of no use any more."""

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from onlooker.database import Pool, load_queries
from onlooker.slots import SLOT_S
from onlooker.visits import counters
from onlooker.visits.partitions import Partitions

log = logging.getLogger(__name__)

DELETE_AT_ONCE = 5000
ASIDE_DAYS = 30

_queries = load_queries("onlooker.visits")


async def remove_expired(pool: Pool, partitions: Partitions, *, now: float) -> None:
    """Whole months first: dropping a partition costs nothing, deleting rows does."""
    await partitions.drop_expired(now)
    await delete_expired_visits(pool, now=now)
    async with pool.connection() as connection:
        cursor = await connection.execute(_queries["delete_put_aside"], {"days": ASIDE_DAYS})
        counters.removed("put_aside").inc(cursor.rowcount)
        await connection.execute(_queries["delete_old_erasures"])


async def delete_expired_visits(pool: Pool, *, now: float, at_once: int = DELETE_AT_ONCE) -> None:
    """Stream by stream, and a limited number of rows per transaction, so that no lock is held for long."""
    async with pool.connection() as connection:
        streams = await (await connection.execute(_queries["list_retentions"])).fetchall()
        for stream in streams:
            await delete_expired_of(connection, stream["id"], stream["retention_days"], now=now, at_once=at_once)


async def delete_expired_of(
    connection: AsyncConnection[DictRow],
    stream_id: int,
    retention_days: int | None,
    *,
    now: float,
    at_once: int = DELETE_AT_ONCE,
) -> None:
    """Of one stream; without days, all of it."""
    values = {"stream_id": stream_id, "limit_at": _limit(now, retention_days), "limit": at_once}
    await _delete_all(connection, "delete_device_slots", values, kind="device_slot")
    if not retention_days or await _forget(connection, values):
        await _delete_all(connection, "delete_expired", values, kind="visit")


async def _delete_all(connection: AsyncConnection[DictRow], name: str, values: dict[str, Any], *, kind: str) -> None:
    deleted = values["limit"]
    while deleted == values["limit"]:
        deleted = (await connection.execute(_queries[name], values)).rowcount
        counters.removed(kind).inc(deleted)


async def _forget(connection: AsyncConnection[DictRow], values: dict[str, Any]) -> bool:
    """Record first that they are gone. False if there are none, or their roll-up is not filled yet."""
    return await (await connection.execute(_queries["forget_expired"], values)).fetchone() is not None


def _limit(now: float, days: int | None) -> datetime:
    """Visits that began before this go, by whole slots. Without days, all go: some began a little in the future."""
    if days is None:
        return datetime.max.replace(tzinfo=UTC)
    return datetime.fromtimestamp(now // SLOT_S * SLOT_S, UTC) - timedelta(days=days)
