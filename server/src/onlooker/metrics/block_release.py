"""Releasing blocks: what is told about people of a grouped stream, once their slots are ready."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Any
from zoneinfo import ZoneInfo

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from onlooker.database import Pool, load_queries
from onlooker.metrics.blocks import BlockRun, BlockSlot, divide_day, end_of_day
from onlooker.metrics.definitions import BLOCK_FIGURES
from onlooker.metrics.statements import compile_block_insertion, compile_block_slots
from onlooker.slots import slot_of
from onlooker.visits import counters

SETTLED_AFTER = timedelta(minutes=2)
"""A visit is written so long after it happened, at the latest, on its way over the bus and through the recorder."""
LONGEST_WAIT = timedelta(days=31)
"""After that a slot is ready, whatever is missing: a device that was offline for so long, a visit that never ended."""

_queries = load_queries("onlooker.metrics", "sql/block_release.sql")
_READ_SLOTS = compile_block_slots()
_INSERT = compile_block_insertion()


@dataclass(frozen=True)
class _DayRelease:
    """What became of a stream's next day."""

    blocks: int = 0
    is_over: bool = False
    """Whether the day after it can be looked at."""


async def release_blocks(pool: Pool, now: datetime | None = None) -> int:
    """Release what is ready, of all streams, and say how many blocks that were. Several processes may do so at once."""
    now = now or datetime.now(UTC)
    async with pool.connection() as connection:
        streams = await (await connection.execute(_queries["list_grouped"])).fetchall()
        released = sum([await _release_stream(connection, stream["id"], now) for stream in streams])
    counters.blocks_released.inc(released)
    return released


def forget_blocks(cursor: Any, stream_id: int, from_at: datetime, to_at: datetime) -> None:
    """Delete every block that holds somebody of a range: all of its people are unknown from then on.

    `cursor` is Django's, in the transaction that ends an erasure. A release that has read the erased visits already is
    waited for, so that its blocks are deleted, too.
    """
    cursor.execute(_queries["lock_progress"], {"stream_id": stream_id})
    cursor.execute(_queries["forget_blocks"], {"stream_id": stream_id, "from_at": from_at, "to_at": to_at})


def forget_blocks_of(cursor: Any, stream_id: int, slots: list[datetime]) -> None:
    """The same by the slots of erased visits: one may reach further than it did when its block was released."""
    cursor.execute(_queries["lock_progress"], {"stream_id": stream_id})
    cursor.execute(_queries["forget_blocks_of"], {"stream_id": stream_id, "slots": slots})


async def _release_stream(connection: AsyncConnection[DictRow], stream_id: int, now: datetime) -> int:
    blocks, is_over = 0, True
    # Committed by itself: who changes the setting or erases a range finds a row to wait for.
    await connection.execute(_queries["begin_progress"], {"stream_id": stream_id})
    while is_over:
        async with connection.transaction():
            released = await _release_day(connection, stream_id, now)
        blocks, is_over = blocks + released.blocks, released.is_over
    return blocks


async def _release_day(connection: AsyncConnection[DictRow], stream_id: int, now: datetime) -> _DayRelease:
    """From the first visit on that is in no block yet. Its settings are read once nobody else can change them."""
    whose: dict[str, Any] = {"stream_id": stream_id}
    await connection.execute(_queries["lock_progress"], whose)
    stream = await (await connection.execute(_queries["read_grouped"], whose)).fetchone()
    if stream is None:
        return _DayRelease()
    from_at = slot_of(stream["first_at"].astimezone(UTC))
    ends_at = end_of_day(from_at, ZoneInfo(stream["time_zone"]))
    complete_at = await read_watermark(connection, stream_id, stream["compute"], now)
    to_at = min(ends_at, complete_at)
    if to_at <= from_at:
        return _DayRelease()
    rows = await _read_slots(connection, whose | {"from_at": from_at, "to_at": to_at, "long_ago": now - LONGEST_WAIT})
    ready = list(takewhile(lambda row: row["settled"], rows))
    is_over = ends_at <= complete_at and len(ready) == len(rows)
    blocks = divide_day(map(_as_slot, ready), least=stream["groups_of"], is_over=is_over)
    for block in blocks:
        await connection.execute(_INSERT, whose | _values_of(block))
    if is_over or blocks:
        until = ends_at if is_over else blocks[-1].ends_at
        await connection.execute(_queries["note_progress"], whose | {"blocked_until": until})
    return _DayRelease(len(blocks), is_over)


async def read_watermark(connection: AsyncConnection[DictRow], stream_id: int, compute: str, now: datetime) -> datetime:
    """The end of the last slot of which everything has arrived that ever will, as far as can be known."""
    complete_at = settled_at = now - SETTLED_AFTER
    if compute == "device":
        values = {"stream_id": stream_id, "settled_at": settled_at}
        row = await (await connection.execute(_queries["read_delivered"], values)).fetchone()
        complete_at = min(row["delivered_at"].astimezone(UTC), settled_at) if row else datetime.min.replace(tzinfo=UTC)
    return slot_of(max(complete_at, now - LONGEST_WAIT))


async def _read_slots(connection: AsyncConnection[DictRow], values: dict[str, Any]) -> list[DictRow]:
    return await (await connection.execute(_READ_SLOTS, values)).fetchall()


def _as_slot(row: DictRow) -> BlockSlot:
    return BlockSlot(row["slot_at"], {column: row[column] for column in BLOCK_FIGURES}, row["reaches_at"])


def _values_of(block: BlockRun) -> dict[str, Any]:
    ends = {"begins_at": block.begins_at, "ends_at": block.ends_at, "reaches_at": block.reaches_at}
    return ends | block.figures
