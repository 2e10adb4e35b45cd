"""The recorder process: takes visits off the bus, writes them to PostgreSQL, and acknowledges after the commit."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import partial

from nats.aio.msg import Msg

from onlooker.bus.bucket_usage import BucketWatch
from onlooker.bus.connection import Bus, BusError, connect
from onlooker.bus.session_store import SessionBucket, decode_state
from onlooker.bus.visit_stream import VisitQueue, deliveries
from onlooker.clock_check import ClockCheck
from onlooker.database import DATABASE_FAILED, Pool, open_pool
from onlooker.logs import fields
from onlooker.monitoring import serve_monitoring, stop_signal
from onlooker.settings import Settings
from onlooker.visits import counters
from onlooker.visits.partitions import Partitions
from onlooker.visits.retention import remove_expired
from onlooker.visits.session_end import UNREADABLE, SilentSessions, last_visits
from onlooker.visits.writer import VisitRefusal, VisitWriter, put_bytes_aside, put_visit_aside
from onlooker_pipeline.visits.visit import Visit, decode_visit

log = logging.getLogger(__name__)

TRIES = 3
RETRY_S = 2.0
AWAY_PAUSE_S = 1.0
CHECK_EVERY_S = 5.0
MEASURE_EVERY_S = 30.0
MAINTAIN_EVERY_S = 3600.0
STOP_LIMIT_S = 5.0


@dataclass(frozen=True)
class Taken:
    """A message and the visits in it."""

    message: Msg
    visits: list[Visit]


def read_message(message: Msg) -> Taken | None:
    """None for anything but a visit or the last state of a session that its client ended."""
    try:
        if not message.subject.startswith("ended."):
            return Taken(message, [decode_visit(message.data)])
        state = decode_state(message.data)
        if state is None:
            return None
        counters.closed("deleted").inc()
        return Taken(message, last_visits(state))
    except UNREADABLE:
        return None


class Recorder:
    """Writes what it takes, batch by batch. Nothing is acknowledged before it is written or put aside."""

    def __init__(self, pool: Pool, queue: VisitQueue, writer: VisitWriter, clock: ClockCheck, *, batch: int) -> None:
        self._pool = pool
        self._clock = clock
        self._queue = queue
        self._writer = writer
        self._batch = batch
        self._writing = asyncio.Lock()
        self.ready = False

    async def run(self) -> None:
        """Run until cancelled. If the database is away, wait for it with the batch in hand."""
        while True:
            await self._clock.wait_until_right()
            messages = await self._queue.take(self._batch)
            if messages:
                async with self._writing:
                    await self._record(messages)

    async def stop(self, running: "asyncio.Task[None]") -> None:
        """Stop between two batches, if one ends soon."""
        try:
            async with asyncio.timeout(STOP_LIMIT_S), self._writing:
                running.cancel()
        except TimeoutError:
            running.cancel()
        await self._queue.give_back()

    async def _record(self, messages: list[Msg]) -> None:
        while True:
            try:
                await self._write(messages)
            except DATABASE_FAILED as error:  # the writer reports itself what is a visit's fault
                self.ready = False
                log.warning("visits wait for the database", extra=fields(error=str(error), messages=len(messages)))
                await self._queue.keep(messages)
                await asyncio.sleep(AWAY_PAUSE_S)
            else:
                self.ready = True
                return

    async def _write(self, messages: list[Msg]) -> None:
        taken: list[Taken] = []
        for message in messages:
            read = read_message(message)
            if read:
                taken.append(read)
            else:
                await put_bytes_aside(self._pool, message.subject, message.data)
                await self._queue.acknowledge([message])
        refusals = await self._writer.write(visit for one in taken for visit in one.visits)
        refused = {(refusal.visit.id, refusal.visit.revision): refusal for refusal in refusals}
        written: list[Msg] = []
        for one in taken:
            found = [refused[key] for visit in one.visits if (key := (visit.id, visit.revision)) in refused]
            if not found or await self._give_up(one.message, found):
                written.append(one.message)
        await self._queue.acknowledge(written)

    async def _give_up(self, message: Msg, refusals: list[VisitRefusal]) -> bool:
        """Put refused visits aside after some attempts; until then, take them again a little later."""
        if deliveries(message) < TRIES and any(refusal.reason == "refused" for refusal in refusals):
            await self._queue.postpone(message, RETRY_S)
            return False
        for refusal in refusals:
            log.error("visit put aside", extra=fields(stream=refusal.visit.stream_id, reason=refusal.reason))
            await put_visit_aside(self._pool, refusal)
        return True

    async def note_database(self) -> None:
        async with self._pool.connection():
            self.ready = True


async def _every(seconds: float, clock: ClockCheck, act: Callable[[], Awaitable[object]]) -> None:
    """Repeat until cancelled, while the clock is right; sooner after the bus or the database was away."""
    while True:
        await clock.wait_until_right()
        try:
            await act()
            await asyncio.sleep(seconds)
        except (*DATABASE_FAILED, BusError) as error:
            log.warning("put off", extra=fields(error=repr(error)))
            await asyncio.sleep(min(seconds, CHECK_EVERY_S))


async def _maintain(pool: Pool, partitions: Partitions) -> None:
    await partitions.make_ahead(time.time())
    await remove_expired(pool, partitions, now=time.time())


async def _check(recorder: Recorder, queue: VisitQueue, silent: SilentSessions) -> None:
    await recorder.note_database()
    counters.waiting.set(await queue.count_waiting())
    await silent.show_quiet()
    await silent.close_silent()


async def run_recorder(settings: Settings, follow: Callable[[Pool, Settings], Coroutine[None, None, None]]) -> None:
    """Run until SIGTERM or SIGINT, then finish the current batch. `follow` runs beside it, on the same pool."""
    bus = await connect(settings, name="recorder")
    async with open_pool(settings) as pool:
        clock = ClockCheck(settings)
        await clock.measure(pool)
        stop = stop_signal()
        queue, partitions = VisitQueue(bus), Partitions(pool)
        writer = VisitWriter(pool, partitions)
        recorder = Recorder(pool, queue, writer, clock, batch=settings.recorder_batch)
        sessions = SessionBucket(bus, settings)
        silent = SilentSessions(pool, writer, sessions, idle_s=settings.session_idle_s)
        await queue.start()
        log.info("recorder ready")
        async with asyncio.TaskGroup() as group:
            running = group.create_task(recorder.run())
            others = [
                group.create_task(_every(MAINTAIN_EVERY_S, clock, partial(_maintain, pool, partitions))),
                group.create_task(_every(CHECK_EVERY_S, clock, partial(_check, recorder, queue, silent))),
                group.create_task(_every(MEASURE_EVERY_S, clock, BucketWatch(bus, settings).measure)),
                group.create_task(clock.run(pool)),
                group.create_task(serve_monitoring(settings, partial(_readiness, bus, recorder, clock), clock.facts)),
                group.create_task(follow(pool, settings)),
            ]
            await stop.wait()
            await recorder.stop(running)
            for task in others:
                task.cancel()
    await bus.close()
    log.info("recorder stopped")


def _readiness(bus: Bus, recorder: Recorder, clock: ClockCheck) -> dict[str, bool]:
    return {"bus": bus.is_connected, "database": recorder.ready, "clock": clock.is_right}
