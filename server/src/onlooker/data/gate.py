"""Around every request: an id, the token, the rate, a problem body, a count and a log line."""

import asyncio
import logging
import re
import time
from secrets import token_hex

import psycopg
from psycopg_pool import PoolTimeout
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onlooker.data import counters
from onlooker.data.origins import COMMON_HEADERS, METHODS, preflight_answer
from onlooker.data.parts import Parts
from onlooker.errors import Code, Problem, not_found, overloaded
from onlooker.gateway.answers import problem_answer
from onlooker.logs import fields
from onlooker.streams.bearers import read_token

log = logging.getLogger(__name__)

READ_LIMIT_S = 60.0
"""A client that takes nothing for so long is not waited for."""
_REQUEST_ID = re.compile(r"[A-Za-z0-9_.-]{8,64}")
_COMMON = [(name.lower().encode(), value.encode()) for name, value in COMMON_HEADERS.items()]


class Gate:
    """ASGI middleware; behind it a request has a bearer, an id and a path without trailing slash."""

    def __init__(self, app: ASGIApp, parts: Parts, open_paths: frozenset[str]) -> None:
        self._app = app
        self.parts = parts
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await Passage(self, scope, receive, send).run()

    async def admit(self, scope: Scope, headers: Headers) -> None:
        """Check token and rate, before anything else of the request is looked at."""
        if scope["path"] in self._open_paths:
            return
        bearer = scope["bearer"] = await self.parts.bearers.check(read_token(headers.get("authorization")))
        self.parts.rates.take(bearer.stream_id)

    async def forward(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


def _unrouted(error: HTTPException) -> Problem:
    """What the router says of a path or a method that is in no route."""
    if error.status_code == 405:
        detail = f"This resource has no such method. It has: {METHODS}."
        return Problem(Code.METHOD_NOT_ALLOWED, detail, headers={"Allow": METHODS})
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

    async def run(self) -> None:
        scope = self._scope
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        scope["request_id"] = given if _REQUEST_ID.fullmatch(given) else token_hex(16)
        scope["app"] = self._gate.parts
        if len(scope["path"]) > 1:
            scope["path"] = scope["path"].rstrip("/")
        try:
            await self._answer(headers)
        except Problem as problem:
            await self._refuse(problem)
        except HTTPException as error:
            await self._refuse(_unrouted(error))
        except (psycopg.OperationalError, PoolTimeout) as error:
            log.warning(
                "the database is away", extra=fields(request_id=scope["request_id"], error=type(error).__name__)
            )
            detail = "A part of the server is away. It should be back in a moment."
            await self._refuse(overloaded(detail, retry_after_s=2))
        except ClientDisconnect:
            self._status = 499
        except asyncio.CancelledError:
            # Only a server that stops cancels requests, those that take longer than its grace.
            await self._refuse(overloaded("This server is stopping. Ask again in a moment.", retry_after_s=5))
        except Exception:
            log.exception("request failed", extra=fields(request_id=scope["request_id"]))
            await self._refuse(
                Problem(Code.INTERNAL_ERROR, "The server failed. Its log says why, under the request id.")
            )
        finally:
            self._note()

    async def _answer(self, headers: Headers) -> None:
        if self._scope["method"] == "OPTIONS":
            await preflight_answer()(self._scope, self._receive, self._send_noted)
            return
        await self._gate.admit(self._scope, headers)
        await self._gate.forward(self._scope, self._receive, self._send_noted)

    async def _send_noted(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            message["headers"] += [*_COMMON, (b"x-request-id", self._scope["request_id"].encode())]
        try:
            async with asyncio.timeout(READ_LIMIT_S):
                await self._send(message)
        except TimeoutError:
            raise ClientDisconnect from None

    async def _refuse(self, problem: Problem) -> None:
        self._code = problem.code
        counters.refusals(problem.code).inc()
        if self._status:
            # An answer is under way. It is not ended, so that the server breaks the connection.
            log.warning("answer broken off", extra=fields(request_id=self._scope["request_id"], code=problem.code))
            return
        answer = problem_answer(problem)
        answer.headers["Cache-Control"] = "no-store"
        await answer(self._scope, self._receive, self._send_noted)

    def _note(self) -> None:
        route = getattr(self._scope.get("endpoint"), "__name__", "none")
        seconds = time.perf_counter() - self._started
        counters.requests(route, self._status).inc()
        counters.request_time(route).observe(seconds)
        level = logging.DEBUG if self._status < 400 or self._code == Code.RATE_LIMITED else logging.INFO
        if log.isEnabledFor(level):
            bearer = self._scope.get("bearer")
            line = fields(
                request_id=self._scope["request_id"],
                method=self._scope["method"],
                route=route,
                status=self._status,
                code=self._code,
                ms=round(seconds * 1000, 1),
                stream=bearer.stream_id if bearer else None,
            )
            log.log(level, "request", extra=line)
