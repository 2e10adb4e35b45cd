"""The dispatcher process: leases accepted jobs and has them computed by the same engine."""

import asyncio
import logging
import time
from collections import deque
from contextlib import AsyncExitStack
from functools import partial
from operator import itemgetter
from typing import Any

import msgspec
import psycopg

from onlooker.bus.messages import failure
from onlooker.clock_check import ClockCheck
from onlooker.database import DATABASE_UNAVAILABLE, VANISHED_SERVER, Pool, direct_url, load_queries, open_pool
from onlooker.errors import Problem
from onlooker.fair_shares import FairShares, Prices
from onlooker.gateway import counters
from onlooker.gateway.blobstore import BlobStore, StoreError, attachment_path, open_store
from onlooker.gateway.context import open_engine
from onlooker.gateway.engine.engine import Engine
from onlooker.gateway.engine.tasks import new_task
from onlooker.gateway.meters import StreamMeters, is_for_visits
from onlooker.gateway.queue.cleanup import run_cleanup
from onlooker.gateway.queue.worker_list import keep_worker_list
from onlooker.logs import fields
from onlooker.monitoring import serve_monitoring, stop_signal
from onlooker.settings import Settings
from onlooker.streams.coverage import Reason
from onlooker_pipeline.catalogue import Catalogue, read_catalogue
from onlooker_pipeline.service_call import Sender

log = logging.getLogger(__name__)

POLL_EVERY_S = 2.0
"""How often expired leases are looked for; new jobs wake the dispatcher at once."""
RELEASE_WAIT_S = 1.0
UNKNOWN_PRICE_S = 0.05
"""What a stream's first job is expected to take."""
STOP_LIMIT_S = 10.0

_queries = load_queries("onlooker.gateway")


