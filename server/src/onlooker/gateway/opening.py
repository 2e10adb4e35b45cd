"""Opening the parts of a gateway or a dispatcher, and closing them again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from onlooker.bus.buckets import Bucket
from onlooker.bus.connection import connect
from onlooker.bus.session_bucket import SessionBucket
from onlooker.bus.subjects import FEEDS, RESULTS
from onlooker.catalogue import read_catalogue
from onlooker.database import open_pool
from onlooker.gateway.accepted.order import SessionOrder
from onlooker.gateway.blobstore import BlobStore, open_store
from onlooker.gateway.engine.engine import Engine
from onlooker.gateway.engine.exchange import Exchange
from onlooker.gateway.engine.workers import Workers
from onlooker.gateway.limits.memory import BodyMemory
from onlooker.gateway.limits.places import Places
from onlooker.gateway.limits.turns import Turns
from onlooker.gateway.metering import Metering
from onlooker.gateway.parts import Parts
from onlooker.gateway.results import Results
from onlooker.settings import Settings
from onlooker.streams.credentials import Credentials
from onlooker.streams.rates import Rates


@asynccontextmanager
async def open_engine(settings: Settings, *, name: str) -> AsyncIterator[tuple[Engine, Workers]]:
    """A connection to the bus and everything that computes over it; closed on leaving."""
    bus = await connect(settings, name=name)
    workers, exchange = Workers(bus), Exchange(bus)
    await workers.start()
    tasks = [asyncio.create_task(workers.run()), asyncio.create_task(exchange.watch())]
    try:
        yield Engine(bus, workers, exchange), workers
    finally:
        for task in tasks:
            task.cancel()
        await bus.close()


@asynccontextmanager
async def open_parts(settings: Settings) -> AsyncIterator[Parts]:
    """Everything one gateway is made of, running; closed on leaving."""
    async with AsyncExitStack() as stack:
        engine, workers = await stack.enter_async_context(open_engine(settings, name="gateway"))
        pool = await stack.enter_async_context(open_pool(settings))
        bus = engine.bus
        sessions = SessionBucket(bus, settings)
        parts = Parts(
            settings=settings,
            catalogue=read_catalogue(settings.extra_services),
            bus=bus,
            pool=pool,
            credentials=Credentials(pool, remember_s=settings.credential_cache_s),
            rates=Rates(per_second=settings.rate_limit_per_second, burst=settings.rate_limit_burst),
            metering=Metering(pool, settings),
            workers=workers,
            engine=engine,
            memory=BodyMemory(settings.body_memory_bytes),
            places=Places(settings.gateway_jobs_limit),
            turns=Turns(limit=settings.session_queue_limit),
            order=SessionOrder(pool, wait_limit_s=settings.job_time_limit_s),
            results=Results(Bucket(bus, RESULTS, shards=settings.bucket_shards), sessions, settings),
            sessions=sessions,
            feeds=Bucket(bus, FEEDS, shards=1),
            blobs=BlobStore(open_store(settings)),
        )
        metering = asyncio.create_task(parts.metering.run())
        try:
            yield parts
        finally:
            metering.cancel()
            await asyncio.wait([metering])
            await parts.metering.flush()
