"""Requests of one session take turns, in order of arrival, and only so many wait."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from onlooker.errors import overloaded


@dataclass
class _Queue:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    inside: int = 0


class Turns:
    """One queue for each session that has a request here now."""

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._queues: dict[str, _Queue] = {}

    @asynccontextmanager
    async def take(self, session: str | None) -> AsyncIterator[None]:
        if session is None:
            yield
            return
        queue = self._queues.setdefault(session, _Queue())
        if queue.inside > self._limit:
            raise overloaded("Too many requests of this session wait already. Send the next after an answer.")
        queue.inside += 1
        try:
            async with queue.lock:
                yield
        finally:
            queue.inside -= 1
            if not queue.inside:
                del self._queues[session]
