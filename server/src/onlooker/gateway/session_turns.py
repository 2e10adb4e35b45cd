"""Turns: requests of one session are handled one after the other."""

import asyncio
from dataclasses import dataclass, field
from types import TracebackType

from onlooker.errors import overloaded
from onlooker.gateway.machine_turns import MachineTurns


@dataclass
class _SessionQueue:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    inside: int = 0


class SessionTurn:
    """`async with turn:` waits for the requests before it; a request without a session does not wait."""

    _arrived_at = 0.0
    _is_first = True
    """Whether no other gateway of the machine has a request of the session."""

    def __init__(
        self, queues: dict[str, _SessionQueue], session: str | None, limit: int, machine: MachineTurns | None
    ) -> None:
        self._queues = queues
        self._session = session
        self._limit = limit
        self._machine = machine

    async def __aenter__(self) -> None:
        if self._session is None:
            return
        queue = self._queues.get(self._session)
        if queue is None:
            queue = self._queues[self._session] = _SessionQueue()
        if queue.inside > self._limit:
            raise overloaded("Too many requests of this session wait already. Send the next after an answer.")
        queue.inside += 1
        if self._machine:
            self._arrived_at, self._is_first = self._machine.arrive(self._session)
        try:
            await queue.lock.acquire()
            if not self._is_first:
                await self._await_machine(queue)
        except BaseException:
            self._leave(queue)
            raise

    async def _await_machine(self, queue: _SessionQueue) -> None:
        """The turn among the gateways of this machine."""
        if self._machine and self._session:
            try:
                await self._machine.await_turn(self._session, self._arrived_at)
            except BaseException:
                queue.lock.release()
                raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            queue = self._queues[self._session]
            queue.lock.release()
            self._leave(queue)

    def _leave(self, queue: _SessionQueue) -> None:
        if self._machine and self._session:
            self._machine.leave(self._session, self._arrived_at)
        queue.inside -= 1
        if not queue.inside and self._session is not None:
            del self._queues[self._session]


class SessionTurns:
    """Requests of one session take turns, in order of arrival, and only so many may wait."""

    def __init__(self, *, limit: int, machine: MachineTurns | None = None) -> None:
        self._limit = limit
        self._machine = machine
        self._queues: dict[str, _SessionQueue] = {}

    def take(self, session: str | None) -> SessionTurn:
        return SessionTurn(self._queues, session, self._limit, self._machine)
