"""Workers that die, hang or are slow: what a client sees of it."""

import os
import signal
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx2
import psutil
import pytest

from clients import EXTRA_SERVICES, client_of
from testkit import Stack, migrated_database, running_stack
from testkit.stopwatch import Stopwatch
from wire import finished, wait_for

SERVICE = "/services/trouble/1"
TROUBLE = f"{SERVICE}/jobs"


@pytest.fixture(scope="module")
def two_workers() -> Iterator[Stack]:
    """A product of its own: its workers are killed, and the last test ends it."""
    roomy = {"rate_limit_per_second": 1e5, "rate_limit_burst": 10**5}
    services = {"extra_services": EXTRA_SERVICES, "worker_services": "trouble"}
    with migrated_database() as url, running_stack(url, workers=2, **services, **roomy) as running:
        yield running


@pytest.fixture
def caller(two_workers: Stack) -> Iterator[httpx2.Client]:
    _await_workers(two_workers, 2)
    with client_of(two_workers, two_workers.create_stream()) as made:
        yield made


def _await_workers(stack: Stack, count: int) -> None:
    give_up_at = time.monotonic() + 15
    while f"onlooker_live_workers {count}.0" not in stack.metrics("gateway"):
        assert time.monotonic() < give_up_at, "the workers did not come back"
        time.sleep(0.1)


def _call(client: httpx2.Client, **fields: Any) -> dict[str, Any]:
    answer = client.post(TROUBLE, json={"async": False} | fields)
    assert answer.status_code == 201, answer.text
    body: dict[str, Any] = answer.json()
    return body


def _workers(stack: Stack) -> list[int]:
    children = stack.children()
    return [children["worker-1"], children["worker-2"]]


def _ended(stack: Stack) -> int:
    """Computing processes that ended by themselves."""
    lines = "".join(stack.metrics(name) for name in ("worker-1", "worker-2")).splitlines()
    counts = [line.split()[-1] for line in lines if line.startswith("onlooker_worker_processes_ended_total")]
    return sum(int(float(count)) for count in counts)


def _resends(stack: Stack) -> list[str]:
    """What the gateway counted of jobs sent once more."""
    return [line for line in stack.metrics("gateway").splitlines() if line.startswith("onlooker_job_resends_total")]


def _while_calling(client: httpx2.Client, state: dict[str, str], act: Any) -> tuple[dict[str, Any], float]:
    """Call for half a second in a session and do something while the call runs."""
    acting = threading.Timer(0.2, act)
    acting.start()
    watch = Stopwatch()
    body = _call(client, sleep_s=0.5, state=state)
    acting.join()
    return body, watch.elapsed_s


def test_a_job_on_a_worker_that_dies_is_sent_once_more_within_two_seconds(
    two_workers: Stack, caller: httpx2.Client
) -> None:
    state = {"session_id": str(uuid.uuid4())}
    first = _call(caller, state=state)
    body, elapsed_s = _while_calling(caller, state, lambda: os.kill(first["worker"], signal.SIGKILL))
    assert body["worker"] != first["worker"]
    assert body["calls"] == 2
    assert elapsed_s < 0.2 + 2.0 + 0.5


def test_a_job_on_a_computing_process_that_dies_is_computed_by_the_next_one_of_the_same_worker(
    two_workers: Stack, caller: httpx2.Client
) -> None:
    state = {"session_id": str(uuid.uuid4())}
    first = _call(caller, state=state)
    body, elapsed_s = _while_calling(caller, state, lambda: os.kill(first["pid"], signal.SIGKILL))
    assert body["pid"] != first["pid"]
    assert (body["worker"], body["calls"]) == (first["worker"], 2)
    assert elapsed_s < 0.2 + 2.0 + 0.5


def test_a_worker_that_hangs_is_taken_for_dead_and_its_late_answer_changes_nothing(
    two_workers: Stack, caller: httpx2.Client
) -> None:
    state = {"session_id": str(uuid.uuid4())}
    first = _call(caller, state=state)
    body, elapsed_s = _while_calling(caller, state, lambda: os.kill(first["worker"], signal.SIGSTOP))
    os.kill(first["worker"], signal.SIGCONT)
    assert body["worker"] != first["worker"]
    assert body["calls"] == 2
    assert elapsed_s < 0.2 + 2.0 + 0.5
    assert _call(caller, state=state)["calls"] == 3


