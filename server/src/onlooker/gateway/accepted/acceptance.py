"""Accepted jobs: committed to PostgreSQL before the client hears of it."""

import uuid
from dataclasses import dataclass

import msgspec

from onlooker.bus.messages import Task, failure
from onlooker.catalogue.service import Service
from onlooker.database import load_queries
from onlooker.errors import overloaded
from onlooker.gateway import counters
from onlooker.gateway.blobstore import attachment_path
from onlooker.gateway.parts import Parts
from onlooker.streams.credentials import StreamRecord

OVERDUE = failure("time_limit", "The job could not be computed within its time limit.")

_queries = load_queries("onlooker.gateway")


@dataclass(frozen=True)
class AcceptedJob:
    """What a client may know of an accepted job."""

    service: str
    version: int
    result: bytes | None
    expires_at: float


async def accept_job(parts: Parts, stream: StreamRecord, task: Task) -> None:
    """Put the attachments where they wait, then commit; only then is the job accepted."""
    settings = parts.settings
    paths = [attachment_path(task.id, field) for field in task.attachments]
    for path, data in zip(paths, task.attachments.values(), strict=True):
        await parts.blobs.put(path, data)
    values = {
        "job_id": uuid.UUID(task.id),
        "stream_id": stream.id,
        "service": task.service,
        "version": task.version,
        "session": task.session,
        "request_id": task.request_id,
        "params": msgspec.msgpack.encode(task.params),
        "attachments": list(task.attachments),
        "time_limit_s": settings.async_time_limit_s,
        "retention_s": settings.result_retention_s,
        "waiting_limit": settings.async_jobs_per_stream,
    }
    async with parts.pool.connection() as connection:
        row = await (await connection.execute(_queries["accept_job"], values)).fetchone()
    if row is None:
        await parts.blobs.remove(paths)
        raise overloaded("Too many accepted jobs of this stream wait already. Wait for some to end.", retry_after_s=5)
    if task.session:
        parts.order.note_accepted(task.session)
    counters.jobs(task.service, "accepted", "").inc()


async def find_accepted(parts: Parts, stream: StreamRecord, job_id: uuid.UUID) -> AcceptedJob | None:
    async with parts.pool.connection() as connection:
        values = {"job_id": job_id, "stream_id": stream.id}
        row = await (await connection.execute(_queries["find_job"], values)).fetchone()
    if row is None:
        return None
    # A job past its time limit has ended, even before the dispatcher comes round to write that down.
    result = OVERDUE if row["is_overdue"] else row["result"]
    return AcceptedJob(row["service"], row["version"], result, row["expires_at"].timestamp())


async def remove_accepted(parts: Parts, stream: StreamRecord, service: Service, job_id: uuid.UUID) -> bool:
    """Forget a job and what waits for it; one that computes now has nowhere to put its result."""
    values = {"job_id": job_id, "stream_id": stream.id, "service": service.name, "version": service.version}
    async with parts.pool.connection() as connection:
        row = await (await connection.execute(_queries["remove_job"], values)).fetchone()
    if row is None:
        return False
    await parts.blobs.remove([attachment_path(job_id.hex, field) for field in row["attachments"]])
    return True
