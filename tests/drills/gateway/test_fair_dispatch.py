"""The dispatcher takes jobs of all streams in turn: one with many waiting holds up nobody."""

import time
from collections.abc import Iterator

import httpx2
import pytest

from clients import EXTRA_SERVICES, client_of
from testkit import Stack, migrated_database, running_stack

JOBS = "/services/trouble/1/jobs"


@pytest.fixture
def two_at_a_time() -> Iterator[Stack]:
    """A product whose dispatcher has two jobs computed at a time."""
    roomy = {"rate_limit_per_second": 1e5, "rate_limit_burst": 10**5, "worker_services": "trouble"}
    with (
        migrated_database() as url,
        running_stack(url, extra_services=EXTRA_SERVICES, dispatcher_jobs=2, **roomy) as running,
    ):
        yield running


def await_results(client: httpx2.Client, urls: list[str]) -> None:
    give_up_at = time.monotonic() + 60
    for url in urls:
        while client.get(url).status_code == 202:
            assert time.monotonic() < give_up_at
            time.sleep(0.05)


def ended(stack: Stack) -> int:
    (row,) = stack.execute("SELECT count(*) FROM gateway_job WHERE finished_at IS NOT NULL")
    return int(row[0])


def test_a_stream_with_many_accepted_jobs_does_not_hold_up_another(two_at_a_time: Stack) -> None:
    stack = two_at_a_time
    with (
        client_of(stack, stack.create_stream()) as greedy,
        client_of(stack, stack.create_stream()) as modest,
    ):
        for _ in range(30):
            assert greedy.post(JOBS, json={"sleep_s": 0.1}).status_code == 202
        ended_before = ended(stack)
        few = [modest.post(JOBS, json={"sleep_s": 0.1}).json()["url"] for _ in range(5)]
        await_results(modest, few)
        assert ended(stack) - ended_before <= 15, "first come, first served would be thirty"
