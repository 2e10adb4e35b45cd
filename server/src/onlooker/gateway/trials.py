"""What a trial token opens: jobs that are computed at once and stored nowhere, and the end of their session."""

from functools import wraps
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from onlooker.catalogue.service import Service
from onlooker.errors import Code, Problem, bad_request
from onlooker.gateway.operation import Handler, RouteRow
from onlooker.gateway.parts import stream_of
from onlooker.gateway.requested import Requested, read_requested


def guard_row(row: RouteRow) -> Handler:
    """The row's handler; for who has but a trial token, most of them are not there."""
    handler = row.handler
    if row.open or row.for_trials:
        return handler

    @wraps(handler)
    async def answer(request: Request) -> Response:
        if stream_of(request).is_trial:
            raise Problem(Code.NOT_FOUND, "A trial token opens jobs that are computed at once, and nothing else.")
        return await handler(request)

    return answer


def read_trial(service: Service, fields: dict[str, Any]) -> Requested:
    """A job's fields as `read_requested` checks them; whatever they say of `store`, nothing is."""
    requested = read_requested(service, fields | {"store": False})
    if requested.is_async:
        raise bad_request("With a trial token a job is computed at once: send `async` false.")
    return requested
