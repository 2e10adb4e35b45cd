"""A worker's computing process: what it computes, how it ends, and what its worker believes of it."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from onlooker.compute import fair_turns
from onlooker.compute.call_messages import (
    CallMessage,
)
from onlooker.compute.process_launch import launch
from onlooker.compute.process_pool import SharedProcesses
from onlooker.settings import Settings
from onlooker_pipeline.frame_time import FrameTime, time_frame
from onlooker_pipeline.service_call import Sender
from testkit.pictures import on_a_wall, portrait

SUPPORT = Path(__file__).parents[2] / "support"


def time_at(at_ms: int) -> FrameTime:
    return time_frame(None, at_ms * 1000, None)


def call(service: str = "trouble", *, state: Any = None, **params: object) -> CallMessage:
    now_ms = round(time.time() * 1000)
    return CallMessage(0, service, 1, params, {}, True, 1, now_ms / 1000, Sender(), time_at(now_ms), now_ms, state)


def with_process(check: Callable[[SharedProcesses], Awaitable[None]], **settings: Any) -> None:
    chosen = {"extra_services": "extra.trouble", "worker_services": "trouble", "nats_password": "of the bus"}
    chosen |= {"compute_spares": 0} | settings

    async def run() -> None:
        given = Settings(**chosen)
        process = SharedProcesses(given)
        process.start(await launch(given))
        try:
            await check(process)
        finally:
            await process.stop()

    asyncio.run(run())


@pytest.fixture(autouse=True)
def support_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(SUPPORT))


@pytest.fixture(autouse=True)
def one_process_for_all_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of them counts as long."""
    monkeypatch.setattr(fair_turns, "LONG_S", 1000.0)
    monkeypatch.setattr(fair_turns, "OVERRUN_S", 1000.0)


def test_the_previous_picture_is_gone_once_its_session_has_been_idle() -> None:
    """As PRIVACY.md says, also where no other frame comes; before, it is still there."""
    shots = [on_a_wall(portrait(), left=20 + 12 * step, top=100) for step in range(4)]

    async def targets(process: SharedProcesses, shot: bytes) -> int:
        sent = msgspec.structs.replace(call("motion_detection"), attachments={"image": shot})
        answer = await process.compute(sent, time.time() + 30)
        return int(msgspec.json.decode(answer.result)["nb_targets"])

    async def check(process: SharedProcesses) -> None:
        assert [await targets(process, shot) for shot in shots[:2]] == [0, 1]
        await asyncio.sleep(1.8)  # it is swept once a second
        assert await targets(process, shots[2]) == 0
        assert await targets(process, shots[3]) == 1

    with_process(check, worker_services="motion_detection", session_idle_s=0.6)
