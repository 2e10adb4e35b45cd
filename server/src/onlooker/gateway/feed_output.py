"""A feed's output: results as parts of one long answer, exactly as the historic client parses them."""

import asyncio
import uuid
from collections.abc import AsyncIterator

from nats.aio.msg import Msg

from onlooker.bus.subjects import feed_subject
from onlooker.gateway.feed_record import END
from onlooker.gateway.parts import Parts

OUTPUT_TYPE = "multipart/x-mixed-replace; boundary=myboundary; charset=utf-8"
CLOSING = b"--myboundary--\r\n"


class FeedOutput:
    """Takes results off the bus one at a time; each is acknowledged when it has been written."""

    def __init__(self, parts: Parts, feed_id: uuid.UUID) -> None:
        self._client = parts.bus.client
        self._idle_s = parts.settings.feed_idle_s
        self._subject = feed_subject(feed_id.hex)
        self._results: asyncio.Queue[Msg] = asyncio.Queue(maxsize=4)

    async def parts(self) -> AsyncIterator[bytes]:
        subscription = await self._client.subscribe(self._subject, queue="output", cb=self._results.put)
        try:
            while True:
                try:
                    async with asyncio.timeout(self._idle_s):
                        message = await self._results.get()
                except TimeoutError:
                    break
                if message.data == END:
                    await message.respond(b"")
                    break
                yield _part(message.data)
                await message.respond(b"")
        finally:
            await subscription.unsubscribe()
        yield CLOSING


def _part(result: bytes) -> bytes:
    head = f"--myboundary\r\nContent-Type: application/json\r\nContent-Length: {len(result)}\r\n\r\n"
    return head.encode() + result + b"\r\n"
