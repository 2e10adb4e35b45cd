"""The gate around every request: an id, admission, problems for what fails, metrics and a log line."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onlooker.database import DATABASE_UNAVAILABLE
from onlooker.errors import Code, Problem, overloaded
from onlooker.http.access_log import AccessLog, choose_request_id
from onlooker.http.answers import dependency_unavailable, problem_answer, unrouted_problem
from onlooker.http.cors import CorsPolicy, HeaderPairs
from onlooker.logs import fields

log = logging.getLogger(__name__)


def _release_nothing(scope: Scope) -> None:
    """For processes whose requests hold nothing."""


@dataclass(frozen=True, kw_only=True)
class GateRules:
    """What a process hands the gate: its own admission, refusals, and what surrounds its answers."""

    context: object
    """Found by handlers as `request.scope["app"]`."""
    cors: CorsPolicy
    access_log: AccessLog
    admit: Callable[[Scope, Headers], Awaitable[None]]
    """Raises Problem, or sets `stream_id` in the scope, before anything else of the request is read."""
    note_refusal: Callable[[Scope, Code, bool], None]
    """Told of every refusal; the last argument says whether the answer had begun, and so is broken off."""
    is_routine: Callable[[int, str | None], bool]
    """Whether a request with this status and code is logged at debug level only."""
    release: Callable[[Scope], None] = _release_nothing
    """Called when a request has ended, whatever happened."""
    unavailable: tuple[type[Exception], ...] = DATABASE_UNAVAILABLE
    """Exceptions that say that a part of the server can't be reached."""
    headers: HeaderPairs = ()
    """On every answer."""
    refusal_headers: dict[str, str] = field(default_factory=dict)
    methods: str = ""
    """Of every path, if they all have the same."""
    send_limit_s: float | None = None
    """A client that reads nothing for this long is disconnected."""


class Gate:
    """ASGI middleware; behind it a request is admitted and has an id and a path without trailing slash."""

    def __init__(self, app: ASGIApp, rules: GateRules) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await RequestCycle(self._app, self._rules, scope, receive, send).run()


class RequestCycle:
    """One request and its answer."""

    def __init__(self, app: ASGIApp, rules: GateRules, scope: Scope, receive: Receive, send: Send) -> None:
        self._app = app
        self._rules = rules
        self._scope = scope
        self._receive = receive
        self._send = send
        self._started = time.perf_counter()
        self._status = 0
        self._code: str | None = None
        self._headers: HeaderPairs = ()

    async def run(self) -> None:
        scope = self._scope
        headers = Headers(scope=scope)
        scope["request_id"] = choose_request_id(headers.get("x-request-id", ""))
        scope["app"] = self._rules.context
        self._headers = (
            (b"x-request-id", scope["request_id"].encode()),
            *self._rules.cors.headers(headers.get("origin")),
            *self._rules.headers,
        )
        if len(scope["path"]) > 1:
            scope["path"] = scope["path"].rstrip("/")
        try:
            await self._serve(headers)
        finally:
            self._rules.release(scope)
            self._record()

    async def _serve(self, headers: Headers) -> None:
        """Answer, whatever happens."""
        request_id = self._scope["request_id"]
        try:
            await self._answer(headers)
        except Problem as problem:
            await self._refuse(problem)
        except HTTPException as error:
            await self._refuse(unrouted_problem(error, methods=self._rules.methods))
        except self._rules.unavailable as error:
            log.warning("a part is unavailable", extra=fields(request_id=request_id, error=type(error).__name__))
            await self._refuse(dependency_unavailable())
        except ClientDisconnect:
            self._status = 499
        except asyncio.CancelledError:
            # Only a server that stops cancels requests: those that take longer than its grace period.
            await self._refuse(overloaded("This server is stopping. Try again in a moment.", retry_after_s=5))
        except Exception:
            log.exception("request failed", extra=fields(request_id=request_id))
            await self._refuse(
                Problem(Code.INTERNAL_ERROR, "The server failed. Its log says why, under the request id.")
            )

    async def _answer(self, headers: Headers) -> None:
        preflight = self._rules.cors.preflight(self._scope["method"], headers)
        if preflight:
            await preflight(self._scope, self._receive, self._send_message)
            return
        await self._rules.admit(self._scope, headers)
        await self._app(self._scope, self._receive, self._send_message)

    async def _send_message(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            message["headers"].extend(self._headers)
        if self._rules.send_limit_s is None:
            await self._send(message)
            return
        try:
            async with asyncio.timeout(self._rules.send_limit_s):
                await self._send(message)
        except TimeoutError:
            raise ClientDisconnect from None

    async def _refuse(self, problem: Problem) -> None:
        self._code = problem.code
        broken = bool(self._status)
        self._rules.note_refusal(self._scope, problem.code, broken)
        if broken:
            return  # the answer stays incomplete, so that the server breaks the connection
        answer = problem_answer(problem, self._rules.refusal_headers)
        await answer(self._scope, self._receive, self._send_message)

    def _record(self) -> None:
        self._rules.access_log.record(
            getattr(self._scope.get("endpoint"), "__name__", "none"),
            self._status,
            time.perf_counter() - self._started,
            routine=self._rules.is_routine(self._status, self._code),
            request_id=self._scope["request_id"],
            method=self._scope["method"],
            code=self._code,
            stream=self._scope.get("stream_id"),
        )
