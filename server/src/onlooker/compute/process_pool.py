"""A worker's computing processes: one that all streams share, or one for each stream."""

import asyncio
import itertools
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial

from msgspec.structs import replace

from onlooker.compute import counters
from onlooker.compute.call_messages import CallAnswer, CallMessage
from onlooker.compute.fair_turns import FairTurns, Turn
from onlooker.compute.process_launch import Spares, StartedProcess
from onlooker.compute.service_process import ServiceProcess, stop_worker
from onlooker.settings import Settings, SettingsError

OVERDUE_S = 1.0
"""So long after a call's deadline nobody waits for the answer any more."""
LONG_IDLE_S = 60.0
"""After so long without a long call their process is ended."""
MEMORIES_REMEMBERED = 10_000


def processes_of(settings: Settings) -> "Processes":
    return StreamProcesses(settings) if settings.compute_processes == "stream" else SharedProcesses(settings)


class Processes(ABC):
    """What computes a worker's calls, each in its turn."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._turns = FairTurns(settings.worker_threads)
        self._spares = Spares(settings, settings.compute_spares)
        self._overdue: set[asyncio.Task[CallAnswer]] = set()
        self._ending: set[asyncio.Task[None]] = set()

    is_ready: bool
    is_confined: bool

    @abstractmethod
    def start(self, first: StartedProcess) -> None:
        """With a process that has seen no call."""

    async def stop(self) -> None:
        for overdue in self._overdue:
            overdue.cancel()
        while self._ending:
            await asyncio.wait(self._ending)
        await self._spares.stop()

    async def compute(self, call: CallMessage, deadline: float) -> CallAnswer:
        """The answer; raises ProcessEnded, ComputedTooLong, Crowded, or TimeoutError once nobody waits for it.

        Once begun a call goes on to its end: to stop it would stop those that are computed beside it.
        """
        begun = asyncio.Event()
        computing = asyncio.create_task(self._compute(call, deadline, begun))
        try:
            await asyncio.wait([computing], timeout=max(deadline - time.time(), 0) + OVERDUE_S)
        finally:
            if not begun.is_set():
                computing.cancel()
        if computing.done():
            return await computing
        if begun.is_set():
            self._overdue.add(computing)
            computing.add_done_callback(self._forget)
        raise TimeoutError

    @abstractmethod
    async def _compute(self, call: CallMessage, deadline: float, begun: asyncio.Event) -> CallAnswer:
        """Compute a call in its turn, and set `begun` when that comes."""

    def send_away(self, stream_id: int) -> bool:
        """Refuse a call of this stream that waits; False if none does."""
        return self._turns.send_away(stream_id)

    def _forget(self, overdue: asyncio.Task[CallAnswer]) -> None:
        self._overdue.discard(overdue)
        if not overdue.cancelled():
            overdue.exception()

    def _end(self, process: ServiceProcess) -> None:
        ending = asyncio.create_task(process.stop())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)


def _require_time(turn: Turn, deadline: float) -> None:
    """Do not begin what can't be ended in time."""
    if time.time() + turn.price_s > deadline + OVERDUE_S:
        raise TimeoutError


