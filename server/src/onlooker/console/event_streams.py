"""Answers that go on after their page: they hold no thread, no database connection and no request slot."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onlooker.console.web import counters
from onlooker.errors import Problem, overloaded
from onlooker.http.answers import send_problem

CONTINUATION = "onlooker.goes_on"
"""The key in the scope of a request under which a page says how its answer goes on."""
LIFETIME_S = 300.0
"""Then the browser reconnects, and everything is checked again."""
RETRY_AFTER_S = 15


@dataclass(frozen=True)
class Continuation:
    """The events after a page's answer, and the account they go to."""

    account_id: int
    events: Callable[[], AsyncIterator[bytes]]


class EventStreams:
    """ASGI middleware around the request limits: it sends a page's answer, and then the events that follow.

    Django itself would hold a thread, a database connection and a request slot all that time.
    """

    def __init__(self, app: ASGIApp, *, limit: int, account_limit: int) -> None:
        self._app = app
        self._limits = (limit, account_limit)
        self._open: Counter[int] = Counter()
        self._over = asyncio.Event()

    def end(self) -> None:
        """The process stops: all event streams end at once, and none begins."""
        self._over.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        held: list[Message] = []

        async def hold(message: Message) -> None:
            if CONTINUATION in scope:
                held.append(message)
            else:
                await send(message)

        await self._app(scope, receive, hold)
        if not held:
            return
        if held[0]["status"] == 200:
            await self._go_on(scope[CONTINUATION], held, receive, send)
        else:  # something went wrong after the page had asked to go on
            for message in held:
                await send(message)

    async def _go_on(self, continuation: Continuation, begun: list[Message], receive: Receive, send: Send) -> None:
        refusal = self._find_refusal(continuation.account_id)
        if refusal:
            await send_problem(refusal, send)
            return
        with self._place_of(continuation.account_id):
            for message in _as_beginning(begun):
                await send(message)
            await self._send_events(continuation.events(), receive, send)
            await send({"type": "http.response.body"})

    def _find_refusal(self, account_id: int) -> Problem | None:
        limit, account_limit = self._limits
        full = {"full": self._open.total() >= limit, "account_full": self._open[account_id] >= account_limit}
        for reason, is_full in full.items():
            if is_full:
                counters.live_refused(reason).inc()
                return overloaded("Too many live pages are open. Close some of them.", retry_after_s=RETRY_AFTER_S)
        return None

    @contextmanager
    def _place_of(self, account_id: int) -> Iterator[None]:
        self._open[account_id] += 1
        counters.live.inc()
        try:
            yield
        finally:
            counters.live.dec()
            self._open[account_id] -= 1
            self._open += Counter()  # drops accounts that have none open

    async def _send_events(self, events: AsyncIterator[bytes], receive: Receive, send: Send) -> None:
        """Until there are no more events, the browser leaves, the process stops, or the lifetime is over."""
        sending = asyncio.create_task(_send_all(events, send))
        others = [asyncio.create_task(_await_leaving(receive)), asyncio.create_task(self._over.wait())]
        try:
            await asyncio.wait([sending, *others], timeout=LIFETIME_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, *others):
                task.cancel()
            await asyncio.wait([sending, *others])
        if not sending.cancelled():
            sending.result()


def _as_beginning(messages: list[Message]) -> Iterator[Message]:
    """Turn a whole answer into the first part of a longer one."""
    start, *bodies = messages
    headers = [(name, value) for name, value in start["headers"] if name.lower() != b"content-length"]
    yield {**start, "headers": headers}
    for body in bodies:
        yield {**body, "more_body": True}


async def _send_all(events: AsyncIterator[bytes], send: Send) -> None:
    async for event in events:
        await send({"type": "http.response.body", "body": event, "more_body": True})


async def _await_leaving(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
