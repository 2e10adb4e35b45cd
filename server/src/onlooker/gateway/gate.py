"""Around every request: an id, the credentials, the rate, a problem body, a count and a log line."""

import asyncio
import logging
import re
import time
from functools import partial
from secrets import token_hex

import psycopg
from psycopg_pool import PoolTimeout
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onlooker.bus.connection import BusError
from onlooker.errors import Code, Problem, not_found, overloaded
from onlooker.gateway import counters
from onlooker.gateway.answers import problem_answer
from onlooker.gateway.auth import read_credentials, refusal
from onlooker.gateway.blobstore import StoreError
from onlooker.gateway.origins import Origins, preflight_answer
from onlooker.gateway.parts import Parts
from onlooker.gateway.refused_frames import count_refused
from onlooker.logs import fields
from onlooker.streams.credentials import StreamRecord

log = logging.getLogger(__name__)

REPEATED = (Code.RATE_LIMITED, Code.QUOTA_EXCEEDED, Code.STREAM_DISABLED)
"""A camera that may not compute sends on; it would fill the log with lines that are all the same."""
_REQUEST_ID = re.compile(r"[A-Za-z0-9_.-]{8,64}")


class Gate:
    """ASGI middleware; behind it a request has a stream, an id and a path without trailing slash."""

    def __init__(self, app: ASGIApp, parts: Parts, open_paths: frozenset[str]) -> None:
        self._app = app
        self.parts = parts
        self._open_paths = open_paths
        self.origins = Origins(parts.settings.console_url)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await Passage(self, scope, receive, send).run()

    async def admit(self, scope: Scope, headers: Headers) -> None:
        """Check credentials and rate, before anything of the request is looked at."""
        if scope["path"] in self._open_paths:
            return
        check = partial(self._check, *read_credentials(headers.get("authorization")))
        stream = scope["stream"] = await check()
        scope["check_again"] = check
        self.parts.rates.take(stream.id)

    async def _check(self, client_id: str, access_token: str) -> StreamRecord:
        stream = await self.parts.credentials.check(client_id, access_token)
        if stream is None:
            raise refusal()
        return stream

    async def forward(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


def _unrouted(error: HTTPException) -> Problem:
    """What the router says of a path or a method that is in no route."""
    if error.status_code == 405:
        headers = dict(error.headers or {})
        detail = f"This resource has no such method. It has: {headers.get('Allow', 'none')}."
        return Problem(Code.METHOD_NOT_ALLOWED, detail, headers=headers)
    return not_found("resource")


class Passage:
    """One request on its way through the gate."""

    def __init__(self, gate: Gate, scope: Scope, receive: Receive, send: Send) -> None:
        self._gate = gate
        self._scope = scope
        self._receive = receive
        self._send = send
        self._started = time.perf_counter()
        self._status = 0
        self._code: str | None = None
        self._origin_headers: tuple[tuple[bytes, bytes], ...] = ()

    async def run(self) -> None:
        scope = self._scope
        headers = Headers(scope=scope)
        self._origin_headers = self._gate.origins.headers(headers.get("origin"))
        given = headers.get("x-request-id", "")
        scope["request_id"] = given if _REQUEST_ID.fullmatch(given) else token_hex(16)
        scope["app"] = self._gate.parts
        scope["holding"] = holding = self._gate.parts.memory.open()
        if len(scope["path"]) > 1:
            scope["path"] = scope["path"].rstrip("/")
        try:
            if self._gate.origins.is_preflight(scope["method"], headers):
                await preflight_answer()(scope, self._receive, self._send_noted)
                return
            await self._gate.admit(scope, headers)
            await self._gate.forward(scope, self._receive, self._send_noted)
        except Problem as problem:
            await self._refuse(problem)
        except HTTPException as error:
            await self._refuse(_unrouted(error))
        except (psycopg.OperationalError, PoolTimeout, BusError, StoreError) as error:
            log.warning("a part is away", extra=fields(request_id=scope["request_id"], error=type(error).__name__))
            await self._refuse(
                overloaded("A part of the server is away. It should be back in a moment.", retry_after_s=2)
            )
        except ClientDisconnect:
            self._status = 499
        except asyncio.CancelledError:
            # Only a server that stops cancels requests, those that take longer than its grace.
            await self._refuse(overloaded("This server is stopping. Send it again in a moment.", retry_after_s=5))
        except Exception:
            log.exception("request failed", extra=fields(request_id=scope["request_id"]))
            await self._refuse(
                Problem(Code.INTERNAL_ERROR, "The server failed. Its log says why, under the request id.")
            )
        finally:
            holding.hold(0)
            self._note()

    async def _send_noted(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            message["headers"].append((b"x-request-id", self._scope["request_id"].encode()))
            message["headers"].extend(self._origin_headers)
        await self._send(message)

    async def _refuse(self, problem: Problem) -> None:
        if self._status:
            return  # too late: an answer is under way
        self._code = problem.code
        counters.refusals(problem.code).inc()
        count_refused(self._gate.parts, self._scope, problem.code)
        await problem_answer(problem)(self._scope, self._receive, self._send_noted)

    def _note(self) -> None:
        endpoint = self._scope.get("endpoint")
        route = getattr(endpoint, "__name__", "none")
        seconds = time.perf_counter() - self._started
        counters.requests(route, self._status).inc()
        counters.request_time(route).observe(seconds)
        quiet = self._status < 300 or self._code in REPEATED
        level = logging.DEBUG if quiet else logging.INFO
        if log.isEnabledFor(level):
            stream = self._scope.get("stream")
            line = fields(
                request_id=self._scope["request_id"],
                method=self._scope["method"],
                route=route,
                status=self._status,
                code=self._code,
                ms=round(seconds * 1000, 1),
                stream=stream.id if stream else None,
            )
            log.log(level, "request", extra=line)
