"""Requests for jobs: the fields of a body, checked against the service's description."""

import uuid
from dataclasses import dataclass
from typing import Any

from onlooker.errors import Code, Problem, bad_request, not_found
from onlooker.gateway.blobs import find_blob
from onlooker.gateway.bodies import ATTACHMENT_PREFIX, Body
from onlooker.gateway.context import GatewayContext
from onlooker.streams.credentials import StreamRecord
from onlooker_pipeline.catalogue.service import Service

RESERVED = ("async", "state")


@dataclass(frozen=True)
class JobRequest:
    """A checked request for a job: the service's own fields apart from those of every job."""

    params: dict[str, Any]
    references: dict[str, str]
    """Reference by field, for the fields that hold media."""
    session_id: uuid.UUID | None
    is_async: bool


def read_job_request(service: Service, fields: dict[str, Any]) -> JobRequest:
    """Check everything that can be checked without looking anything up."""
    is_async = fields.get("async", True)
    if not isinstance(is_async, bool):
        raise bad_request("`async` must be true or false.")
    session_id = _read_session(fields["state"]) if "state" in fields else None
    if service.makes_visits and fields.get("store") is True and session_id is None:
        raise bad_request("`store` needs a session to follow people in: send `state` with a `session_id`.")
    for field in service.fields:
        if field.name not in fields:
            if field.required:
                raise bad_request(f"`{field.name}` is missing: {field.description}")
            continue
        complaint = field.complaint(fields[field.name])
        if complaint:
            raise bad_request(complaint)
    media = {field.name for field in service.media_fields}
    return JobRequest(
        params={name: value for name, value in fields.items() if name not in media and name not in RESERVED},
        references={name: fields[name] for name in media if name in fields},
        session_id=session_id,
        is_async=is_async,
    )


def read_trial_request(service: Service, fields: dict[str, Any]) -> JobRequest:
    """A job's fields as `read_job_request` checks them; whatever `store` says, nothing is stored."""
    requested = read_job_request(service, fields | {"store": False})
    if requested.is_async:
        raise bad_request("With a trial token a job is computed at once: send `async` false.")
    return requested


def _read_session(state: Any) -> uuid.UUID:
    session_id = state.get("session_id") if isinstance(state, dict) else None
    try:
        if isinstance(session_id, str):
            return uuid.UUID(session_id)
    except ValueError:
        pass
    raise bad_request("`state` must be an object whose `session_id` is a UUID.")


def session_key(stream: StreamRecord, service: Service, session_id: uuid.UUID) -> str:
    """A session belongs to a stream, a service version and the id that the client chose."""
    return f"{stream.id}.{service.name}-{service.version}.{session_id.hex}"


async def collect_attachments(
    context: GatewayContext, stream: StreamRecord, requested: JobRequest, body: Body
) -> dict[str, bytes]:
    """The bytes behind each reference: a part of this request, or a blob of this stream; nothing else."""
    collected: dict[str, bytes] = {}
    for field, reference in requested.references.items():
        if reference.startswith(ATTACHMENT_PREFIX):
            if reference not in body.attachments:
                raise bad_request(f"`{field}` refers to {reference[:80]!r}, which is not a part of this request.")
            collected[field] = body.attachments[reference]
        else:
            collected[field] = await _fetch_blob(context, stream, field, reference)
    if sum(map(len, collected.values())) > context.settings.body_limit_bytes:
        raise Problem(Code.TOO_LARGE, "The attachments and blobs of this job are too large together.")
    return collected


async def _fetch_blob(context: GatewayContext, stream: StreamRecord, field: str, reference: str) -> bytes:
    prefix = context.url("/blobs/")
    if not reference.startswith(prefix):
        raise bad_request(
            f"`{field}` must be `{ATTACHMENT_PREFIX}<name>` or the URL of a blob of this gateway ({prefix}...). "
            "Nothing else is ever fetched."
        )
    try:
        blob_id = uuid.UUID(reference.removeprefix(prefix).rstrip("/"))
    except ValueError:
        raise not_found("blob") from None
    data = await find_blob(context, stream, blob_id)
    if data is None:
        raise not_found("blob")
    return data
