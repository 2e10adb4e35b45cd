"""After a database was restored: what must not come back from the past is deleted before anything is served."""

import asyncio
import shutil
import time

from psycopg import sql

from onlooker.backup.postgresql_tools import PASSING_TABLES
from onlooker.database import Pool, open_pool
from onlooker.metrics.rollup import OtherDefinitions, fill_slots
from onlooker.settings import Settings
from onlooker.visits.partitions import Partitions
from onlooker.visits.retention import remove_expired

OTHER_RELEASE = (
    "The roll-up is of another release. The recorder recalculates it when it starts, and deletes visits past "
    "retention after that."
)


def clean_up(settings: Settings) -> str:
    """Repeating it changes nothing. Returns a sentence about what is left to do, or nothing."""
    shutil.rmtree(settings.home_path / "blobs", ignore_errors=True)  # nothing in the database knows them any more
    return asyncio.run(_clean_up(settings))


async def _clean_up(settings: Settings) -> str:
    async with open_pool(settings, size=2) as pool:
        async with pool.connection() as connection:
            tables = sql.SQL(", ").join(map(sql.Identifier, PASSING_TABLES))
            await connection.execute(sql.SQL("TRUNCATE {}").format(tables))
            await connection.execute("ANALYZE")
        remark = await _fill(pool)
        await remove_expired(pool, Partitions(pool), now=time.time())
    return remark


async def _fill(pool: Pool) -> str:
    """Visits of slots that are not filled yet outlast their retention, so that the slots can be filled."""
    try:
        while await fill_slots(pool, due_s=0):
            pass
    except OtherDefinitions:
        return OTHER_RELEASE
    return ""
