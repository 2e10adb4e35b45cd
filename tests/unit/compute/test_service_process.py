"""A worker's computing process: what it computes, how it ends, and what its worker believes of it."""

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.compute import fair_turns
from onlooker.compute.call_messages import (
    ANSWER_LIMIT_BYTES,
    LENGTH_BYTES,
    CallAnswer,
    CallMessage,
    Untrue,
    decode_answer,
    encode_message,
)
from onlooker.compute.process_launch import launch
from onlooker.compute.process_pool import SharedProcesses
from onlooker.compute.service_process import ComputedTooLong, ProcessEnded
from onlooker.compute.service_program import encode_answer
from onlooker.settings import Settings, SettingsError
from onlooker_pipeline.frame_time import FrameTime, time_frame
from onlooker_pipeline.service_call import Sender
from onlooker_pipeline.visits.sightings import Estimate, Seen, SeenFrame, Sighting

NOW_MS = 1_800_000_000_000
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


async def computed(process: SharedProcesses, *, in_s: float = 30, **params: object) -> dict[str, Any]:
    answer = await process.compute(call(**params), time.time() + in_s)  # type: ignore[arg-type]
    found: dict[str, Any] = msgspec.json.decode(answer.result)
    return found


@pytest.fixture(autouse=True)
def support_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(SUPPORT))


