"""Two gateways on the same ports: what one gateway promises, both keep together, also while one is killed."""

import http.client
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clients import EXTRA_SERVICES
from gateway_connections import GatewayConnection, connect_to
from onlooker.gateway.engine.workers import FORGET_AFTER_S
from testkit import Stack, free_ports, migrated_database, running_stack
from wire import new_state, wait_for

NAMES = ("gateway", "gateway-2")
RATE, BURST = 50, 400
BROKEN = (OSError, http.client.HTTPException)


@pytest.fixture(scope="module")
def pair() -> Iterator[Stack]:
    """A product of its own: its gateways are killed, and the last test ends it."""
    limits = {"rate_limit_per_second": RATE, "rate_limit_burst": BURST}
    services = {"extra_services": EXTRA_SERVICES, "worker_services": "dummy,trouble"}
    with (
        migrated_database() as url,
        running_stack(url, gateways=2, workers=2, **services, **limits) as running,
    ):
        yield running


@pytest.fixture
def both(pair: Stack) -> Iterator[list[GatewayConnection]]:
    """One connection to each gateway, of one stream."""
    stream = pair.create_stream()
    opened = [connect_to(pair, stream, name) for name in NAMES]
    yield opened
    for connection in opened:
        connection.close()


def test_it_says_that_there_are_two_and_each_answers(pair: Stack) -> None:
    assert "2 processes: gateway, gateway-2" in pair.output.read_text()
    for name in NAMES:
        assert has_both_workers(pair.metrics(name))
        assert f'"process":"{name}"' in pair.output.read_text()


def test_connections_are_spread_over_both(pair: Stack) -> None:
    stream = pair.create_stream()
    opened = [GatewayConnection(pair, stream) for _ in range(24)]
    counted = Counter(connection.gateway for connection in opened)
    for connection in opened:
        connection.close()
    assert set(counted) == set(NAMES)


def test_another_product_of_the_same_user_is_refused_the_port(pair: Stack, tmp_path: Path) -> None:
    ports = free_ports(8)
    own = ("home", "nats_url", "console_https_port", "console_http_port", "data_https_port", "data_http_port")
    values = (str(tmp_path), f"nats://127.0.0.1:{ports[0]}", *map(str, ports[1:5]))
    elsewhere = {f"ONLOOKER_{name.upper()}": value for name, value in zip(own, values, strict=True)}
    elsewhere["ONLOOKER_MONITORING_PORT"] = str(ports[5])
    command = [sys.executable, "-m", "onlooker", "up"]
    environment = pair.environment | elsewhere
    refused = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert refused.returncode == 2
    assert "Can't listen on 127.0.0.1:" in refused.stderr
    assert "ONLOOKER_HTTPS_PORT" in refused.stderr


steps = st.lists(
    st.tuples(st.sampled_from(["sync", "sync", "sync", "async", "delete"]), st.integers(0, 1)), min_size=1, max_size=12
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=steps)
def test_a_session_over_two_gateways_is_what_it_is_over_one(
    both: list[GatewayConnection], steps: list[tuple[str, int]]
) -> None:
    """Synchronous and async jobs and ends of the session, on any route: each call counts once, in order."""
    session_id = str(uuid.uuid4())
    state, calls, urls = {"session_id": session_id}, 0, dict[str, int]()
    for step, gateway in steps:
        connection = both[gateway]
        if step == "delete":
            _await_all(both, urls)
            status, _ = connection.request("DELETE", f"/services/dummy/1/sessions/{session_id}")
            assert status == (204 if calls else 404)
            calls = 0
            continue
        calls += 1
        status, job = connection.post("dummy", state=state, **{"async": step == "async"})
        if step == "async":
            assert status == 202, job
            urls[job["url"]] = calls
        else:
            assert (status, job.get("calls")) == (201, calls), job
    _await_all(both, urls)


def _await_all(both: list[GatewayConnection], urls: dict[str, int]) -> None:
    """The accepted jobs end with the calls that are theirs, wherever they are read."""
    for number, (url, calls) in enumerate(urls.items()):
        path = "/services/" + url.partition("/services/")[2]
        read = both[number % 2]
        _, job = wait_for(lambda read=read, path=path: read.request("GET", path), lambda answer: answer[0] != 202)  # type: ignore[misc]
        assert job["calls"] == calls
    urls.clear()


