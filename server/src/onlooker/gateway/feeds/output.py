"""A feed's record, and its output: results as parts of one long answer, exactly as the historic client parses them."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from onlooker.bus.subjects import feed_subject
from onlooker.gateway.context import GatewayContext


class FeedRecord(msgspec.Struct, frozen=True):
    """What gateways share about a feed: its service, its session, and the fields of all its frames."""

    service: str
    version: int
    session: str | None
    params: dict[str, Any]


def feed_key(stream_id: int, feed_id: uuid.UUID) -> str:
    """The owner is part of the key, so that no other stream can find it."""
    return f"{stream_id}.{feed_id.hex}"


AGAIN = b"again"
"""Answered by a reader that left before it had the whole result: give it to the next one."""
END = b"end"
"""Sent to the holder of the output when the input has ended; a result starts with a brace."""


OUTPUT_TYPE = "multipart/x-mixed-replace; boundary=myboundary; charset=utf-8"
CLOSING = b"--myboundary--\r\n"
WRITTEN = b""
_leaving: set[asyncio.Task[None]] = set()


class FeedOutput:
    """Takes results off the bus one at a time; each is acknowledged when it has been written."""

    def __init__(self, context: GatewayContext, feed_id: uuid.UUID) -> None:
        self._client = context.bus.client
        self._idle_s = context.settings.feed_idle_s
        self._subject = feed_subject(feed_id.hex)
        self._results: asyncio.Queue[Msg] = asyncio.Queue(maxsize=4)

    async def parts(self) -> AsyncIterator[bytes]:
        subscription = await self._client.subscribe(self._subject, queue="output", cb=self._results.put)
        unwritten: Msg | None = None
        try:
            while (unwritten := await self._next()) and unwritten.data != END:
                yield _part(unwritten.data)
                await unwritten.respond(WRITTEN)
            if unwritten:
                await unwritten.respond(WRITTEN)
            unwritten = None
        finally:
            # In a task of its own: a reader that left has cancelled this one.
            leaving = asyncio.create_task(self._leave(subscription, unwritten))
            _leaving.add(leaving)
            leaving.add_done_callback(_leaving.discard)
        yield CLOSING

    async def _next(self) -> Msg | None:
        """The next result, or None when the feed has been idle for too long."""
        try:
            async with asyncio.timeout(self._idle_s):
                return await self._results.get()
        except TimeoutError:
            return None

    async def _leave(self, subscription: Subscription, unwritten: Msg | None) -> None:
        """Give back what was not written, so that the input can give it to the next reader."""
        await subscription.unsubscribe()
        for message in [unwritten, *(self._results.get_nowait() for _ in range(self._results.qsize()))]:
            if message:
                await message.respond(AGAIN)


def _part(result: bytes) -> bytes:
    head = f"--myboundary\r\nContent-Type: application/json\r\nContent-Length: {len(result)}\r\n\r\n"
    return head.encode() + result + b"\r\n"
