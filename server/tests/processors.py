"""Processors as several workers have them, over a real bus, without the processes around them."""

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable

from onlooker.bus.buckets import Bucket
from onlooker.bus.connection import connect
from onlooker.bus.messages import Task
from onlooker.bus.subjects import SESSIONS
from onlooker.catalogue import read_catalogue
from onlooker.compute.hosting import Hosted, host_services
from onlooker.compute.processing import Processor
from onlooker.compute.sessions import Sessions
from onlooker.settings import Settings
from onlooker.testing import Stack

Check = Callable[[list[Processor], Hosted], Awaitable[None]]


def with_processors(stack: Stack, check: Check, *, service: str = "dummy", idle_s: float = 60, count: int = 2) -> None:
    """Several processors, as in several workers, over the real bus."""

    async def run() -> None:
        own = Settings(
            nats_url=stack.setting("nats_url"), nats_user="worker-1", nats_password=stack.password("worker-1")
        )
        bus = await connect(own, name="test")
        catalogue = read_catalogue("extra.measure,extra.trouble")
        hosted = next(one for one in host_services(catalogue, "") if one.service.name == service)
        buckets = [Bucket(bus, SESSIONS, shards=1) for _ in range(count)]
        try:
            await check([Processor(Sessions(bucket, idle_s=idle_s), threads=1) for bucket in buckets], hosted)
        finally:
            await bus.close()

    asyncio.run(run())


def task(session: str, *, job_id: str | None = None, in_s: float = 30, **params: object) -> Task:
    now = time.time()
    return Task(job_id or uuid.uuid4().hex, "dummy", 1, dict(params), {}, session, now + in_s, "request", now)
