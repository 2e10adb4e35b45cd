"""A worker's computing processes: shared with spares, or one for each stream."""

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest

from onlooker.compute.call_messages import CallMessage
from onlooker.compute.process_launch import launch
from onlooker.compute.process_pool import Processes, processes_of
from onlooker.compute.service_process import ProcessEnded
from onlooker.settings import Settings
from onlooker_pipeline.frame_time import time_frame
from onlooker_pipeline.service_call import Sender

SUPPORT = Path(__file__).parents[2] / "support"


@pytest.fixture(autouse=True)
def support_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(SUPPORT))


def with_processes(check: Callable[[Processes], Awaitable[None]], **settings: Any) -> None:
    chosen = {"extra_services": "extra.trouble", "worker_services": "trouble", "compute_processes": "stream"}

    async def run() -> None:
        given = Settings(**(chosen | settings))
        processes = processes_of(given)
        processes.start(await launch(given))
        try:
            await check(processes)
        finally:
            await processes.stop()
        assert computing_pids() == set()

    asyncio.run(run())


def computing_pids() -> set[int]:
    children = [child for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE]
    return {child.pid for child in children if "onlooker.compute.service_program" in child.cmdline()}


async def pid_for(processes: Processes, stream_id: int, *, in_s: float = 30, **params: object) -> int:
    """The process that computed a call of this stream."""
    now_ms = round(time.time() * 1000)
    timed = time_frame(None, now_ms * 1000, None)
    sender = Sender(stream_id=stream_id)
    call = CallMessage(0, "trouble", 1, params, {}, True, 1, now_ms / 1000, sender, timed, now_ms)
    answer = await processes.compute(call, time.time() + in_s)
    return int(msgspec.json.decode(answer.result)["pid"])


async def await_spares(processes: Processes, count: int) -> set[int]:
    """Until there are so many processes, and the one that is spare is ready."""
    give_up_at = time.monotonic() + 30
    while len(computing_pids()) != count or not len(processes._spares):
        assert time.monotonic() < give_up_at
        await asyncio.sleep(0.05)
    return computing_pids()


async def pid_after_death(processes: Processes, stream_id: int) -> int:
    """The process that computes a call once that of the last one is gone: a gateway sends a call that it had again."""
    try:
        return await pid_for(processes, stream_id)
    except ProcessEnded:
        return await pid_for(processes, stream_id)


def test_a_spare_takes_over_and_the_next_one_is_started() -> None:
    async def check(pool: Processes) -> None:
        first = await pid_for(pool, 1)
        spares = await await_spares(pool, 2) - {first}
        os.kill(first, signal.SIGKILL)
        assert {await pid_after_death(pool, 1)} == spares
        assert len(await await_spares(pool, 2) & spares) == 1

    with_processes(check, compute_processes="shared", compute_spares=1)


def test_a_short_call_does_not_wait_for_a_long_one_nor_share_its_process() -> None:
    """The first long call of a stream is a surprise: a spare takes the short calls over."""

    async def check(processes: Processes) -> None:
        await await_spares(processes, 2)
        first = await pid_for(processes, 1)
        long = asyncio.create_task(pid_for(processes, 1, sleep_s=3))
        await asyncio.sleep(0.3)
        short = await pid_for(processes, 2)
        assert not long.done()
        assert await long == first != short
        assert await pid_for(processes, 2) == short

    with_processes(check, compute_processes="shared")
