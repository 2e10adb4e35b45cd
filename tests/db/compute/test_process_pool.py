"""A worker's computing processes: shared with spares, or one for each stream."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest

from onlooker.compute.call_messages import CallMessage
from onlooker.compute.priority import LESS_URGENT, SECOND
from onlooker.compute.process_launch import launch
from onlooker.compute.process_pool import MemoryNumbers, Processes, processes_of
from onlooker.compute.service_process import STARTS_AT_MOST, ProcessEnded
from onlooker.settings import Settings, SettingsError
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


def test_two_streams_never_share_a_process() -> None:
    async def check(processes: Processes) -> None:
        assert processes.is_confined
        assert processes.is_ready
        seen: dict[int, set[int]] = defaultdict(set)

        async def go_on(stream_id: int) -> None:
            for _ in range(20):
                seen[stream_id].add(await pid_for(processes, stream_id))

        await asyncio.gather(*(go_on(stream_id) for stream_id in (1, 2, 3, 1, 2)))
        assert [len(pids) for pids in seen.values()] == [1, 1, 1]
        assert len(set.union(*seen.values())) == 3

    with_processes(check)


def test_the_process_used_least_recently_makes_room_and_is_never_passed_on() -> None:
    async def check(processes: Processes) -> None:
        first, second = await pid_for(processes, 1), await pid_for(processes, 2)
        assert await pid_for(processes, 1) == first
        third = await pid_for(processes, 3)
        assert await pid_for(processes, 1) == first
        fourth = await pid_for(processes, 2)
        assert len({first, second, third, fourth}) == 4
        await asyncio.sleep(0.2)
        assert not {second, third} & computing_pids()

    with_processes(check, compute_processes_limit=2)


def test_a_process_with_a_call_is_not_ended_for_another_stream() -> None:
    async def check(processes: Processes) -> None:
        slow = asyncio.create_task(pid_for(processes, 1, sleep_s=1.5))
        await asyncio.sleep(0.5)
        with pytest.raises(TimeoutError):
            await pid_for(processes, 2, in_s=-0.8)
        waiting = asyncio.create_task(pid_for(processes, 2))
        assert await slow != await waiting

    with_processes(check, compute_processes_limit=1)


def test_a_process_that_dies_costs_its_own_stream_only() -> None:
    async def check(processes: Processes) -> None:
        other = await pid_for(processes, 2)
        before = {await pid_for(processes, 1)}
        slow = asyncio.create_task(pid_for(processes, 2, sleep_s=1))
        await asyncio.sleep(0.2)
        for _ in range(STARTS_AT_MOST + 1):
            with pytest.raises(ProcessEnded):
                await pid_for(processes, 1, die=True)
        assert await slow == await pid_for(processes, 2) == other
        assert await pid_for(processes, 1) not in before | {other}

    with_processes(check)


def test_a_new_stream_gets_a_spare() -> None:
    async def check(processes: Processes) -> None:
        spare = await await_spares(processes, 1)
        assert {await pid_for(processes, 1)} == spare

    with_processes(check, compute_spares=1)


def test_a_spare_that_died_is_not_given_away() -> None:
    async def check(processes: Processes) -> None:
        [spare] = await await_spares(processes, 1)
        os.kill(spare, signal.SIGKILL)
        await asyncio.sleep(0.2)
        assert await pid_for(processes, 1) != spare

    with_processes(check, compute_spares=1)


def test_streams_without_spares_share_none_either() -> None:
    async def check(processes: Processes) -> None:
        pids = [await pid_for(processes, stream_id) for stream_id in (1, 2, 1, 2)]
        assert pids[0] == pids[2] != pids[1] == pids[3]
        assert computing_pids() == set(pids)

    with_processes(check, compute_spares=0)


def test_one_that_can_not_start_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    async def check(processes: Processes) -> None:
        pass

    with pytest.raises(SettingsError, match="did not start"):
        with_processes(check, worker_services="face_detection", inference_provider="cuda")
    assert "ONLOOKER_INFERENCE_PROVIDER is 'cuda'" in capfd.readouterr().err


def test_what_is_remembered_of_a_session_is_never_older_than_its_last_call() -> None:
    numbers, here, there = MemoryNumbers(), object(), object()
    first = numbers.number(7, here)  # type: ignore[arg-type]
    assert numbers.number(7, here) == first  # type: ignore[arg-type]
    assert numbers.number(8, here) != first  # type: ignore[arg-type]
    moved = numbers.number(7, there)  # type: ignore[arg-type]
    back = numbers.number(7, here)  # type: ignore[arg-type]
    assert len({first, moved, back}) == 3
    assert numbers.number(0, here) == 0  # type: ignore[arg-type]


def niceness_of_threads(pid: int) -> set[int]:
    return {os.getpriority(os.PRIO_PROCESS, int(task.name)) for task in Path(f"/proc/{pid}/task").iterdir()}


def test_every_thread_that_computes_comes_second_and_long_calls_come_last() -> None:
    async def check(processes: Processes) -> None:
        first = await pid_for(processes, 1)
        [spare] = await await_spares(processes, 2) - {first}
        assert niceness_of_threads(first) == niceness_of_threads(spare) == {SECOND}
        await pid_for(processes, 1, sleep_s=1.5)
        assert niceness_of_threads(first) == {LESS_URGENT}
        assert await pid_for(processes, 2) == spare

    with_processes(check, compute_processes="shared", compute_spares=1)


NICER_STILL = """
import os
from onlooker.compute.priority import set_niceness
os.nice(12)
if os.getuid() == 0:
    os.setuid(65534)
set_niceness(5)
print(os.getpriority(os.PRIO_PROCESS, 0))
"""


def test_a_product_that_was_started_with_nice_stays_as_nice_without_root() -> None:
    said = subprocess.run([sys.executable, "-c", NICER_STILL], check=True, capture_output=True, text=True).stdout
    assert int(said) >= 12
