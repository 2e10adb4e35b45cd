"""Jobs: computed at once, or accepted to be computed later."""

import time
import uuid
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from onlooker.bus.messages import Reply, Task
from onlooker.catalogue.service import Service
from onlooker.errors import not_found
from onlooker.gateway import counters
from onlooker.gateway.accepted.acceptance import accept_job, find_accepted, remove_accepted
from onlooker.gateway.answers import job_answer
from onlooker.gateway.bodies import read_body
from onlooker.gateway.engine.engine import no_worker
from onlooker.gateway.engine.tasks import new_task, sender_of
from onlooker.gateway.limits.permits import permit_job
from onlooker.gateway.metering import is_for_visits
from onlooker.gateway.parts import Parts, id_of, parts_of, service_of, service_path, stream_of
from onlooker.gateway.requested import collect_attachments, read_requested, session_key
from onlooker.gateway.trials import read_trial
from onlooker.streams.credentials import StreamRecord


async def create_job(request: Request) -> Response:
    parts, stream, service = parts_of(request), stream_of(request), service_of(request)
    permit_job(parts, stream, service)
    body = await read_body(request, parts.settings)
    arrived_at = time.time()
    requested = (read_trial if stream.is_trial else read_requested)(service, body.fields)
    request.scope["is_for_visits"] = is_for_visits(service, requested.params)
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
        time_limit_s=parts.settings.job_time_limit_s,
    )
    if requested.is_async and not parts.workers.was_ever_live(service):
        raise no_worker(service)
    async with parts.turns.take(session):
        attachments = await collect_attachments(parts, stream, requested, body)
        if requested.is_async:
            await accept_job(parts, stream, prepare(attachments))
            return job_answer(job_url(parts, service, job_id), job_id, status=202)
        await parts.order.await_accepted(session)
        task = prepare(attachments)
        reply = await compute(parts, stream, service, task)
    kept = await parts.results.keep(stream.id, task, reply)
    url = job_url(parts, service, kept.job_id)
    return job_answer(url, kept.job_id, status=201, expires_at=kept.expires_at, result=reply.result)


def job_url(parts: Parts, service: Service, job_id: uuid.UUID) -> str:
    return parts.url(f"{service_path(service)}/jobs/{job_id}")


async def compute(parts: Parts, stream: StreamRecord, service: Service, task: Task) -> Reply:
    """Have a task computed, and count it."""
    with parts.places:
        reply = await parts.engine.run(service, task)
    parts.metering.count_reply(stream.id, service, task, reply, is_trial=stream.is_trial)
    counters.jobs(service.name, "failed" if reply.error_code else "computed", reply.error_code or "").inc()
    counters.queue_time(service.name).observe(reply.queue_s)
    counters.compute_time(service.name).observe(reply.compute_s)
    return reply


async def show_job(request: Request) -> Response:
    parts, stream, service = parts_of(request), stream_of(request), service_of(request)
    job_id = id_of(request, "job")
    url = job_url(parts, service, job_id)
    stored = await parts.results.find(stream.id, service, job_id)
    if stored:
        return job_answer(url, job_id, status=201, expires_at=stored.expires_at, result=stored.result)
    accepted = await find_accepted(parts, stream, job_id)
    if accepted is None or (accepted.service, accepted.version) != (service.name, service.version):
        raise not_found("job")
    if accepted.result is None:
        return job_answer(url, job_id, status=202)
    return job_answer(url, job_id, status=200, expires_at=accepted.expires_at, result=accepted.result)


async def delete_job(request: Request) -> Response:
    parts, stream, service = parts_of(request), stream_of(request), service_of(request)
    job_id = id_of(request, "job")
    stored = await parts.results.find(stream.id, service, job_id)
    if stored:
        await parts.results.remove(stream.id, job_id, stored)
    elif not await remove_accepted(parts, stream, service, job_id):
        raise not_found("job")
    return Response(status_code=204)
