"""Around all pages: how large a request may be, how long it may take to come, how many at a time."""

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onlooker.errors import Code, Problem, bad_request, overloaded
from onlooker.listening.refusal import refuse

BODY_LIMIT_BYTES = 256 * 1024
BODY_TIME_LIMIT_S = 20.0
WAIT_LIMIT_S = 10.0


class Bounds:
    """ASGI middleware: reads a body whole, within limits, before Django sees the request."""

    def __init__(self, app: ASGIApp, *, requests_limit: int) -> None:
        self._app = app
        self._places = asyncio.Semaphore(requests_limit)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await _read_body(scope, receive)
            async with asyncio.timeout(WAIT_LIMIT_S):
                await self._places.acquire()
        except TimeoutError:
            await refuse(overloaded("The console is busy. Try again in a moment.", retry_after_s=5), send)
            return
        except Problem as problem:
            await refuse(problem, send)
            return
        if body is None:
            self._places.release()
            return
        try:
            await self._app(scope, _replay(body, receive), send)
        finally:
            self._places.release()


async def _read_body(scope: Scope, receive: Receive) -> bytes | None:
    """None when the client is gone."""
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
    return Problem(Code.TOO_LARGE, f"The console takes {BODY_LIMIT_BYTES // 1024} KiB a request.")