class SharedProcesses(Processes):
    """One process for the short calls of all streams, and one for the long calls while there are any."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._short = ServiceProcess(settings, self._spares)
        self._long: ServiceProcess | None = None
        self._memories = MemoryNumbers()
        self._idle: asyncio.TimerHandle | None = None

    @property
    def is_ready(self) -> bool:  # type: ignore[override]
        return self._short.is_ready

    @property
    def is_confined(self) -> bool:  # type: ignore[override]
        return self._short.is_confined

    def start(self, first: StartedProcess) -> None:
        self._short.start_with(first)
        self._spares.fill()

    async def stop(self) -> None:
        self._end(self._short)
        self._end_long()
        await super().stop()

    async def _compute(self, call: CallMessage, deadline: float, begun: asyncio.Event) -> CallAnswer:
        async with self._turns.take(call.sender.stream_id, call.service) as turn:
            _require_time(turn, deadline)
            process = await self._process_for_long() if turn.is_long else self._short
            turn.makes_way = partial(self._make_way, process)
            begun.set()
            try:
                answer = await process.compute(replace(call, memory=self._memories.number(call.memory, process)))
                turn.took_s = answer.cpu_s
                return answer
            finally:
                if turn.is_long:
                    self._start_idling()

    async def _process_for_long(self) -> ServiceProcess:
        if self._idle:
            self._idle.cancel()
        if self._long is None:
            self._long = ServiceProcess(self._settings, self._spares)
            self._long.make_expendable()
            await self._long.start()
        return self._long

    def _make_way(self, process: ServiceProcess) -> bool:
        """The process whose call takes long is for long ones from now on; a spare is for the short ones."""
        spare = self._spares.take_ready() if process is self._short else None
        if spare is None:
            return False
        self._end_long()
        self._long, self._short = process, ServiceProcess(self._settings, self._spares)
        self._long.make_expendable()
        self._short.start_with(spare)
        return True

    def _start_idling(self) -> None:
        if self._idle:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(LONG_IDLE_S, self._end_long)

    def _end_long(self) -> None:
        if self._idle:
            self._idle.cancel()
        if self._long:
            self._end(self._long)
            self._long = None


class MemoryNumbers:
    """What is remembered of a session is in the process that had its last call; in another it begins empty."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._last: OrderedDict[int, tuple[ServiceProcess, int]] = OrderedDict()

    def number(self, memory: int, process: ServiceProcess) -> int:
        """Under which number this process has it; 0 where there is nothing to remember."""
        if not memory:
            return 0
        last = self._last.pop(memory, None)
        number = last[1] if last and last[0] is process else next(self._numbers)
        self._last[memory] = process, number
        if len(self._last) > MEMORIES_REMEMBERED:
            self._last.popitem(last=False)
        return number


@dataclass
class Tenancy:
    """A process that has only ever seen calls of one stream."""

    process: ServiceProcess
    start: asyncio.Task[None]
    calls: int = 0
    """In progress or waiting."""


class StreamProcesses(Processes):
    """A process for each stream; of too many, the one that was used least recently is ended, never passed on."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._tenancies: OrderedDict[int, Tenancy] = OrderedDict()
        self._room = asyncio.Condition()
        self.is_ready = False
        self.is_confined = False

    def start(self, first: StartedProcess) -> None:
        self.is_confined, self.is_ready = first.is_confined, True
        counters.confined.set(self.is_confined)
        self._spares.add(first)

    async def stop(self) -> None:
        while self._tenancies:
            self._end_tenancy(self._tenancies.popitem()[1])
        await super().stop()

    async def _compute(self, call: CallMessage, deadline: float, begun: asyncio.Event) -> CallAnswer:
        stream_id = call.sender.stream_id
        async with self._process_of(stream_id) as process, self._turns.take(stream_id, call.service) as turn:
            _require_time(turn, deadline)
            begun.set()
            answer = await process.compute(call)
            turn.took_s = answer.cpu_s
            return answer

    @asynccontextmanager
    async def _process_of(self, stream_id: int) -> AsyncIterator[ServiceProcess]:
        tenancy = await self._hold(stream_id)
        try:
            await asyncio.shield(tenancy.start)
            yield tenancy.process
        finally:
            tenancy.calls -= 1
            async with self._room:
                self._room.notify_all()

    async def _hold(self, stream_id: int) -> Tenancy:
        async with self._room:
            while stream_id not in self._tenancies and not self._make_room():
                await self._room.wait()
            if stream_id not in self._tenancies:
                process = ServiceProcess(self._settings, self._spares, is_expendable=True)
                self._tenancies[stream_id] = Tenancy(process, asyncio.create_task(_start(process)))
            self._tenancies.move_to_end(stream_id)
            tenancy = self._tenancies[stream_id]
            tenancy.calls += 1
            return tenancy

    def _make_room(self) -> bool:
        """For one more process; False while all of them have calls."""
        if len(self._tenancies) < self._settings.compute_processes_limit:
            return True
        idle = next((stream_id for stream_id, tenancy in self._tenancies.items() if not tenancy.calls), None)
        if idle is None:
            return False
        counters.processes_killed("evicted").inc()
        self._end_tenancy(self._tenancies.pop(idle))
        return True

    def _end_tenancy(self, tenancy: Tenancy) -> None:
        ending = asyncio.create_task(_stop(tenancy))
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)


async def _start(process: ServiceProcess) -> None:
    try:
        await process.start()
    except SettingsError:
        stop_worker()
        raise


async def _stop(tenancy: Tenancy) -> None:
    tenancy.start.cancel()
    with suppress(asyncio.CancelledError, SettingsError):
        await tenancy.start
    await tenancy.process.stop()