@pytest.mark.parametrize("first", [0, 1])
def test_a_sync_job_comes_after_the_async_ones_that_the_other_accepted(
    both: list[GatewayConnection], first: int
) -> None:
    state = new_state()
    for _ in range(3):
        assert both[first].post("trouble", state=state, sleep_s=0.2, **{"async": True})[0] == 202
    assert both[1 - first].post("trouble", state=state)[1]["calls"] == 4


def test_requests_that_overlap_go_in_order_of_arrival_over_both(pair: Stack) -> None:
    """As a camera sends them: over several connections, the next before the last is answered."""
    stream, state = pair.create_stream(), new_state()
    lines = [connect_to(pair, stream, NAMES[number % 2]) for number in range(6)]
    # Two wait at the first gateway while the third arrives at the second, which has none.
    route = [0, 2, 1, 4, 3, 5] * 4
    with ThreadPoolExecutor(len(lines)) as pool:
        waiting = [threading.Lock() for _ in lines]

        def send(line: int) -> tuple[int, dict[str, Any]]:
            with waiting[line]:
                return lines[line].post("trouble", state=state, sleep_s=0.05)

        for _ in range(4):
            sent = []
            for line in route[: len(lines)]:
                sent.append(pool.submit(send, line))
                time.sleep(0.02)
            answers = [one.result() for one in sent]
            assert [status for status, _ in answers] == [201] * len(lines)
            calls = [job["calls"] for _, job in answers]
            assert calls == list(range(calls[0], calls[0] + len(lines)))
    for line in lines:
        line.close()


def has_both_workers(metrics: str) -> bool:
    return "onlooker_live_workers 2.0" in metrics


def test_workers_that_die_cost_no_call_and_none_counts_twice(pair: Stack, both: list[GatewayConnection]) -> None:
    """Both gateways send a session's frames at once while its worker is killed."""
    state, calls, ended = new_state(), list[int](), threading.Event()
    first = both[0].post("trouble", state=state)[1]
    calls.append(first["calls"])

    def send(connection: GatewayConnection) -> None:
        while not ended.is_set():
            status, job = connection.post("trouble", state=state, sleep_s=0.02)
            assert status == 201, job
            assert "error" not in job, job
            calls.append(job["calls"])
            time.sleep(0.02)

    with ThreadPoolExecutor(2) as pool:
        sending = [pool.submit(send, connection) for connection in both]
        try:
            time.sleep(0.5)
            os.kill(first["worker"], signal.SIGKILL)
            time.sleep(FORGET_AFTER_S + 1)  # now a gateway that did not notice has forgotten it too
            for gateway in NAMES:
                wait_for(lambda gateway=gateway: pair.metrics(gateway), has_both_workers)  # type: ignore[misc]
        finally:
            ended.set()
        for one in sending:
            one.result(timeout=30)
    assert sorted(calls) == list(range(1, len(calls) + 1))


def test_a_session_that_is_deleted_at_one_is_gone_at_the_other(both: list[GatewayConnection]) -> None:
    state = new_state()
    path = f"/services/dummy/1/sessions/{state['session_id']}"
    first = both[0].post("dummy", state=state)[1]
    assert both[1].post("dummy", state=state)[1]["calls"] == 2
    assert both[1].request("DELETE", path)[0] == 204
    assert both[0].request("GET", "/services/" + first["url"].partition("/services/")[2])[0] == 404
    assert both[0].request("DELETE", path)[0] == 404
    assert both[0].post("dummy", state=state)[1]["calls"] == 1


@pytest.mark.parametrize("route", [[0], [0, 1]], ids=["one connection", "both"])
def test_a_stream_gets_its_whole_rate_over_any_connections_and_no_more(
    both: list[GatewayConnection], route: list[int]
) -> None:
    statuses: Counter[int] = Counter({200: 2})
    began = time.monotonic()
    number = 0
    while statuses[429] < 20:
        statuses[both[route[number % len(route)]].request("GET", "/services")[0]] += 1
        number += 1
    took_s = time.monotonic() - began
    assert set(statuses) == {200, 429}
    assert BURST + RATE * took_s * 0.95 - 2 <= statuses[200] <= BURST + RATE * (took_s + 2) + 1