class Dispatcher:
    """Leases a few jobs at a time, and renews the leases while they compute."""

    def __init__(self, settings: Settings, pool: Pool, engine: Engine, blobs: BlobStore, clock: ClockCheck) -> None:
        self._settings = settings
        self._clock = clock
        self._pool = pool
        self._engine = engine
        self._blobs = blobs
        self._meters = StreamMeters(pool, settings)
        self._catalogue: Catalogue = read_catalogue(settings.extra_services)
        self._held: dict[int, asyncio.Task[None]] = {}
        self._shares, self._prices = FairShares(), Prices()
        self._charged_s: dict[int, float] = {}
        """What the jobs that are held are expected to take."""
        self._work_left = asyncio.Event()
        self.ready = False

    async def run(self) -> None:
        """Lease and compute until cancelled; waits for a database that is unavailable."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._listen())
            group.create_task(self._renew())
            group.create_task(self._meters.run())
            while True:
                await self._clock.wait_until_right()
                self._work_left.clear()
                try:
                    leased = await self._lease()
                    self.ready = True
                except DATABASE_UNAVAILABLE as error:
                    self.ready = False
                    log.warning("database unavailable", extra=fields(error=type(error).__name__))
                    await asyncio.sleep(POLL_EVERY_S)
                    continue
                if not leased:
                    await self._wait_for_work()

    async def stop(self) -> None:
        """Finish the leased jobs; another dispatcher leases those that are not finished in time."""
        if self._held:
            await asyncio.wait(self._held.values(), timeout=STOP_LIMIT_S)
        await self._meters.flush()

    async def _lease(self) -> int:
        room = self._settings.dispatcher_jobs - len(self._held)
        if room <= 0:
            return 0
        async with self._pool.connection() as connection:
            waiting = await (await connection.execute(_queries["waiting_jobs"], {"limit": room})).fetchall()
            if not waiting:
                return 0
            values = {"numbers": self._choose(waiting, room), "lease_s": self._settings.lease_s}
            rows = await (await connection.execute(_queries["lease_jobs"], values)).fetchall()
        leased = {row["number"] for row in rows}
        for job in waiting:
            if job["number"] not in leased:
                self._settle(job, 0.0)  # another dispatcher has it, or its turn comes later
        for row in sorted(rows, key=itemgetter("number")):
            number = row["number"]
            if number in self._held:
                continue
            self._held[number] = task = asyncio.create_task(self._finish(row))
            task.add_done_callback(partial(self._forget, number))
        return len(rows)

    def _choose(self, waiting: list[dict[str, Any]], room: int) -> list[int]:
        """The numbers of so many jobs: streams take turns by the compute time that they have had."""
        by_stream: dict[int, deque[dict[str, Any]]] = {}
        for row in waiting:
            by_stream.setdefault(row["stream_id"], deque()).append(row)
        numbers: list[int] = []
        while by_stream and len(numbers) < room:
            stream = self._shares.next(by_stream)
            row = by_stream[stream].popleft()
            if not by_stream[stream]:
                del by_stream[stream]
            price_s = self._prices.of(stream, row["service"]) or UNKNOWN_PRICE_S
            self._shares.charge(stream, price_s)
            self._charged_s[row["number"]] = price_s
            numbers.append(row["number"])
        return numbers

    def _forget(self, number: int, _: asyncio.Task[None]) -> None:
        del self._held[number]
        self._work_left.set()

    async def _wait_for_work(self) -> None:
        try:
            async with asyncio.timeout(POLL_EVERY_S):
                await self._work_left.wait()
        except TimeoutError:
            return

    async def _finish(self, row: dict[str, Any]) -> None:
        """Compute one job and write its result; or give it back, to be tried again."""
        try:
            result = await self._compute(row)
            if result is None:
                await self._execute("release_job", number=row["number"], wait_s=RELEASE_WAIT_S)
                return
            retention_s = self._settings.result_retention_s
            await self._execute("finish_job", number=row["number"], result=result, retention_s=retention_s)
            await self._blobs.remove([attachment_path(row["job_id"].hex, field) for field in row["attachments"]])
        except (*DATABASE_UNAVAILABLE, StoreError):
            log.warning("a job waits for the database or the blob store", extra=fields(request_id=row["request_id"]))
        except Exception:
            log.exception("job could not be finished", extra=fields(request_id=row["request_id"]))
        finally:
            self._settle(row, 0.0)  # where it was not computed

    async def _compute(self, row: dict[str, Any]) -> bytes | None:
        """The result, or None when there is no capacity now."""
        service = self._catalogue.get(row["service"], {}).get(row["version"])
        if service is None:
            return failure("service_gone", "This service is no longer offered.")
        attachments: dict[str, bytes] = {}
        for field in row["attachments"]:
            data = await self._blobs.get(attachment_path(row["job_id"].hex, field))
            if data is None:
                self.count_failed(row)
                return failure("attachment_gone", "An attachment of this job is no longer there.")
            attachments[field] = data
        task = new_task(
            service,
            msgspec.msgpack.decode(row["params"]),
            attachments,
            job_id=row["job_id"],
            sender=_sender_of(row),
            arrived_at=row["accepted"],
            session=row["session"],
            request_id=row["request_id"],
            time_limit_s=min(self._settings.job_time_limit_s, row["deadline"] - time.time()),
        )
        try:
            count_death = partial(self._execute, "count_death", number=row["number"])
            reply = await self._engine.run(service, task, deaths=row["worker_deaths"], count_death=count_death)
        except Problem:
            return None
        self._meters.count_reply(row["stream_id"], service, task, reply)
        self._settle(row, reply.compute_s)
        self._prices.note(row["stream_id"], service.name, reply.compute_s)
        counters.jobs(service.name, "finished", reply.error_code or "").inc()
        counters.queue_time(service.name).observe(reply.queue_s)
        counters.compute_time(service.name).observe(reply.compute_s)
        log.debug("job finished", extra=fields(request_id=task.request_id, job=task.id))
        return reply.result

    def _settle(self, job: dict[str, Any], took_s: float) -> None:
        """A stream pays what its job took, not what was expected of it."""
        self._shares.charge(job["stream_id"], took_s - self._charged_s.pop(job["number"], took_s))

    def count_failed(self, row: dict[str, Any]) -> None:
        """A job that ended without having been computed: if it was a frame for visits, its coverage misses it."""
        service = self._catalogue.get(row["service"], {}).get(row["version"])
        if service and is_for_visits(service, msgspec.msgpack.decode(row["params"])):
            self._meters.coverage.add_refused(row["stream_id"], Reason.FAILED)

    async def _execute(self, query: str, **values: Any) -> None:
        async with self._pool.connection() as connection:
            await connection.execute(_queries[query], values)

    async def _renew(self) -> None:
        """Keep other dispatchers off the jobs that are leased here."""
        while True:
            await asyncio.sleep(self._settings.lease_s / 3)
            if self._held:
                try:
                    await self._execute("renew_leases", numbers=list(self._held), lease_s=self._settings.lease_s)
                except DATABASE_UNAVAILABLE:
                    log.warning("leases not renewed")

    async def _listen(self) -> None:
        """Wake up at once when a gateway accepts a job."""
        while True:
            try:
                connection = await psycopg.AsyncConnection.connect(
                    direct_url(self._settings), autocommit=True, **VANISHED_SERVER
                )
                async with connection:
                    await connection.execute("LISTEN jobs")
                    while True:
                        await _readable(connection.fileno())
                        async for _ in connection.notifies(timeout=0):
                            self._work_left.set()
            except DATABASE_UNAVAILABLE:
                await asyncio.sleep(POLL_EVERY_S)


def _sender_of(row: dict[str, Any]) -> Sender:
    return Sender(
        stream_id=row["stream_id"],
        reads_age=row["reads_age"],
        reads_gender=row["reads_gender"],
        reads_expression=row["reads_expression"],
        retention_days=row["retention_days"],
        time_zone=row["time_zone"],
        reads_faces=row["reads_faces"],
    )


async def _readable(descriptor: int) -> None:
    """Wait until there is something to read; psycopg itself would look ten times a second."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(descriptor, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(descriptor)


async def run_dispatcher(settings: Settings) -> None:
    """Run until SIGTERM or SIGINT, then finish the leased jobs."""
    clock = ClockCheck(settings)
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(open_pool(settings))
        await clock.measure(pool)
        engine, workers = await stack.enter_async_context(open_engine(settings, name="dispatcher", clock=clock))
        stop = stop_signal()
        blobs = BlobStore(open_store(settings))
        dispatcher = Dispatcher(settings, pool, engine, blobs, clock)
        checks = partial(_readiness, engine, dispatcher, clock)
        log.info("dispatcher ready")
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(dispatcher.run()),
                group.create_task(run_cleanup(settings, pool, blobs, clock, count_failed=dispatcher.count_failed)),
                group.create_task(keep_worker_list(pool, workers)),
                group.create_task(clock.run(pool)),
                group.create_task(serve_monitoring(settings, checks, clock.facts)),
            ]
            await stop.wait()
            for task in tasks:
                task.cancel()
        await dispatcher.stop()
    log.info("dispatcher stopped")


def _readiness(engine: Engine, dispatcher: Dispatcher, clock: ClockCheck) -> dict[str, bool]:
    return {"bus": engine.bus.is_connected, "database": dispatcher.ready, "clock": clock.is_right}
