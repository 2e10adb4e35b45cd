"""Filling the roll-up: the slots whose visits changed are reckoned anew, whole."""

import hashlib
import logging
from typing import Any

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from onlooker.database import Pool, load_queries
from onlooker.logs import fields
from onlooker.metrics import counters
from onlooker.metrics.definitions import ALL_FIGURES
from onlooker.metrics.judging import judge

log = logging.getLogger(__name__)

SLOTS_AT_ONCE = 500

_queries = load_queries("onlooker.metrics")

_VISITS = """
    SELECT taken.slot_at, visit.* FROM unnest(%(stream_ids)s::bigint[], %(slots)s::timestamptz[])
        AS taken (stream_id, slot_at)
    CROSS JOIN LATERAL (
        SELECT * FROM visits_visit
        WHERE stream_id = taken.stream_id
          AND began_at >= taken.slot_at AND began_at < taken.slot_at + interval '15 minutes'
        OFFSET 0) visit"""
_FILL = """
INSERT INTO metrics_slot (stream_id, slot_at, reaches_at, {columns})
SELECT stream_id, slot_at, max(upper(present)), {figures} FROM ({judged}) judged
GROUP BY stream_id, slot_at ORDER BY stream_id, slot_at
ON CONFLICT (stream_id, slot_at) DO UPDATE SET reaches_at = excluded.reaches_at, {updates}"""

FILL = _FILL.format(
    columns=", ".join(ALL_FIGURES),
    figures=", ".join(f"{made} AS {column}" for column, made in ALL_FIGURES.items()),
    judged=judge(_VISITS),
    updates=", ".join(f"{column} = excluded.{column}" for column in ALL_FIGURES),
)
DEFINITIONS = hashlib.sha256(FILL.encode()).hexdigest()
"""Changes with what a slot is filled with."""


class OtherDefinitions(Exception):
    """The roll-up is another release's."""


async def fill_slots(pool: Pool, *, due_s: float, limit: int = SLOTS_AT_ONCE) -> int:
    """Fill some slots that were marked so long ago, and say how many; several processes may do so at a time.

    The marks are taken by a statement of its own: the one after it sees all that was written by who marked them.
    """
    async with pool.connection() as connection, connection.transaction():
        await _require_own_definitions(connection)
        values: dict[str, Any] = {"due_s": due_s, "limit": limit}
        taken = await (await connection.execute(_queries["take_marks"], values)).fetchall()
        fresh = [row for row in taken if row["kept"]]
        if fresh:
            slots = {"stream_ids": [row["stream_id"] for row in fresh], "slots": [row["slot_at"] for row in fresh]}
            await connection.execute(FILL, slots)
    counters.slots.inc(len(fresh))
    return len(taken)


async def begin_anew(pool: Pool, *, senior_age: float) -> None:
    """Mark all slots if they were filled by other definitions; until they are filled anew, visits are read raw.

    One stream after the other, so that nobody who writes visits waits for long; what is half done is gone on with.
    """
    async with pool.connection() as connection:
        values = {"senior_age": senior_age, "definitions": DEFINITIONS}
        if await (await connection.execute(_queries["take_over"], values)).fetchone():
            log.info("the definitions of metrics changed: all slots are filled anew", extra=fields(**values))
        while await _mark_next(connection):
            pass


async def _mark_next(connection: AsyncConnection[DictRow]) -> bool:
    """Mark the slots of one stream; False where there is none left."""
    async with connection.transaction():
        found = await (await connection.execute(_queries["next_unmarked"])).fetchone()
        if not found:
            return False
        if found["stream_id"]:
            await connection.execute(_queries["mark_stream"], found)
        await connection.execute(_queries["note_marked"], found)
    return found["stream_id"] is not None


async def _require_own_definitions(connection: AsyncConnection[DictRow]) -> None:
    """Another release would fill slots with other figures, and for good; none has begun where there are none."""
    row = await (await connection.execute(_queries["lock_definitions"])).fetchone()
    if not row or row["definitions"] not in ("", DEFINITIONS):
        raise OtherDefinitions
