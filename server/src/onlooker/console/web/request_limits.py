"""Limits on requests: their size, how long they may take to arrive, and how many run at a time."""

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onlooker.errors import Code, Problem, bad_request, overloaded
from onlooker.http.answers import send_problem

BODY_LIMIT_BYTES = 256 * 1024
BODY_TIME_LIMIT_S = 20.0
WAIT_LIMIT_S = 10.0


class RequestLimits:
    """ASGI middleware: reads the whole body, within limits, before Django sees the request."""

    def __init__(self, app: ASGIApp, *, requests_limit: int) -> None:
        self._app = app
        self._slots = asyncio.Semaphore(requests_limit)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await _read_body(scope, receive)
            async with asyncio.timeout(WAIT_LIMIT_S):
                await self._slots.acquire()
        except TimeoutError:
            await send_problem(overloaded("The console is busy. Try again in a moment.", retry_after_s=5), send)
            return
        except Problem as problem:
            await send_problem(problem, send)
            return
        if body is None:
            self._slots.release()
            return
        try:
            await self._app(scope, _replay(body, receive), send)
        finally:
            self._slots.release()


async def _read_body(scope: Scope, receive: Receive) -> bytes | None:
    """None if the client has disconnected."""
    length = Headers(scope=scope).get("content-length", "0")
    if not length.isdecimal():
        raise bad_request("Content-Length must be a number.")
    if int(length) > BODY_LIMIT_BYTES:
        raise _too_large()
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_TIME_LIMIT_S):
            more = True
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                body += message.get("body", b"")
                more = message.get("more_body", False)
                if len(body) > BODY_LIMIT_BYTES:
                    raise _too_large()
    except TimeoutError:
        raise Problem(Code.REQUEST_TIMEOUT, "The request took too long to arrive.") from None
    return bytes(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def read() -> Message:
        return messages.pop() if messages else await receive()

    return read


def _too_large() -> Problem:
    return Problem(Code.TOO_LARGE, f"The console accepts requests of up to {BODY_LIMIT_BYTES // 1024} KiB.")
