"""Overload is refused, not queued without bound; what was accepted is computed all the same."""

import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from clients import EXTRA_SERVICES, client_of
from testkit import Stack, migrated_database, running_stack
from testkit.stopwatch import Stopwatch


@pytest.fixture(scope="module")
def narrow() -> Iterator[Stack]:
    """A product with little room: two jobs in the worker, six in the gateway, two waiting in a session."""
    with (
        migrated_database() as url,
        running_stack(
            url,
            extra_services=EXTRA_SERVICES,
            worker_services="trouble",
            worker_queue_limit=2,
            gateway_jobs_limit=6,
            stream_share=1.0,
            address_share=1.0,
            session_queue_limit=2,
            async_jobs_per_stream=5,
            rate_limit_per_second=1e5,
            rate_limit_burst=10**5,
            job_time_limit_s=3,
        ) as running,
    ):
        yield running


def _send_at_once(stack: Stack, bodies: list[dict[str, object]]) -> list[httpx2.Response]:
    with client_of(stack, stack.create_stream()) as client, ThreadPoolExecutor(len(bodies)) as pool:
        return list(pool.map(lambda body: client.post("/services/trouble/1/jobs", json=body), bodies))


def _check_refusals(answers: list[httpx2.Response]) -> int:
    refused = [answer for answer in answers if answer.status_code == 503]
    for answer in refused:
        assert answer.json()["code"] == "overloaded"
        assert int(answer.headers["retry-after"]) >= 1
    assert {answer.status_code for answer in answers} == {201, 503}
    return len(refused)


@pytest.mark.alone
def test_a_full_worker_refuses(narrow: Stack) -> None:
    answers = _send_at_once(narrow, [{"async": False, "sleep_s": 0.5}] * 5)
    assert _check_refusals(answers) == 3


@pytest.mark.alone
def test_too_many_requests_of_one_session_are_refused(narrow: Stack) -> None:
    state = {"session_id": str(uuid.uuid4())}
    answers = _send_at_once(narrow, [{"async": False, "sleep_s": 0.3, "state": state}] * 8)
    assert _check_refusals(answers) == 5
    calls = sorted(answer.json()["calls"] for answer in answers if answer.status_code == 201)
    assert calls == [1, 2, 3]


def test_too_many_accepted_jobs_of_one_stream_are_refused(narrow: Stack) -> None:
    answers = _send_at_once(narrow, [{"sleep_s": 0.5}] * 12)
    accepted = [answer for answer in answers if answer.status_code == 202]
    refused = [answer for answer in answers if answer.status_code == 503]
    assert len(accepted) >= 5
    assert len(accepted) + len(refused) == 12
    assert refused
    assert all("retry-after" in answer.headers for answer in refused)


def test_accepted_jobs_wait_for_room_and_all_end_right(narrow: Stack) -> None:
    with client_of(narrow, narrow.create_stream()) as client:
        urls = [client.post("/services/trouble/1/jobs", json={"sleep_s": 0.2}).json()["url"] for _ in range(5)]
        give_up_at = time.monotonic() + 30
        for url in urls:
            while (answer := client.get(url)).status_code == 202:
                assert time.monotonic() < give_up_at
                time.sleep(0.1)
            assert answer.json()["slept_s"] == 0.2


@pytest.mark.alone
def test_a_job_over_its_time_limit_ends_with_an_error(narrow: Stack) -> None:
    with client_of(narrow, narrow.create_stream()) as client:
        watch = Stopwatch()
        body = client.post("/services/trouble/1/jobs", json={"async": False, "sleep_s": 4.5}).json()
        assert body["error_code"] == "time_limit"
        assert watch.elapsed_s < 4
        time.sleep(2)
