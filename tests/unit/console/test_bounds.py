"""How large a request to the console may be, how long it may take to come, and how many are answered at a time."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from onlooker.console.web import request_limits
from onlooker.console.web.request_limits import BODY_LIMIT_BYTES, RequestLimits

Message = dict[str, Any]


async def echo(
    scope: Any, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
) -> None:
    message = await receive()
    assert message["more_body"] is False
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": message["body"]})


async def ask(app: Any, *pieces: bytes, length: int | None = None, pause_s: float = 0) -> tuple[int, bytes]:
    """Send a body in pieces; status and body of the answer."""
    waiting, sent = list(pieces), []

    async def receive() -> Message:
        await asyncio.sleep(pause_s)
        return {"type": "http.request", "body": waiting.pop(0), "more_body": bool(waiting)}

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [] if length is None else [(b"content-length", str(length).encode())]
    await app({"type": "http", "headers": headers}, receive, send)
    return sent[0]["status"], sent[1]["body"]


def test_a_body_reaches_the_pages_whole() -> None:
    assert asyncio.run(ask(RequestLimits(echo, requests_limit=1), b"in ", b"three ", b"pieces")) == (
        200,
        b"in three pieces",
    )


@pytest.mark.parametrize("length", [None, BODY_LIMIT_BYTES + 1])
def test_a_body_that_is_too_large_is_refused_before_anybody_reads_it(length: int | None) -> None:
    piece = b"x" * (BODY_LIMIT_BYTES // 2 + 1)
    status, body = asyncio.run(ask(RequestLimits(echo, requests_limit=1), piece, piece, b"", length=length))
    assert status == 413
    assert b'"code":"too_large"' in body


def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_limits, "BODY_TIME_LIMIT_S", 0.05)
    status, body = asyncio.run(ask(RequestLimits(echo, requests_limit=1), b"slow", b"", pause_s=1))
    assert status == 408
    assert b'"code":"request_timeout"' in body


def test_a_length_that_is_no_number_is_refused() -> None:
    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "headers": [(b"content-length", b"many")]}
    asyncio.run(RequestLimits(echo, requests_limit=1)(scope, receive, send))
    assert sent[0]["status"] == 400


class Counter:
    """An application whose requests stay until the door opens."""

    def __init__(self) -> None:
        self.door = asyncio.Event()
        self.under_way = self.most = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await self.door.wait()
        self.under_way -= 1
        await echo(scope, receive, send)


def test_more_than_so_many_at_a_time_are_refused_after_a_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_limits, "WAIT_LIMIT_S", 0.1)

    async def crowd() -> tuple[list[int], list[int], int]:
        counter = Counter()
        app = RequestLimits(counter, requests_limit=2)
        first = [asyncio.create_task(ask(app, b"")) for _ in range(2)]
        while counter.under_way < 2:
            await asyncio.sleep(0)
        refused = await asyncio.gather(*(ask(app, b"") for _ in range(3)))
        counter.door.set()
        answered = await asyncio.gather(*first)
        return [status for status, _ in answered], [status for status, _ in refused], counter.most

    assert asyncio.run(crowd()) == ([200, 200], [503, 503, 503], 2)


def test_who_waits_gets_the_place_that_becomes_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_limits, "WAIT_LIMIT_S", 60)

    async def crowd() -> tuple[list[int], int]:
        counter = Counter()
        app = RequestLimits(counter, requests_limit=2)
        asked = [asyncio.create_task(ask(app, b"")) for _ in range(10)]
        while counter.under_way < 2:
            await asyncio.sleep(0)
        counter.door.set()
        return [status for status, _ in await asyncio.gather(*asked)], counter.most

    assert asyncio.run(crowd()) == ([200] * 10, 2)
