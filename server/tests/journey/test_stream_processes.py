"""A product in which each stream has a computing process of its own."""

from collections.abc import Iterator

import pytest

from clients import client_of
from testkit import Stack, TestStream, migrated_database, running_stack


@pytest.fixture(scope="module")
def product() -> Iterator[Stack]:
    settings = {"compute_processes": "stream", "compute_processes_limit": 2}
    with (
        migrated_database() as url,
        running_stack(url, extra_services="extra.trouble", worker_services="trouble", **settings) as running,
    ):
        yield running


def pid_of(stack: Stack, stream: TestStream, **fields: object) -> int | None:
    with client_of(stack, stream) as client:
        answer = client.post("/services/trouble/1/jobs", json={"async": False} | fields).json()
    return answer.get("pid")


def test_streams_do_not_share_a_process(product: Stack) -> None:
    streams = [product.create_stream() for _ in range(3)]
    pids = [pid_of(product, streams[number]) for number in (0, 1, 0, 1)]
    assert pids[0] == pids[2] != pids[1] == pids[3]
    assert pid_of(product, streams[2]) not in pids
    assert pid_of(product, streams[1]) == pids[1]
    assert 'onlooker_worker_processes_killed_total{reason="evicted"} 1.0' in product.metrics("worker-1")


def test_a_death_in_one_stream_leaves_the_others_process(product: Stack) -> None:
    quiet, deadly = product.create_stream(), product.create_stream()
    before = pid_of(product, quiet)
    assert pid_of(product, deadly, die=True) is None
    assert pid_of(product, quiet) == before
