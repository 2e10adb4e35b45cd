"""The list of live workers in the database, for the console, which is not on the bus."""

import asyncio
import logging
from typing import Any

import msgspec

from onlooker.database import DATABASE_UNAVAILABLE, Pool, load_queries
from onlooker.gateway.engine.workers import LiveWorker, Workers
from onlooker.logs import fields

log = logging.getLogger(__name__)

WRITE_EVERY_S = 5.0
FORGET_AFTER_S = 3600.0

_queries = load_queries("onlooker.gateway")


async def keep_worker_list(pool: Pool, workers: Workers) -> None:
    """Until cancelled; several dispatchers may do so."""
    while True:
        try:
            await write_workers(pool, workers.live())
        except DATABASE_UNAVAILABLE as error:
            log.warning("list of workers not written", extra=fields(error=type(error).__name__))
        await asyncio.sleep(WRITE_EVERY_S)


async def write_workers(pool: Pool, live: list[LiveWorker]) -> None:
    async with pool.connection() as connection:
        rows = msgspec.json.encode([_row(worker) for worker in live]).decode()
        await connection.execute(_queries["keep_workers"], {"workers": rows})
        await connection.execute(_queries["forget_workers"], {"forget_after_s": FORGET_AFTER_S})


def _row(worker: LiveWorker) -> dict[str, Any]:
    return {
        "instance": worker.instance,
        "name": worker.said.worker or worker.instance,
        "version": worker.said.version,
        "services": sorted(worker.subjects),
        "confined": worker.said.is_confined,
    }
