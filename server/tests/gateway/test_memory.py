"""The memory that request bodies may fill: never more than the limit, and all of it given back."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clients import EXTRA_SERVICES, client_of
from onlooker.errors import Problem
from onlooker.gateway.concurrency import BodyMemory
from testkit import migrated_database, running_stack

LIMIT = 100


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 70)), max_size=40))
def test_requests_never_hold_more_than_the_limit(changes: list[tuple[int, int]]) -> None:
    """Oracle: a dictionary of what each request holds."""
    memory, held = BodyMemory(LIMIT), dict.fromkeys(range(5), 0)
    holdings = [memory.open() for _ in held]
    for number, size in changes:
        fits = sum(held.values()) - held[number] + size <= LIMIT or size <= held[number]
        if fits:
            holdings[number].hold(size)
            held[number] = size
        else:
            with pytest.raises(Problem):
                holdings[number].hold(size)
        assert memory.held_bytes == sum(held.values())
    for holding in holdings:
        holding.hold(0)
    assert memory.held_bytes == 0


def test_bodies_over_the_memory_are_refused_and_room_comes_back() -> None:
    body = {"image": "x" * 60_000, "async": False, "sleep_s": 0.3}
    settings = {"body_memory_bytes": 100_000, "extra_services": EXTRA_SERVICES}
    with (
        migrated_database() as url,
        running_stack(url, **settings) as stack,
        ThreadPoolExecutor(4) as pool,
        client_of(stack, stack.create_stream()) as client,
    ):
        for _ in range(2):
            answers = list(pool.map(lambda _: client.post("/services/trouble/1/jobs", json=body), range(4)))
            statuses = sorted(answer.status_code for answer in answers)
            assert statuses[0] == 201
            assert statuses[-1] == 503
        assert client.post("/services/trouble/1/jobs", json=body).status_code == 201
