"""Processors as several workers have them, over a real bus, without the processes around them."""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

from onlooker.bus.connection import Bus, connect, publish_kept
from onlooker.bus.messages import Task
from onlooker.bus.session_store import SessionBucket
from onlooker.compute.call_messages import (
    LENGTH_BYTES,
    CallAnswer,
    CallMessage,
    decode_answer,
    decode_call,
    encode_message,
)
from onlooker.compute.processor import Processor
from onlooker.compute.service_loader import host_services
from onlooker.compute.service_program import ServiceProgram
from onlooker.compute.sessions import Sessions
from onlooker.settings import Settings
from onlooker_pipeline.catalogue import read_catalogue
from onlooker_pipeline.catalogue.service import Service
from testkit import Stack

Check = Callable[[list[Processor], Service], Awaitable[None]]
Publish = Callable[[str, bytes], Awaitable[None]]


class ThreadComputing:
    """Stands for a computing process: the same program and the same messages, in a thread."""

    def __init__(self, program: ServiceProgram) -> None:
        self.program = program

    async def compute(self, call: CallMessage, deadline: float) -> CallAnswer:
        answer = await asyncio.to_thread(self.program.answer, decode_call(encode_message(call)[LENGTH_BYTES:]))
        return decode_answer(encode_message(answer)[LENGTH_BYTES:], call)


@asynccontextmanager
async def connected(stack: Stack) -> AsyncIterator[Bus]:
    """The stack's bus, as a worker may use it."""
    own = Settings(nats_url=stack.setting("nats_url"), nats_user="worker-1", nats_password=stack.password("worker-1"))
    bus = await connect(own, name="test")
    try:
        yield bus
    finally:
        await bus.close()


def with_processors(
    stack: Stack,
    check: Check,
    *,
    service: str = "dummy",
    idle_s: float = 60,
    count: int = 2,
    way: Callable[[Publish], Publish] = lambda publish: publish,
) -> None:
    """Several processors, as in several workers, over the real bus; `way` may stand in the way of their visits."""

    async def run() -> None:
        catalogue = read_catalogue("extra.measure,extra.trouble,extra.passer")
        hosted = next(one for one in host_services(catalogue, "") if one.service.name == service)
        computing = [ThreadComputing(ServiceProgram([hosted], channel=-1, idle_s=idle_s)) for _ in range(count)]
        async with connected(stack) as bus:
            buckets = [SessionBucket(bus, Settings()) for _ in range(count)]
            publish = way(partial(publish_kept, bus))
            processors = [
                Processor(Sessions(bucket, idle_s=idle_s), publish, own)
                for bucket, own in zip(buckets, computing, strict=True)
            ]
            await check(processors, hosted.service)

    asyncio.run(run())


def task(session: str, *, job_id: str | None = None, in_s: float = 30, **params: object) -> Task:
    now = time.time()
    return Task(job_id or uuid.uuid4().hex, "dummy", 1, dict(params), {}, session, now + in_s, "request", now)
