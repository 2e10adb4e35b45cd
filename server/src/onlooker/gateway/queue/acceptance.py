"""Accepted jobs: committed to PostgreSQL before the client is answered."""

import uuid
from dataclasses import dataclass

import msgspec

from onlooker.bus.messages import Task, failure
from onlooker.database import load_queries
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
    if task.session:
        context.new_sessions.permit(stream.id, task.session)
    size_bytes = sum(map(len, task.attachments.values()))
    async with context.backlog.taking_in(stream.id, size_bytes):
        for field, data in task.attachments.items():
            await context.blobs.put(attachment_path(task.id, field), data)
        values = {
            "job_id": uuid.UUID(task.id),
            "stream_id": stream.id,
            "service": task.service,
            "version": task.version,
            "session": task.session,
            "request_id": task.request_id,
            "params": msgspec.msgpack.encode(task.params),
            "attachments": list(task.attachments),
            "size_bytes": size_bytes,
            "time_limit_s": context.settings.async_time_limit_s,
            "retention_s": context.settings.result_retention_s,
        }
        async with context.pool.connection() as connection:
            await connection.execute(_queries["accept_job"], values)
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
