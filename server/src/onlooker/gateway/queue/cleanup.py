"""Cleanup of what is past its time: overdue jobs, expired results and blobs, orphaned attachments."""

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from onlooker.clock_check import ClockCheck
from onlooker.database import DATABASE_UNAVAILABLE, Pool, load_queries
from onlooker.gateway import counters
from onlooker.gateway.blobstore import (
    JOBS_PREFIX,
    BlobStore,
    StoreError,
    attachment_path,
    blob_path,
    remove_empty_folders,
)
from onlooker.gateway.queue.acceptance import OVERDUE
from onlooker.logs import fields
from onlooker.settings import Settings

log = logging.getLogger(__name__)

CLEANUP_EVERY_S = 2.0
EXPIRED_EVERY = 3
"""What is past its retention is no longer shown; its removal can wait for so many runs."""
ORPHANS_EVERY = 150
"""Every so many runs the blob store is searched for attachments without a job."""

_queries = load_queries("onlooker.gateway")


CountFailed = Callable[[dict[str, Any]], None]
"""Told of each row of a job that ended without having been computed."""


async def run_cleanup(
    settings: Settings, pool: Pool, blobs: BlobStore, clock: ClockCheck, *, count_failed: CountFailed
) -> None:
    """A wrong clock would take attachments of jobs that wait for orphans."""
    await asyncio.to_thread(remove_empty_folders, settings)
    runs = 0
    while True:
        await clock.wait_until_right()
        try:
            await end_overdue_jobs(settings, pool, blobs, count_failed=count_failed)
            if runs % EXPIRED_EVERY == 0:
                await remove_expired_results(pool)
                await remove_expired_blobs(pool, blobs)
            if runs % ORPHANS_EVERY == 0:
                await remove_orphans(settings, blobs)
        except (*DATABASE_UNAVAILABLE, StoreError) as error:
            log.warning("cleanup postponed", extra=fields(error=type(error).__name__))
        runs += 1
        await asyncio.sleep(CLEANUP_EVERY_S)


async def end_overdue_jobs(settings: Settings, pool: Pool, blobs: BlobStore, *, count_failed: CountFailed) -> None:
    """An accepted job ends within its time limit, if need be with an error."""
    async with pool.connection() as connection:
        for row in await (await connection.execute(_queries["overdue_jobs"])).fetchall():
            values = {"number": row["number"], "result": OVERDUE, "retention_s": settings.result_retention_s}
            if not (await connection.execute(_queries["finish_job"], values)).rowcount:
                continue  # it was computed after all
            count_failed(row)
            await blobs.remove([attachment_path(row["job_id"].hex, field) for field in row["attachments"]])
            counters.jobs(row["service"], "finished", "time_limit").inc()


async def remove_expired_results(pool: Pool) -> None:
    async with pool.connection() as connection:
        cursor = await connection.execute(_queries["sweep_jobs"])
        counters.swept("result").inc(cursor.rowcount)


async def remove_expired_blobs(pool: Pool, blobs: BlobStore) -> None:
    """Bytes first: a row without bytes is found again, bytes without a row would not be."""
    async with pool.connection() as connection:
        rows = await (await connection.execute(_queries["expired_blobs"])).fetchall()
        blob_ids = [row["blob_id"] for row in rows]
        await blobs.remove([blob_path(blob_id) for blob_id in blob_ids])
        await connection.execute(_queries["sweep_blobs"], {"blob_ids": blob_ids})
        counters.swept("blob").inc(len(blob_ids))


async def remove_orphans(settings: Settings, blobs: BlobStore) -> None:
    """Attachments whose job was never committed, or whose removal was interrupted: older than any job lives."""
    moment = datetime.now(UTC) - timedelta(seconds=settings.async_time_limit_s + 60)
    orphans = [path async for path in blobs.older_than(JOBS_PREFIX, moment)]
    await blobs.remove(orphans)
    counters.swept("orphan").inc(len(orphans))
