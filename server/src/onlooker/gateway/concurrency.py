"""Limits on what happens at once in one gateway: requests of a session, synchronous jobs, bytes of bodies."""

import asyncio
from dataclasses import dataclass, field
from types import TracebackType

from onlooker.errors import overloaded


@dataclass
class _SessionQueue:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    inside: int = 0


class SessionTurn:
    """`async with turn:` waits for the requests before it; a request without a session does not wait."""

    def __init__(self, queues: dict[str, _SessionQueue], session: str | None, limit: int) -> None:
        self._queues = queues
        self._session = session
        self._limit = limit

    async def __aenter__(self) -> None:
        if self._session is None:
            return
        queue = self._queues.get(self._session)
        if queue is None:
            queue = self._queues[self._session] = _SessionQueue()
        if queue.inside > self._limit:
            raise overloaded("Too many requests of this session wait already. Send the next after an answer.")
        queue.inside += 1
        try:
            await queue.lock.acquire()
        except BaseException:
            self._leave(queue)
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            queue = self._queues[self._session]
            queue.lock.release()
            self._leave(queue)

    def _leave(self, queue: _SessionQueue) -> None:
        queue.inside -= 1
        if not queue.inside and self._session is not None:
            del self._queues[self._session]


class SessionTurns:
    """Requests of one session take turns, in order of arrival, and only so many may wait."""

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._queues: dict[str, _SessionQueue] = {}

    def take(self, session: str | None) -> SessionTurn:
        return SessionTurn(self._queues, session, self._limit)


class ConcurrentJobs:
    """How many synchronous jobs one gateway computes at a time: `with jobs:` counts one, or refuses it."""

    def __init__(self, limit: int) -> None:
        self._free = limit

    def __enter__(self) -> None:
        if self._free <= 0:
            raise overloaded("This gateway has as many jobs in progress as it may. Send less, or add workers.")
        self._free -= 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._free += 1


class BodyMemory:
    """How many bytes of bodies one gateway holds, over all its requests; more are refused."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self.held_bytes = 0

    def open(self) -> "HeldBytes":
        return HeldBytes(self)

    def change(self, by_bytes: int) -> None:
        if by_bytes > 0 and self.held_bytes + by_bytes > self._limit_bytes:
            raise overloaded("This gateway holds as many bytes of requests as it may. Send again in a moment.")
        self.held_bytes += by_bytes


class HeldBytes:
    """What one request holds now."""

    def __init__(self, memory: BodyMemory) -> None:
        self._memory = memory
        self._bytes = 0

    def hold(self, size_bytes: int) -> None:
        """From now on this request holds so much; refused when all together would hold too much."""
        self._memory.change(size_bytes - self._bytes)
        self._bytes = size_bytes
