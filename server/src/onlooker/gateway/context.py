"""The context of a gateway: everything its handlers work with, how it is opened, how a request finds it."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass

from starlette.requests import Request

from onlooker.background_tasks import start_background_task
from onlooker.bus.buckets import Bucket
from onlooker.bus.connection import Bus, connect
from onlooker.bus.session_store import SessionBucket
from onlooker.bus.subjects import FEEDS, RESULTS
from onlooker.clock_check import ClockCheck
from onlooker.database import Pool, open_pool
from onlooker.devices.revocation import RevocationWatch
from onlooker.errors import not_found
from onlooker.gateway.blobstore import BlobStore, open_store
from onlooker.gateway.engine.engine import Engine
from onlooker.gateway.engine.exchange import Exchange
from onlooker.gateway.engine.suspects import Suspects
from onlooker.gateway.engine.workers import Workers
from onlooker.gateway.machine_turns import MachineTurns
from onlooker.gateway.meters import StreamMeters
from onlooker.gateway.queue.backlog import Backlog
from onlooker.gateway.queue.session_order import SessionOrder
from onlooker.gateway.results import Results
from onlooker.gateway.stream_limits import (
    ByteAllowance,
    Holder,
    Holding,
    NewSessions,
    NewVisits,
    SessionTurns,
    SharedRoom,
)
from onlooker.keys.key_uses import KeyUses
from onlooker.settings import Settings
from onlooker.streams.credentials import Credentials, StreamRecord
from onlooker.streams.rate_limit import RateLimit
from onlooker.streams.shared_table import SharedTable
from onlooker_pipeline.catalogue import Catalogue, read_catalogue
from onlooker_pipeline.catalogue.service import Service

BODY_BURST_S, RESULT_BURST_S = 2, 60
"""Of how many seconds a stream may send bodies, and have results, at once."""

CONDITION_EVERY_S = 30
"""How often an agent may report its condition."""

BATCHES_BURST, VISITS_BURST_S = 5, 100
"""Batches that a device may send at once, and of how many seconds it may send visits: it may have been offline."""


@dataclass(frozen=True, kw_only=True)
class GatewayContext:
    """Everything one gateway process consists of."""

    settings: Settings
    catalogue: Catalogue
    bus: Bus
    pool: Pool
    clock: ClockCheck
    credentials: Credentials
    rates: RateLimit
    condition_rates: RateLimit
    meters: StreamMeters
    workers: Workers
    engine: Engine
    turns: SessionTurns
    order: SessionOrder
    backlog: Backlog
    results: Results
    sessions: SessionBucket
    feeds: Bucket
    blobs: BlobStore
    requests: SharedRoom
    body_bytes: SharedRoom
    new_sessions: NewSessions
    new_visits: NewVisits
    device_batches: RateLimit
    device_visits: ByteAllowance
    """Of devices that compute by themselves: batches, and visits in them."""
    read_bytes: ByteAllowance
    result_bytes: ByteAllowance
    jobs: SharedRoom
    """Synchronous ones that have no answer yet."""

    def url(self, path: str) -> str:
        """An absolute URL, from the configured public address and never from the request."""
        return self.settings.public_url + path


@asynccontextmanager
async def open_engine(
    settings: Settings, *, name: str, clock: ClockCheck | None = None
) -> AsyncIterator[tuple[Engine, Workers]]:
    """A connection to the bus and everything that computes over it; closed on leaving."""
    suspects = Suspects(settings.shared_path / "suspects")
    bus = await connect(settings, name=name)
    workers, exchange = Workers(bus, clock or ClockCheck(settings)), Exchange(bus)
    await workers.start()
    tasks = [start_background_task(workers.run()), start_background_task(exchange.watch())]
    try:
        engine = Engine(bus, workers, exchange, suspects)
        if settings.traces_url:
            from onlooker.gateway.traces import trace_engine

            trace_engine(engine)
        yield engine, workers
    finally:
        for task in tasks:
            task.cancel()
        await bus.close()
        suspects.close()


@dataclass(frozen=True)
class SharedState:
    """What a gateway shares with the others of its machine; nothing where it is the only one."""

    rates: SharedTable | None = None
    accepted: SharedTable | None = None
    turns: MachineTurns | None = None


@contextmanager
def open_shared_state(settings: Settings) -> Iterator[SharedState]:
    """Closed on leaving."""
    if settings.gateways <= 1:
        yield SharedState()
        return
    with ExitStack() as stack:
        folder = settings.shared_path
        rates, accepted = (stack.enter_context(closing(SharedTable(folder / name))) for name in ("rates", "accepted"))
        turns = MachineTurns(folder / "turns", wait_limit_s=settings.job_time_limit_s)
        yield SharedState(rates, accepted, stack.enter_context(closing(turns)))


@asynccontextmanager
async def open_context(settings: Settings) -> AsyncIterator[GatewayContext]:
    """The context of a running gateway; closed on leaving."""
    async with AsyncExitStack() as stack:
        pool, clock = await stack.enter_async_context(open_pool(settings)), ClockCheck(settings)
        await clock.measure(pool)
        engine, workers = await stack.enter_async_context(open_engine(settings, name="gateway", clock=clock))
        shared = stack.enter_context(open_shared_state(settings))
        bus = engine.bus
        sessions, replicated = SessionBucket(bus, settings), settings.bus_replicas > 1
        key_uses = KeyUses(pool)
        results = Bucket(bus, RESULTS, shards=settings.bucket_shards, from_leader=replicated)
        context = GatewayContext(
            settings=settings,
            catalogue=read_catalogue(settings.extra_services),
            bus=bus,
            pool=pool,
            clock=clock,
            credentials=Credentials(
                pool, remember_s=settings.credential_cache_s, table=shared.rates, note_key=key_uses.note
            ),
            rates=RateLimit(
                per_second=settings.rate_limit_per_second, burst=settings.rate_limit_burst, table=shared.rates
            ),
            condition_rates=RateLimit(per_second=1 / CONDITION_EVERY_S, burst=1),
            meters=StreamMeters(pool, settings),
            workers=workers,
            engine=engine,
            requests=SharedRoom(settings.gateway_requests_limit, "requests in progress", settings=settings),
            body_bytes=SharedRoom(settings.body_memory_bytes, "bytes of requests in memory", settings=settings),
            jobs=SharedRoom(settings.gateway_jobs_limit, "jobs in progress", settings=settings),
            new_sessions=NewSessions(per_second=settings.new_sessions_per_second, burst=settings.new_sessions_burst),
            new_visits=NewVisits(),
            device_batches=RateLimit(
                per_second=settings.device_batches_per_second, burst=BATCHES_BURST, what="batches of visits"
            ),
            device_visits=ByteAllowance(per_second=settings.device_visits_per_second, burst_s=VISITS_BURST_S),
            read_bytes=ByteAllowance(per_second=settings.body_bytes_per_second, burst_s=BODY_BURST_S),
            result_bytes=ByteAllowance(per_second=settings.result_bytes_per_second, burst_s=RESULT_BURST_S),
            turns=SessionTurns(limit=settings.session_queue_limit, machine=shared.turns),
            order=SessionOrder(pool, wait_limit_s=settings.job_time_limit_s, table=shared.accepted),
            backlog=Backlog(pool, settings),
            results=Results(results, sessions, settings),
            sessions=sessions,
            feeds=Bucket(bus, FEEDS, shards=1, from_leader=replicated),
            blobs=BlobStore(open_store(settings)),
        )
        if settings.traces_url:
            from onlooker.gateway.traces import trace_requests

            trace_requests(context.turns, context.results)
        watch = RevocationWatch(pool, context.credentials)
        loops = (context.meters.run(), clock.run(pool), watch.run(), key_uses.run())
        running = [start_background_task(loop) for loop in loops]
        try:
            yield context
        finally:
            for task in running:
                task.cancel()
            await asyncio.wait(running)
            await context.meters.flush()
            await key_uses.flush()


def readiness(context: GatewayContext) -> dict[str, bool]:
    """What must work before frames are sent to this gateway."""
    database = context.pool.get_stats().get("pool_size", 0) > 0
    return {"bus": context.bus.is_connected, "database": database, "clock": context.clock.is_right}


def context_of(request: Request) -> GatewayContext:
    context = request.scope["app"]
    assert isinstance(context, GatewayContext)
    return context


def stream_of(request: Request) -> StreamRecord:
    """The stream whose credentials came with the request."""
    stream = request.scope["stream"]
    assert isinstance(stream, StreamRecord)
    return stream


def holder_of(request: Request) -> Holder:
    """For whom the request takes room."""
    holder = request.scope["holder"]
    assert isinstance(holder, Holder)
    return holder


def held_bytes_of(request: Request) -> Holding:
    """What the request holds of the gateway's memory; released when it ends."""
    held_bytes = request.scope["held_bytes"]
    assert isinstance(held_bytes, Holding)
    return held_bytes


def service_of(request: Request) -> Service:
    """The service version that the path names."""
    service = find_service(context_of(request), request.path_params["name"], request.path_params["version"])
    if service is None:
        raise not_found("service version")
    return service


def find_service(context: GatewayContext, name: str, version: str) -> Service | None:
    versions = context.catalogue.get(name, {})
    return next((service for number, service in versions.items() if str(number) == version), None)


def id_of(request: Request, what: str) -> uuid.UUID:
    """The id in the path; what is not a UUID names nothing."""
    try:
        return uuid.UUID(request.path_params["id"])
    except ValueError:
        raise not_found(what) from None


def service_path(service: Service) -> str:
    return f"/services/{service.name}/{service.version}"