def _keep_sending(pair: Stack, connection: GatewayConnection, ended: threading.Event) -> dict[str, Any]:
    """Send a session's frames; where a connection breaks, connect and send again."""
    state, calls, broken = new_state(), list[int](), 0
    stream = pair.streams[-1]
    while not ended.is_set():
        try:
            status, job = connection.post("dummy", state=state)
        except BROKEN:
            broken += 1
            connection.close()
            connection = _connect_again(pair, stream)
            continue
        assert status == 201, job
        calls.append(job["calls"])
        time.sleep(0.02)
    connection.close()
    return {"calls": calls, "broken": broken}


def _connect_again(pair: Stack, stream: Any) -> GatewayConnection:
    while True:
        try:
            return GatewayConnection(pair, stream)
        except BROKEN:
            time.sleep(0.05)


def test_the_death_of_one_costs_the_other_nothing_and_clients_that_retry_lose_nothing(pair: Stack) -> None:
    stream, ended = pair.create_stream(), threading.Event()
    lines = [connect_to(pair, stream, name) for name in NAMES]
    with ThreadPoolExecutor(2) as pool:
        sending = [pool.submit(_keep_sending, pair, line, ended) for line in lines]
        try:
            time.sleep(0.5)
            assert pair.kill("gateway-2")
            time.sleep(0.1)
            for _ in range(10):  # nobody is refused meanwhile
                GatewayConnection(pair, stream).close()
            wait_for(lambda: pair.children().get("gateway-2"), bool)
            connect_to(pair, stream, "gateway-2").close()
        finally:
            ended.set()
        kept, killed = (one.result(timeout=30) for one in sending)
    assert kept["broken"] == 0
    assert kept["calls"] == list(range(1, len(kept["calls"]) + 1))
    assert killed["broken"] >= 1
    skipped = killed["calls"][-1] - len(killed["calls"])
    assert 0 <= skipped <= killed["broken"]  # a frame whose answer was lost was computed, and sent again
    assert killed["calls"] == sorted(set(killed["calls"]))


def test_the_turn_of_a_gateway_that_was_killed_is_over(pair: Stack, both: list[GatewayConnection]) -> None:
    state = new_state()
    with ThreadPoolExecutor(1) as pool:
        breaking = pool.submit(both[1].post, "trouble", state=state, sleep_s=1.0)
        time.sleep(0.3)
        assert pair.kill("gateway-2")
        began = time.monotonic()
        status, job = both[0].post("trouble", state=state)
        assert (status, job["calls"]) == (201, 2)
        assert time.monotonic() - began < 5
        with pytest.raises(BROKEN):
            breaking.result(timeout=10)
    wait_for(lambda: pair.children().get("gateway-2"), bool)
    connect_to(pair, pair.create_stream(), "gateway-2").close()


def test_it_stops_cleanly_while_both_are_sent_frames(pair: Stack) -> None:
    """Cameras send on: their frames are answered, then nobody listens any more. Last, as it ends the product."""
    stream, ended = pair.create_stream(), threading.Event()
    statuses: Counter[int] = Counter()
    pids, said_before = pair.children(), len(pair.output.read_text())

    def send_on(line: GatewayConnection) -> None:
        try:
            while not ended.is_set():
                statuses[line.post("dummy")[0]] += 1
        except BROKEN:
            return
        finally:
            line.close()

    with ThreadPoolExecutor(2) as pool:
        for name in NAMES:
            pool.submit(send_on, connect_to(pair, stream, name))
        time.sleep(0.5)
        began = time.monotonic()
        pair.stop()
        took_s = time.monotonic() - began
        ended.set()
    assert statuses[201] > 0
    assert set(statuses) <= {201, 429}
    assert took_s < 10
    assert pair.process.returncode == 0
    said = pair.output.read_text()[said_before:]
    assert "Stopped." in said
    assert "Traceback" not in said
    assert not any(psutil.pid_exists(pid) for pid in pids.values())
