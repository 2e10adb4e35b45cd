"""Admission to the gateway: credentials, rate, trial tokens, and what a refusal counts."""

import base64
import re
from functools import partial, wraps

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from onlooker.errors import Code, Problem
from onlooker.gateway import counters
from onlooker.gateway.context import GatewayContext, find_service, stream_of
from onlooker.gateway.stream_limits import Holder, address_of
from onlooker.http.routes import Handler, RouteRow
from onlooker.streams.coverage import reason_of
from onlooker.streams.credentials import StreamRecord

_REPEATED = (Code.RATE_LIMITED, Code.QUOTA_EXCEEDED, Code.STREAM_DISABLED, Code.STREAM_CLOSED)
"""A camera that may not compute keeps sending; logged, it would fill the log with identical lines."""
_TOO_MUCH = (Code.RATE_LIMITED, Code.OVERLOADED, Code.TOO_LARGE, Code.REQUEST_TIMEOUT)
_FRAME_PATH = re.compile(r"/services/([^/]+)/([^/]+)/(?:jobs|streams/[^/]+/(input))")


class GatewayAdmission:
    """What the gate asks the gateway about a request."""

    def __init__(self, context: GatewayContext, open_paths: frozenset[str]) -> None:
        self._context = context
        self._open_paths = open_paths

    async def admit(self, scope: Scope, headers: Headers) -> None:
        """Check credentials and rate, and open the request's share of the memory for bodies."""
        if scope["path"] in self._open_paths:
            return
        check = partial(self._check, *read_credentials(headers.get("authorization")))
        stream = scope["stream"] = await check()
        scope["stream_id"] = stream.id
        scope["check_again"] = check
        self._context.rates.take(stream.id)
        holder = scope["holder"] = Holder(stream.id, address_of(scope))
        scope["held_bytes"] = self._context.body_bytes.open(holder)
        scope["in_progress"] = self._context.requests.open(holder)
        scope["in_progress"].hold(1)

    async def _check(self, client_id: str, access_token: str) -> StreamRecord:
        stream = await self._context.credentials.check(client_id, access_token)
        if stream is None:
            raise wrong_credentials()
        return stream

    def release(self, scope: Scope) -> None:
        for held in ("held_bytes", "in_progress"):
            if held in scope:
                scope[held].hold(0)

    def note_refusal(self, scope: Scope, code: Code, broken: bool) -> None:
        """A feed's output that breaks off is no refusal."""
        if not broken:
            counters.refusals(code).inc()
            if code in _TOO_MUCH and "stream_id" in scope:
                counters.name_refused(scope["stream_id"], code)
            count_refused_frame(self._context, scope, code)


def is_routine(status: int, code: str | None) -> bool:
    return status < 300 or code in _REPEATED


def read_credentials(header: str | None) -> tuple[str, str]:
    """client_id (the user) and access_token (the password) from an Authorization header of HTTP Basic."""
    scheme, _, encoded = (header or "").partition(" ")
    if scheme.lower() != "basic":
        raise wrong_credentials()
    try:
        client_id, colon, access_token = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except ValueError:
        raise wrong_credentials() from None
    if not colon:
        raise wrong_credentials()
    return client_id, access_token


def wrong_credentials() -> Problem:
    """The same for every cause."""
    return Problem(
        Code.BAD_CREDENTIALS,
        "Send a stream's client_id as user and its access_token as password (HTTP Basic).",
        headers={"WWW-Authenticate": 'Basic realm="onlooker", charset="UTF-8"'},
    )


def guard_trials(row: RouteRow) -> Handler:
    """The row's handler; most of them do not exist for requests that carry a trial token."""
    handler = row.handler
    if row.open or row.for_trials:
        return handler

    @wraps(handler)
    async def answer(request: Request) -> Response:
        if stream_of(request).is_trial:
            raise Problem(Code.NOT_FOUND, "A trial token opens jobs that are computed at once, and nothing else.")
        return await handler(request)

    return answer


def count_refused_frame(context: GatewayContext, scope: Scope, code: Code) -> None:
    """If a refused request was a frame for visits, it is missing from its stream's coverage.

    Whether the frame was to be stored is not always known when it is refused.
    """
    stream = scope.get("stream")
    path = _FRAME_PATH.fullmatch(scope["path"])
    if stream is None or stream.is_trial:
        return
    if path is None or scope["method"] != "POST" or not scope.get("is_for_visits", True):
        return
    if path[3] and code is Code.REQUEST_TIMEOUT:
        return  # the input was idle: there was no frame
    service = find_service(context, path[1], path[2])
    if service and service.makes_visits:
        context.meters.coverage.add_refused(stream.id, reason_of(code))
