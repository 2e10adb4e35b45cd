"""Filling the roll-up: slots whose visits changed are recalculated as a whole."""

import asyncio
import hashlib
import logging
import time
from typing import Any

from psycopg import AsyncConnection
from psycopg.errors import DeadlockDetected
from psycopg.rows import DictRow

from onlooker.database import DATABASE_FAILED, Pool, load_queries
from onlooker.logs import fields
from onlooker.metrics.block_release import release_blocks
from onlooker.metrics.statements import compile_filling
from onlooker.metrics.week_release import release_weeks
from onlooker.settings import Settings
from onlooker.visits import counters

log = logging.getLogger(__name__)

SLOTS_AT_ONCE = 500
TRIES = 5
DUE_S = 30.0
"""A slot is filled this long after it was first marked: not with every revision of an open visit."""
CHECK_EVERY_S = 2.0
RELEASE_EVERY_S = 60.0
GRID_EVERY_S = 60.0
"""Slots of streams on the grid change once a minute, with the first pass after a full one."""
OTHER_RELEASE_PAUSE_S = 60.0

_queries = load_queries("onlooker.metrics", "sql/marks.sql")

FILL = compile_filling()
DEFINITIONS = hashlib.sha256(" ".join(FILL.split()).encode()).hexdigest()
"""Changes with what a slot is filled with, and not with the layout of the SQL files."""


class OtherDefinitions(Exception):
    """Another release fills the roll-up."""


async def fill_slots(pool: Pool, *, due_s: float, limit: int = SLOTS_AT_ONCE, now: float | None = None) -> int:
    """Fill some slots that were marked at least this long ago, and say how many. Several processes may do so at once.

    Of streams on the grid, those that were marked before the minute of `now`.
    """
    grid_s = (time.time() if now is None else now) // GRID_EVERY_S * GRID_EVERY_S
    values: dict[str, Any] = {"due_s": due_s, "grid_s": grid_s, "limit": limit}
    for tried in range(1, TRIES + 1):
        try:
            return await _fill_marked(pool, values)
        except DeadlockDetected:
            # Slots that are new and slots that change reach the rows of their days one after the other, so two who fill
            # slots of the same days may wait for one another. PostgreSQL ends one of them: nothing of it is written.
            if tried == TRIES:
                raise
    raise AssertionError


async def _fill_marked(pool: Pool, values: dict[str, Any]) -> int:
    """The marks are taken by a statement of their own: the next one sees everything written before they were set."""
    async with pool.connection() as connection, connection.transaction():
        await _require_own_definitions(connection)
        taken = await (await connection.execute(_queries["take_marks"], values)).fetchall()
        fresh = [row for row in taken if row["kept"]]
        if fresh:
            slots = {"stream_ids": [row["stream_id"] for row in fresh], "slots": [row["slot_at"] for row in fresh]}
            await connection.execute(FILL, slots)
    counters.slots_filled.inc(len(fresh))
    return len(taken)


async def restart_rollup(pool: Pool, *, senior_age: float) -> None:
    """Mark all slots if other definitions filled them. Until they are filled again, queries read the visits.

    One stream at a time, so that writers of visits never wait long. An interrupted run continues where it stopped.
    """
    async with pool.connection() as connection:
        values = {"senior_age": senior_age, "definitions": DEFINITIONS}
        if await (await connection.execute(_queries["take_over"], values)).fetchone():
            log.info("the definitions of metrics changed: all slots are recalculated", extra=fields(**values))
        while await _mark_next(connection):
            pass


async def _mark_next(connection: AsyncConnection[DictRow]) -> bool:
    """Mark the slots of one stream; False if none is left."""
    async with connection.transaction():
        found = await (await connection.execute(_queries["next_unmarked"])).fetchone()
        if not found:
            return False
        if found["stream_id"]:
            await connection.execute(_queries["mark_stream"], found)
        await connection.execute(_queries["note_marked"], found)
    return found["stream_id"] is not None


async def _require_own_definitions(connection: AsyncConnection[DictRow]) -> None:
    """Two releases must not fill slots with different figures. Empty definitions: no release has begun."""
    row = await (await connection.execute(_queries["lock_definitions"])).fetchone()
    if not row or row["definitions"] not in ("", DEFINITIONS):
        raise OtherDefinitions


async def keep_rollup_filled(pool: Pool, settings: Settings) -> None:
    """Fill slots, release blocks and weeks as long as the process runs, waiting for the database if it is away."""
    begun, released_at = False, -RELEASE_EVERY_S
    while True:
        try:
            if not begun:
                await restart_rollup(pool, senior_age=settings.senior_age)
                begun = True
            filled = await fill_slots(pool, due_s=DUE_S)
            if filled < SLOTS_AT_ONCE:
                await _note_marks(pool)
                if time.monotonic() - released_at >= RELEASE_EVERY_S:
                    await release_blocks(pool)
                    await release_weeks(pool)
                    released_at = time.monotonic()
                await asyncio.sleep(CHECK_EVERY_S)
        except OtherDefinitions:
            log.error("another release fills the roll-up: stop this recorder, or stop the other and restart this one")
            await asyncio.sleep(OTHER_RELEASE_PAUSE_S)
        except DATABASE_FAILED as error:
            log.warning("slots wait for the database", extra=fields(error=str(error)))
            await asyncio.sleep(CHECK_EVERY_S)


async def _note_marks(pool: Pool) -> None:
    async with pool.connection() as connection:
        row = await (await connection.execute(_queries["count_marks"])).fetchone()
    counters.slots_marked.set(row["marks"] if row else 0)
