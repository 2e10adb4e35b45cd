"""What a stream or session may have of one gateway at once: turns, room, bytes a second, new sessions, visits."""

import asyncio
import math
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType

from starlette.types import Scope

from onlooker.errors import Code, Problem, overloaded
from onlooker.gateway.machine_turns import MachineTurns
from onlooker.settings import Settings
from onlooker.slots import SLOT_S
from onlooker.streams.rate_limit import RateLimit


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


@dataclass(frozen=True)
class Holder:
    """For whom room is held."""

    stream_id: int
    address: str | None
    """None: not known, because a proxy is in between."""


class SharedRoom:
    """One stream may have a part of it, one address a larger part, all together no more than all."""

    def __init__(self, limit: int, what: str, *, settings: Settings) -> None:
        self._limit = limit
        self._what = what
        self._per_stream = max(1, math.floor(limit * settings.stream_share))
        self._per_address = max(1, math.floor(limit * settings.address_share))
        self._by_stream: Counter[int] = Counter()
        self._by_address: Counter[str] = Counter()
        self.held = 0

    def open(self, holder: Holder) -> "Holding":
        return Holding(self, holder)

    @contextmanager
    def holding(self, holder: Holder, amount: int = 1) -> Iterator[None]:
        self.change(holder, amount)
        try:
            yield
        finally:
            self.change(holder, -amount)

    def change(self, holder: Holder, by: int) -> None:
        """Refuses what would be too much; giving back always works."""
        if by > 0:
            self._check(holder, by)
        self.held += by
        _add(self._by_stream, holder.stream_id, by)
        if holder.address is not None:
            _add(self._by_address, holder.address, by)

    def _check(self, holder: Holder, by: int) -> None:
        if self.held + by > self._limit:
            raise overloaded(f"This gateway has as many {self._what} as it may. Send less, or again in a moment.")
        if self._by_stream[holder.stream_id] + by > self._per_stream:
            raise _over_share(f"This stream has as many {self._what} as it may")
        if holder.address is not None and self._by_address[holder.address] + by > self._per_address:
            raise _over_share(f"Your address has as many {self._what} as it may")


class Holding:
    """What one request holds now."""

    def __init__(self, room: SharedRoom, holder: Holder) -> None:
        self._room = room
        self._holder = holder
        self._amount = 0

    def hold(self, amount: int) -> None:
        """From now on this request holds so much; refused where that is too much."""
        self._room.change(self._holder, amount - self._amount)
        self._amount = amount


def _add(counter: Counter, key: object, by: int) -> None:  # type: ignore[type-arg]
    counter[key] += by
    if not counter[key]:
        del counter[key]


def _over_share(what: str) -> Problem:
    sentence = f"{what}, so that there is room for others. Send less, or again in a moment."
    return Problem(Code.RATE_LIMITED, sentence, headers={"Retry-After": "1"})


def address_of(scope: Scope) -> str | None:
    """The client's address; of a proxy on this machine that we were not told to trust it says nothing."""
    client = scope.get("client")
    if client is None or (scope["scheme"] == "http" and client[0].startswith(("127.", "::1"))):
        return None
    return str(client[0])


STREAMS_REMEMBERED = 50_000


class ByteAllowance:
    """Of bytes or other amounts. Fills up over time.

    How much something takes shows when it is there, so a stream may owe for a while.
    """

    def __init__(self, *, per_second: float, burst_s: float) -> None:
        self.per_second = per_second
        self._burst_bytes = per_second * burst_s
        self._left: OrderedDict[int, tuple[float, float]] = OrderedDict()
        """Bytes left, and when."""

    def owing_s(self, stream_id: int) -> float:
        """How long until the stream owes nothing."""
        return max(0.0, -self._left_now(stream_id) / self.per_second)

    def charge(self, stream_id: int, size_bytes: int) -> None:
        left = self._left_now(stream_id) - size_bytes
        self._left[stream_id] = left, time.monotonic()
        self._left.move_to_end(stream_id)
        if len(self._left) > STREAMS_REMEMBERED:
            self._left.popitem(last=False)

    def _left_now(self, stream_id: int) -> float:
        left, then = self._left.get(stream_id, (self._burst_bytes, 0.0))
        return min(self._burst_bytes, left + (time.monotonic() - then) * self.per_second)


SESSIONS_REMEMBERED = 50_000


class NewSessions:
    """Remembers sessions, so that only the first request of one counts; one that was forgotten counts again."""

    def __init__(self, *, per_second: float, burst: int) -> None:
        self._rates = RateLimit(per_second=per_second, burst=burst, what="sessions")
        self._known: OrderedDict[str, None] = OrderedDict()

    def permit(self, stream_id: int, session: str) -> None:
        """Raises `rate_limited`."""
        if session not in self._known:
            self._rates.take(stream_id)
            self._known[session] = None
            if len(self._known) > SESSIONS_REMEMBERED:
                self._known.popitem(last=False)
        self._known.move_to_end(session)


VISITS_PER_SLOT = 5 * SLOT_S
"""Five people a second for a quarter of an hour: more than pass any camera, and more than can be followed."""
VISITS_REMEMBERED = 100_000


class NewVisits:
    """Remembers which visits devices told of, by slot; a slot that was forgotten starts to count from none."""

    def __init__(self, *, per_slot: int = VISITS_PER_SLOT, remembered: int = VISITS_REMEMBERED) -> None:
        self._per_slot = per_slot
        self._remembered = remembered
        self._held = 0
        self._known: OrderedDict[tuple[int, int], set[str]] = OrderedDict()

    def permit(self, stream_id: int, slot: int, visit_id: str) -> bool:
        """False if the stream has as many visits in the slot as it may; a known one is always permitted."""
        known = self._known.setdefault((stream_id, slot), set())
        self._known.move_to_end((stream_id, slot))
        if visit_id in known:
            return True
        if len(known) >= self._per_slot:
            return False
        known.add(visit_id)
        self._held += 1
        while self._held > self._remembered and len(self._known) > 1:
            self._held -= len(self._known.popitem(last=False)[1])
        return True
