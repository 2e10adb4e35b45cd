"""Jobs: computed at once, or accepted to be computed later."""

import time
import uuid
from functools import partial

import msgspec
from msgspec import UNSET, UnsetType
from starlette.requests import Request
from starlette.responses import Response

from onlooker.bus.messages import Reply, Task
from onlooker.errors import not_found
from onlooker.gateway import counters
from onlooker.gateway.bodies import read_body
from onlooker.gateway.context import (
    GatewayContext,
    context_of,
    holder_of,
    id_of,
    service_of,
    service_path,
    stream_of,
)
from onlooker.gateway.engine.engine import no_worker
from onlooker.gateway.engine.tasks import new_task, sender_of
from onlooker.gateway.meters import is_for_visits
from onlooker.gateway.permits import permit_hours, permit_job, permit_results
from onlooker.gateway.queue.acceptance import accept_job, find_accepted, remove_accepted
from onlooker.gateway.requests import collect_attachments, read_job_request, read_trial_request, session_key
from onlooker.gateway.stream_limits import Holder
from onlooker.http.answers import encode_json, format_time
from onlooker.http.openapi import Moment, Url
from onlooker.streams.credentials import StreamRecord
from onlooker_pipeline.catalogue.service import Service


class JobBody(msgspec.Struct, frozen=True):
    """A job as clients see it; `status` is the HTTP status, errors are those of its result."""

    url: Url
    uuid: uuid.UUID
    status: int
    expires_at: Moment | UnsetType = UNSET
    error: str | UnsetType = UNSET
    error_code: str | UnsetType = UNSET


async def create_job(request: Request) -> Response:
    context, stream, service = context_of(request), stream_of(request), service_of(request)
    permit_job(context, stream, service)
    body = await read_body(request, context.settings)
    arrived_at = time.time()
    requested = (read_trial_request if stream.is_trial else read_job_request)(service, body.fields)
    request.scope["is_for_visits"] = is_for_visits(service, requested.params)
    permit_hours(stream, service, requested.params, arrived_at=arrived_at)
    session = session_key(stream, service, requested.session_id) if requested.session_id else None
    job_id = uuid.uuid4()
    prepare = partial(
        new_task,
        service,
        requested.params,
        job_id=job_id,
        sender=sender_of(stream),
        arrived_at=arrived_at,
        session=session,
        request_id=request.scope["request_id"],
        time_limit_s=context.settings.job_time_limit_s,
    )
    if requested.is_async and not context.workers.was_ever_live(service):
        raise no_worker(service)
    async with context.turns.take(session):
        attachments = await collect_attachments(context, stream, requested, body)
        if requested.is_async:
            await accept_job(context, stream, prepare(attachments))
            return job_answer(job_url(context, service, job_id), job_id, status=202)
        await context.order.await_accepted(session)
        task = prepare(attachments)
        reply = await compute(context, stream, service, task, holder=holder_of(request))
    kept = await context.results.keep(stream.id, task, reply)
    url = job_url(context, service, kept.job_id)
    return job_answer(url, kept.job_id, status=201, expires_at=kept.expires_at, result=reply.result)


def job_answer(
    url: str, job_id: uuid.UUID, *, status: int, expires_at: float | None = None, result: bytes = b"{}"
) -> Response:
    """A job: its own members, followed by those of its result (a JSON object)."""
    members = JobBody(url, job_id, status, UNSET if expires_at is None else format_time(expires_at))
    body = encode_json(members)
    if len(result) > 2:
        body = body[:-1] + b"," + result[1:]
    headers = {"Location": url} if status in (201, 202) else None
    return Response(body, status_code=status, headers=headers, media_type="application/json")


def job_url(context: GatewayContext, service: Service, job_id: uuid.UUID) -> str:
    return context.url(f"{service_path(service)}/jobs/{job_id}")


async def compute(
    context: GatewayContext, stream: StreamRecord, service: Service, task: Task, *, holder: Holder
) -> Reply:
    """Have a task computed, and count it."""
    permit_results(context, stream)
    if task.session:
        context.new_sessions.permit(stream.id, task.session)
    with context.jobs.holding(holder):
        reply = await context.engine.run(service, task)
    context.result_bytes.charge(stream.id, len(reply.result))
    context.meters.count_reply(stream.id, service, task, reply, is_trial=stream.is_trial)
    counters.jobs(service.name, "failed" if reply.error_code else "computed", reply.error_code or "").inc()
    counters.queue_time(service.name).observe(reply.queue_s)
    counters.compute_time(service.name).observe(reply.compute_s)
    return reply


async def show_job(request: Request) -> Response:
    context, stream, service = context_of(request), stream_of(request), service_of(request)
    job_id = id_of(request, "job")
    url = job_url(context, service, job_id)
    stored = await context.results.find(stream.id, service, job_id)
    if stored:
        return job_answer(url, job_id, status=201, expires_at=stored.expires_at, result=stored.result)
    accepted = await find_accepted(context, stream, job_id)
    if accepted is None or (accepted.service, accepted.version) != (service.name, service.version):
        raise not_found("job")
    if accepted.result is None:
        return job_answer(url, job_id, status=202)
    return job_answer(url, job_id, status=200, expires_at=accepted.expires_at, result=accepted.result)


async def delete_job(request: Request) -> Response:
    context, stream, service = context_of(request), stream_of(request), service_of(request)
    job_id = id_of(request, "job")
    stored = await context.results.find(stream.id, service, job_id)
    if stored:
        await context.results.remove(stream.id, job_id, stored)
    elif not await remove_accepted(context, stream, service, job_id):
        raise not_found("job")
    return Response(status_code=204)
