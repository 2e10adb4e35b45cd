"""The worker process: registers its services on the bus, takes tasks and answers them."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import NoReturn

import msgspec
from nats.errors import Error as ClientError
from nats.micro.request import Request
from nats.micro.service import Service as NatsService
from nats.micro.service import ServiceConfig, ServiceInfo

from onlooker.bus.connection import Bus, connect, publish_kept
from onlooker.bus.messages import Outcome, Reply, Task, decode_task, encode_reply, failure
from onlooker.bus.session_store import SessionBucket
from onlooker.bus.subjects import COMPUTE, worker_subject
from onlooker.bus.worker_announcement import announcement, name_of
from onlooker.compute import counters
from onlooker.compute.process_launch import StartedProcess
from onlooker.compute.process_pool import Processes, processes_of
from onlooker.compute.processor import Processor, Publish
from onlooker.compute.service_loader import chosen_services
from onlooker.compute.sessions import Sessions
from onlooker.logs import fields
from onlooker.monitoring import serve_monitoring, stop_signal
from onlooker.settings import Settings
from onlooker_pipeline.catalogue import read_catalogue
from onlooker_pipeline.catalogue.service import Service

log = logging.getLogger(__name__)

BUSY = encode_reply(Reply(Outcome.BUSY))
LEAVING = encode_reply(Reply(Outcome.LEAVING))
DRAIN_LIMIT_S = 10
LEAVE_LIMIT_S = 3
SWEEP_EVERY_S = 1
ANNOUNCE_AGAIN_S = 0.2


TaskHandler = Callable[[Request], Awaitable[None]]
SendAway = Callable[[int], bool]
"""Refuse a task of this stream that waits to be computed; False if none does."""


class AnnouncedService(NatsService):
    """A worker in the NATS services API; each answer to INFO says what its clock shows."""

    def info(self) -> ServiceInfo:
        info = super().info()
        return replace(info, metadata=info.metadata | {"clock": f"{time.time():.3f}"})


class Announcements:
    """The worker's service on the bus, with a new id after each loss of the bus.

    An answer may be lost with the connection. Who waits for one probes the old id, finds nobody, and sends the task
    again; under the same id the worker would seem to be busy with it until the task's time limit.
    """

    def __init__(
        self, bus: Bus, described: ServiceConfig, handlers: Sequence[tuple[Service, TaskHandler]], *, user: str
    ) -> None:
        self._bus = bus
        self._described = described
        self._handlers = handlers
        self._user = user
        self._announced: AnnouncedService | None = None

    async def start(self) -> str:
        """The id."""
        self._bus.found_again.clear()
        before, announced = self._announced, AnnouncedService(self._bus.client, self._described)
        self._announced = announced
        await announced.start()
        for service, handler in self._handlers:
            await announced.add_endpoint(
                name=f"{service.name}-{service.version}",
                subject=worker_subject(self._user, announced.id, service.name, service.version),
                handler=handler,
            )
        if before:
            await _within_limit(before.stop())
        await self._bus.client.flush()
        return announced.id

    async def keep_current(self) -> NoReturn:
        while True:
            await self._bus.found_again.wait()
            try:
                log.info("worker announced again", extra=fields(instance=await self.start()))
            except (ClientError, TimeoutError):
                await asyncio.sleep(ANNOUNCE_AGAIN_S)  # lost once more
                self._bus.found_again.set()

    async def stop(self) -> None:
        if self._announced:
            await _within_limit(self._announced.stop())


class Worker:
    """Takes tasks from the bus. When its queue is full, the stream that has most tasks in it makes room."""

    def __init__(self, processor: Processor, send_away: SendAway, *, queue_limit: int) -> None:
        self._processor = processor
        self._send_away = send_away
        self._queue_limit = queue_limit
        self._in_progress: set[asyncio.Task[None]] = set()
        self._by_stream: Counter[int] = Counter()
        self._leaving = False

    def handler_of(self, service: Service) -> TaskHandler:
        """The handler for tasks of one service; it never waits."""

        async def take(request: Request) -> None:
            if self._leaving:
                await request.respond(LEAVING)
                return
            try:
                task = decode_task(request.data)
            except msgspec.DecodeError:
                counters.jobs(service.name, "undecodable").inc()
                return
            if len(self._in_progress) >= self._queue_limit and not self._make_room(task.sender.stream_id):
                counters.jobs(service.name, "refused").inc()
                await request.respond(BUSY)
                return
            work = asyncio.create_task(self._answer(service, task, request))
            self._in_progress.add(work)
            self._by_stream[task.sender.stream_id] += 1
            work.add_done_callback(partial(self._forget, task.sender.stream_id))

        return take

    def _forget(self, stream_id: int, work: asyncio.Task[None]) -> None:
        self._in_progress.discard(work)
        self._by_stream[stream_id] -= 1
        if not self._by_stream[stream_id]:
            del self._by_stream[stream_id]

    def _make_room(self, stream_id: int) -> bool:
        """For a task of a stream that has fewer here than another; that one loses its last."""
        most, count = self._by_stream.most_common(1)[0]
        return self._by_stream[stream_id] + 1 < count and self._send_away(most)

    async def _answer(self, service: Service, task: Task, request: Request) -> None:
        name = service.name
        try:
            reply = await self._processor.process(service, task)
        except Exception:
            log.exception("task failed", extra=fields(request_id=task.request_id, service=name))
            reply = Reply(
                Outcome.DONE, failure("internal_error", "The worker failed. Its log says why."), "internal_error"
            )
        if reply is None:
            counters.jobs(name, "expired").inc()
            return
        counters.queue_time(name).observe(reply.queue_s)
        counters.jobs(name, reply.error_code or reply.outcome.name.lower()).inc()
        log.debug("job computed", extra=fields(request_id=task.request_id, job=task.id, service=name))
        try:
            await request.respond(encode_reply(reply))
        except ClientError:
            counters.jobs(name, "unanswered").inc()

    async def drain(self) -> None:
        """Refuse new tasks and finish those in progress."""
        self._leaving = True
        if self._in_progress:
            await asyncio.wait(self._in_progress, timeout=DRAIN_LIMIT_S)


async def _sweep(sessions: Sessions) -> None:
    while True:
        await asyncio.sleep(SWEEP_EVERY_S)
        sessions.sweep()


async def run_worker(settings: Settings, launching: Awaitable[StartedProcess]) -> None:
    """Run until SIGTERM or SIGINT, then finish the tasks in progress."""
    services = chosen_services(read_catalogue(settings.extra_services), settings.worker_services)
    computing = processes_of(settings)
    computing.start(await launching)
    name = name_of(settings)
    bus = await connect(settings, name=name)
    stop = stop_signal()
    sessions = Sessions(SessionBucket(bus, settings), idle_s=settings.session_idle_s)
    processor = _processor_of(settings, sessions, partial(publish_kept, bus), computing)
    worker = Worker(processor, computing.send_away, queue_limit=settings.worker_queue_limit)
    described = ServiceConfig(
        name=COMPUTE,
        version="1.0.0",
        description="An Onlooker worker",
        metadata=announcement(name, is_confined=computing.is_confined),
    )
    handlers = [(service, worker.handler_of(service)) for service in services]
    announcements = Announcements(bus, described, handlers, user=settings.nats_user or name)
    instance = await announcements.start()
    names = [service.name for service in services]
    if not computing.is_confined:
        log.warning("computing is not confined: an attacker who takes over a decoder has all that this user has")
    log.info("worker ready", extra=fields(worker=name, instance=instance, services=names))

    async with asyncio.TaskGroup() as group:
        checks = lambda: {"bus": bus.is_connected, "computing": computing.is_ready}  # noqa: E731
        facts = lambda: {"confined": computing.is_confined}  # noqa: E731
        running = [group.create_task(_sweep(sessions)), group.create_task(announcements.keep_current())]
        running.append(group.create_task(serve_monitoring(settings, checks, facts)))
        await stop.wait()
        await worker.drain()
        await announcements.stop()
        for task in running:
            task.cancel()
    await computing.stop()
    await _within_limit(bus.client.drain())
    log.info("worker stopped")


def _processor_of(settings: Settings, sessions: Sessions, publish: Publish, computing: Processes) -> Processor:
    if not settings.traces_url:
        return Processor(sessions, publish, computing)
    from onlooker.compute.traces import traced_processor

    return traced_processor(sessions, publish, computing)


async def _within_limit(leaving: Awaitable[object]) -> None:
    """A bus that is gone answers no farewell."""
    with suppress(ClientError, TimeoutError):
        async with asyncio.timeout(LEAVE_LIMIT_S):
            await leaving
