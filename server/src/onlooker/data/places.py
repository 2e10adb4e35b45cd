"""How many queries are asked of the database at a time: so many in all, and not all of them by one stream."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from onlooker.errors import overloaded

WAIT_LIMIT_S = 5.0


@dataclass
class _Queue:
    """The places of one stream."""

    free: asyncio.Semaphore
    inside: int = 0


class Places:
    """`async with places.take(stream_id):` waits for its turn, but not for long."""

    def __init__(self, limit: int) -> None:
        self._free = asyncio.Semaphore(limit)
        self._per_stream = max(1, limit // 2)
        self._queues: dict[int, _Queue] = {}

    @asynccontextmanager
    async def take(self, stream_id: int, *, wait_s: float | None = None) -> AsyncIterator[None]:
        """`wait_s` instead of the usual time."""
        limit_s = WAIT_LIMIT_S if wait_s is None else wait_s
        queue = self._queues.setdefault(stream_id, _Queue(asyncio.Semaphore(self._per_stream)))
        queue.inside += 1
        try:
            await _wait(queue.free, limit_s)
            try:
                await _wait(self._free, limit_s)
                try:
                    yield
                finally:
                    self._free.release()
            finally:
                queue.free.release()
        finally:
            queue.inside -= 1
            if not queue.inside:
                del self._queues[stream_id]


async def _wait(place: asyncio.Semaphore, limit_s: float) -> None:
    try:
        async with asyncio.timeout(limit_s):
            await place.acquire()
    except TimeoutError:
        detail = "Too many queries are under way. Ask again in a moment, for fewer at a time."
        raise overloaded(detail, retry_after_s=2) from None
