"""Accepted jobs: committed to PostgreSQL before the client is answered."""

import uuid
from dataclasses import dataclass

import msgspec

from onlooker.bus.messages import Task, failure
from onlooker.database import load_queries
from onlooker.errors import overloaded
from onlooker.gateway import counters
from onlooker.gateway.blobstore import attachment_path
from onlooker.gateway.context import GatewayContext
from onlooker.streams.credentials import StreamRecord
from onlooker_pipeline.catalogue.service import Service

OVERDUE = failure("time_limit", "The job could not be computed within its time limit.")

_queries = load_queries("onlooker.gateway")


@dataclass(frozen=True)
class AcceptedJob:
    """An accepted job as its client sees it."""

    service: str
    version: int
    result: bytes | None
    expires_at: float


async def accept_job(context: GatewayContext, stream: StreamRecord, task: Task) -> None:
    """Store the attachments, then commit; only then is the job accepted."""
    settings = context.settings
    if task.session:
        context.new_sessions.permit(stream.id, task.session)
    paths = [attachment_path(task.id, field) for field in task.attachments]
    for path, data in zip(paths, task.attachments.values(), strict=True):
        await context.blobs.put(path, data)
    values = {
        "job_id": uuid.UUID(task.id),
        "stream_id": stream.id,
        "service": task.service,
        "version": task.version,
        "session": task.session,
        "request_id": task.request_id,
        "params": msgspec.msgpack.encode(task.params),
        "attachments": list(task.attachments),
        "size_bytes": sum(map(len, task.attachments.values())),
        "time_limit_s": settings.async_time_limit_s,
        "retention_s": settings.result_retention_s,
        "waiting_limit": settings.async_jobs_per_stream,
        "bytes_limit": settings.async_bytes_per_stream,
    }
    async with context.pool.connection() as connection:
        row = await (await connection.execute(_queries["accept_job"], values)).fetchone()
    if row is None:
        await context.blobs.remove(paths)
        raise overloaded(
            "Too many accepted jobs of this stream wait already, or too many bytes. Wait for some to end.",
            retry_after_s=5,
        )
    if task.session:
        context.order.note_accepted(task.session)
    counters.jobs(task.service, "accepted", "").inc()


async def find_accepted(context: GatewayContext, stream: StreamRecord, job_id: uuid.UUID) -> AcceptedJob | None:
    async with context.pool.connection() as connection:
        values = {"job_id": job_id, "stream_id": stream.id}
        row = await (await connection.execute(_queries["find_job"], values)).fetchone()
    if row is None:
        return None
    # A job past its time limit has ended, even before the dispatcher has recorded it.
    result = OVERDUE if row["is_overdue"] else row["result"]
    return AcceptedJob(row["service"], row["version"], result, row["expires_at"].timestamp())


async def remove_accepted(context: GatewayContext, stream: StreamRecord, service: Service, job_id: uuid.UUID) -> bool:
    """Delete a job and its attachments; one that is being computed has nowhere to put its result."""
    values = {"job_id": job_id, "stream_id": stream.id, "service": service.name, "version": service.version}
    async with context.pool.connection() as connection:
        row = await (await connection.execute(_queries["remove_job"], values)).fetchone()
    if row is None:
        return False
    await context.blobs.remove([attachment_path(job_id.hex, field) for field in row["attachments"]])
    return True
