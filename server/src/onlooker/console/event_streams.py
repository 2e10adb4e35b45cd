"""Answers that go on after their page is done: no thread, no connection and no place of a request is held meanwhile."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onlooker.console import counters
from onlooker.errors import Problem, overloaded
from onlooker.listening.refusal import refuse

GOES_ON = "onlooker.goes_on"
"""Where a page leaves word, in the scope of its request, that its answer goes on."""
LIFETIME_S = 300.0
"""Then the browser asks anew, and everything about it is checked again."""
RETRY_AFTER_S = 15


@dataclass(frozen=True)
class GoesOn:
    """What follows on a page's answer, and who is told."""

    account_id: int
    events: Callable[[], AsyncIterator[bytes]]


class EventStreams:
    """ASGI middleware around the bounds: what a page has answered is the beginning, and it goes on with events.

    Django itself would keep a thread, a connection to the database and a place of its request for all that time.
    """

    def __init__(self, app: ASGIApp, *, limit: int, account_limit: int) -> None:
        self._app = app
        self._limits = (limit, account_limit)
        self._open: Counter[int] = Counter()
        self._over = asyncio.Event()

    def end(self) -> None:
        """The process stops: all of them end at once, and none begins."""
        self._over.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        held: list[Message] = []

        async def hold(message: Message) -> None:
            if GOES_ON in scope:
                held.append(message)
            else:
                await send(message)

        await self._app(scope, receive, hold)
        if not held:
            return
        if held[0]["status"] == 200:
            await self._go_on(scope[GOES_ON], held, receive, send)
        else:  # something went wrong after the page had left word
            for message in held:
                await send(message)

    async def _go_on(self, goes_on: GoesOn, begun: list[Message], receive: Receive, send: Send) -> None:
        refusal = self._find_refusal(goes_on.account_id)
        if refusal:
            await refuse(refusal, send)
            return
        with self._place_of(goes_on.account_id):
            for message in _as_beginning(begun):
                await send(message)
            await self._send_events(goes_on.events(), receive, send)
            await send({"type": "http.response.body"})

    def _find_refusal(self, account_id: int) -> Problem | None:
        limit, account_limit = self._limits
        full = {"full": self._open.total() >= limit, "account_full": self._open[account_id] >= account_limit}
        for reason, is_full in full.items():
            if is_full:
                counters.live_refused(reason).inc()
                return overloaded("Too many pages are followed live. Close some.", retry_after_s=RETRY_AFTER_S)
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
            self._open += Counter()  # forgets who has none open

    async def _send_events(self, events: AsyncIterator[bytes], receive: Receive, send: Send) -> None:
        """Until there are no more, the browser is gone, the process stops, or its time is up."""
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
    """A whole answer as the first part of a longer one."""
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
