"""Keeps the roll-up filled, for as long as a process runs."""

import asyncio
import logging

import psycopg
from psycopg_pool import PoolTimeout

from onlooker.database import Pool, load_queries
from onlooker.logs import fields
from onlooker.metrics import counters
from onlooker.metrics.rollup import SLOTS_AT_ONCE, OtherDefinitions, begin_anew, fill_slots
from onlooker.settings import Settings

log = logging.getLogger(__name__)

DUE_S = 30.0
"""A slot is filled so long after it was first marked: not with every revision of an open visit."""
LOOK_EVERY_S = 2.0
OTHERS_EVERY_S = 60.0
AWAY = (psycopg.Error, PoolTimeout)

_queries = load_queries("onlooker.metrics")


async def fill_for_ever(pool: Pool, settings: Settings) -> None:
    """A database that is away is waited for; what is marked stays marked until it is filled."""
    begun = False
    while True:
        try:
            if not begun:
                await begin_anew(pool, senior_age=settings.senior_age)
                begun = True
            filled = await fill_slots(pool, due_s=DUE_S)
            if filled < SLOTS_AT_ONCE:
                await _note_marks(pool)
                await asyncio.sleep(LOOK_EVERY_S)
        except OtherDefinitions:
            log.error("another release fills the roll-up: stop this recorder, or stop that one and start this anew")
            await asyncio.sleep(OTHERS_EVERY_S)
        except AWAY as error:
            log.warning("slots wait for the database", extra=fields(error=str(error)))
            await asyncio.sleep(LOOK_EVERY_S)


async def _note_marks(pool: Pool) -> None:
    async with pool.connection() as connection:
        row = await (await connection.execute(_queries["count_marks"])).fetchone()
    counters.marks.set(row["marks"] if row else 0)