@pytest.fixture(autouse=True)
def one_process_for_all_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of them counts as long."""
    monkeypatch.setattr(fair_turns, "LONG_S", 1000.0)
    monkeypatch.setattr(fair_turns, "OVERRUN_S", 1000.0)


def test_it_computes_and_keeps_the_state_that_it_is_given() -> None:
    async def check(process: SharedProcesses) -> None:
        assert process.is_confined
        answers = [await computed(process, state=state) for state in (None, 1, 7)]
        assert [answer["calls"] for answer in answers] == [1, 2, 8]
        assert {answer["worker"] for answer in answers} == {os.getpid()}

    with_process(check)


def test_it_has_no_password_and_nothing_open() -> None:
    async def check(process: SharedProcesses) -> None:
        pid = (await computed(process))["pid"]
        variables = Path(f"/proc/{pid}/environ").read_bytes()
        assert b"of the bus" not in variables
        files = {str(path.readlink()) for path in Path(f"/proc/{pid}/fd").iterdir()}
        assert {name for name in files if name != "/dev/null" and not name.startswith("socket:")} == set()
        status = Path(f"/proc/{pid}/status").read_text()
        assert "NoNewPrivs:\t1" in status
        assert "Seccomp:\t2" in status

    with_process(check)


def test_a_fault_is_told_with_its_reason() -> None:
    async def check(process: SharedProcesses) -> None:
        answer = await process.compute(call(crash=True), time.time() + 30)
        assert answer.error_code == "internal_error"
        assert "told to crash" in answer.fault

    with_process(check)


def test_one_that_dies_costs_its_call_and_is_replaced() -> None:
    async def check(process: SharedProcesses) -> None:
        first = await computed(process)
        with pytest.raises(ProcessEnded):
            await computed(process, die=True)
        second = await computed(process)
        assert second["pid"] != first["pid"]

    with_process(check)


def test_one_that_is_killed_is_replaced_while_others_wait() -> None:
    async def check(process: SharedProcesses) -> None:
        first = await computed(process)
        slow = asyncio.create_task(computed(process, sleep_s=5))
        waiting = [asyncio.create_task(computed(process)) for _ in range(5)]
        await asyncio.sleep(0.3)
        os.kill(first["pid"], signal.SIGKILL)
        with pytest.raises(ProcessEnded):
            await slow
        assert {(await one)["calls"] for one in waiting} == {1}

    with_process(check)


def test_a_call_that_takes_too_long_ends_and_its_process_too() -> None:
    async def check(process: SharedProcesses) -> None:
        first = await computed(process)
        with pytest.raises(ComputedTooLong):
            await computed(process, sleep_s=60)
        assert (await computed(process))["pid"] != first["pid"]

    with_process(check, compute_time_limit_s=0.5)


def test_a_call_that_nobody_waits_for_any_more_is_not_computed() -> None:
    async def check(process: SharedProcesses) -> None:
        slow = asyncio.create_task(computed(process, sleep_s=3))
        await asyncio.sleep(0.3)
        with pytest.raises(TimeoutError):
            await computed(process, in_s=0)
        assert (await slow)["slept_s"] == 3

    with_process(check)


def test_a_call_past_its_deadline_goes_on_and_takes_nobody_with_it() -> None:
    async def check(process: SharedProcesses) -> None:
        first = await computed(process)
        with pytest.raises(TimeoutError):
            await computed(process, sleep_s=2.5, in_s=0.5)
        assert (await computed(process))["pid"] == first["pid"]

    with_process(check)


def test_after_so_many_jobs_it_is_replaced() -> None:
    async def check(process: SharedProcesses) -> None:
        pids = [(await computed(process))["pid"] for _ in range(4)]
        assert pids[0] == pids[1] != pids[2] == pids[3]

    with_process(check, compute_jobs=2)


def test_the_signal_for_all_of_a_unit_ends_its_worker_only() -> None:
    """A supervisor may signal every process: what is under way is still computed."""

    async def check(process: SharedProcesses) -> None:
        pid = (await computed(process))["pid"]
        for number in (signal.SIGTERM, signal.SIGINT):
            slow = asyncio.create_task(computed(process, sleep_s=0.5))
            await asyncio.sleep(0.2)
            os.kill(pid, number)
            assert (await slow)["pid"] == pid

    with_process(check)


def test_a_state_that_can_not_be_passed_on_is_an_error() -> None:
    for state in (object(), b"x" * ANSWER_LIMIT_BYTES):
        body = encode_answer(CallAnswer(1, b"{}", None, state))[LENGTH_BYTES:]
        answer = decode_answer(body, ASKED)
        assert (answer.error_code, answer.state) == ("internal_error", None)
        assert "answer" in answer.fault


def test_without_confinement_it_says_so() -> None:
    async def check(process: SharedProcesses) -> None:
        assert not process.is_confined

    with_process(check, confinement="off")


def test_one_that_can_not_start_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    async def check(process: SharedProcesses) -> None:
        pass

    with pytest.raises(SettingsError, match="did not start"):
        with_process(check, worker_services="face_detection", inference_provider="cuda")
    assert "ONLOOKER_INFERENCE_PROVIDER is 'cuda'" in capfd.readouterr().err


def answer_of(**changed: Any) -> bytes:
    answer = CallAnswer(1, b"{}", None, None, [], None, 0.1)
    return encode_message(msgspec.structs.replace(answer, **changed))[LENGTH_BYTES:]


def seen_at(at_ms: int, person: bytes = bytes(16)) -> Seen:
    return Seen([SeenFrame(at_ms, [Sighting(person, still=True, looking=False)])], [], {person: Estimate(0.9)}, [])


ASKED = CallMessage(1, "trouble", 1, {}, {}, True, 1, NOW_MS / 1000, Sender(), time_at(NOW_MS), NOW_MS)


@pytest.mark.parametrize("at_ms", [NOW_MS, NOW_MS - 3_000])
def test_what_can_be_true_is_believed(at_ms: int) -> None:
    assert decode_answer(answer_of(seen=[seen_at(at_ms)]), ASKED).seen == [seen_at(at_ms)]


def test_the_end_of_the_scene_before_the_clock_was_set_back_is_believed() -> None:
    ahead = msgspec.structs.replace(ASKED, previous_ms=NOW_MS + 10**9)
    assert decode_answer(answer_of(seen=[seen_at(NOW_MS + 10**9 - 500)]), ahead).seen


@pytest.mark.parametrize(
    "changed",
    [
        {"number": 2},
        {"result": b"[]"},
        {"result": b"{"},
        {"result": b'{"a": "\xff"}'},
        {"result": b'{"a": "' + b"x" * 1024**2 + b'"}'},
        {"error_code": "x" * 100},
        {"error_code": "no code"},
        {"compute_s": -1.0},
        {"fault": "x" * 10_000},
        {"seen": [seen_at(NOW_MS)] * 10},
        {"seen": [seen_at(NOW_MS + 1)]},
        {"seen": [seen_at(NOW_MS - 60_000)]},
        {"seen": [seen_at(NOW_MS, b"short")]},
        {"seen": [Seen([], [], {bytes([0, number] * 8): Estimate(0.9) for number in range(250)}, [])]},
    ],
)
def test_what_can_not_be_true_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(Untrue):
        decode_answer(answer_of(**changed), ASKED)


@given(st.binary(max_size=300))
def test_no_bytes_do_harm(body: bytes) -> None:
    try:
        decode_answer(body, ASKED)
    except Untrue:
        return