def test_a_slow_job_is_told_apart_from_a_dead_worker(two_workers: Stack, caller: httpx2.Client) -> None:
    state = {"session_id": str(uuid.uuid4())}
    first = _call(caller, state=state)
    before = _resends(two_workers)
    slow = _call(caller, sleep_s=4, state=state)
    assert (slow["pid"], slow["calls"]) == (first["pid"], 2)
    assert _resends(two_workers) == before


def test_a_job_that_brings_processes_down_twice_ends_with_an_error_and_takes_no_other_job_with_it(
    two_workers: Stack, caller: httpx2.Client
) -> None:
    """Ten jobs wait in each worker when it comes, and again when it is tried a second time; there is no third."""
    before, ended = _workers(two_workers), _ended(two_workers)
    with ThreadPoolExecutor(21) as callers:
        others = [callers.submit(_call, caller, sleep_s=0.05) for _ in range(10)]
        killer = callers.submit(_call, caller, die=True)
        others += [callers.submit(_call, caller, sleep_s=0.05) for _ in range(10)]
        assert killer.result()["error_code"] == "worker_died"
        assert [other.result().get("error_code") for other in others] == [None] * 20
    assert _ended(two_workers) == ended + 2
    assert _workers(two_workers) == before


def test_an_accepted_job_that_brings_processes_down_twice_ends_with_an_error(caller: httpx2.Client) -> None:
    answer = finished(caller, caller.post(TROUBLE, json={"die": True}).json()["url"])
    assert (answer.status_code, answer.json()["error_code"]) == (200, "worker_died")


def test_a_worker_that_is_asked_to_stop_finishes_what_it_took(two_workers: Stack, caller: httpx2.Client) -> None:
    state = {"session_id": str(uuid.uuid4())}
    first = _call(caller, state=state)
    body, _ = _while_calling(caller, state, lambda: os.kill(first["worker"], signal.SIGTERM))
    assert (body["pid"], body["calls"]) == (first["pid"], 2)
    assert _call(caller, state=state)["calls"] == 3


@contextmanager
def _stopped(pids: list[int]) -> Iterator[None]:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def test_a_worker_that_comes_back_to_a_lost_bus_later_than_the_gateway_is_waited_for(
    two_workers: Stack, caller: httpx2.Client
) -> None:
    state = {"session_id": str(uuid.uuid4())}
    _call(caller, state=state)
    with ThreadPoolExecutor(1) as callers:
        with _stopped(_workers(two_workers)):
            assert two_workers.kill("nats")
            call = callers.submit(_call, caller, state=state)
            time.sleep(2)
        assert call.result()["calls"] == 2


def test_workers_that_were_only_slow_get_the_job_again(two_workers: Stack, caller: httpx2.Client) -> None:
    """A busy machine lets a worker wait for seconds: it is taken for dead, and then there is no other."""
    state = {"session_id": str(uuid.uuid4())}
    _call(caller, state=state)
    _await_workers(two_workers, 2)
    assert caller.get(SERVICE).json()["workers"] == 2
    with ThreadPoolExecutor(1) as callers:
        with _stopped(_workers(two_workers)):
            call = callers.submit(_call, caller, state=state)
            wait_for(lambda: caller.get(SERVICE).json()["live"], lambda live: not live, limit_s=8, every_s=0.2)
        assert call.result()["calls"] == 2
    assert caller.get(SERVICE).json()["live"] is True


def test_when_the_bus_and_then_it_is_killed_all_processes_end_too(two_workers: Stack) -> None:
    """Last, as it ends the product."""
    pids = two_workers.children()
    for pid in (pids["nats"], two_workers.process.pid):
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: [pid for pid in pids.values() if psutil.pid_exists(pid)], lambda left: not left, limit_s=20)
