"""A worker that has as much as it takes refuses more, and is not taken for dead."""

import time
from concurrent.futures import ThreadPoolExecutor

from clients import client_of
from testkit import Stack
from wire import assert_problem, dummy

pytest_plugins = ["stacks"]


def test_a_full_worker_refuses(brief_stack: Stack) -> None:
    """No compute capacity: 503 `overloaded` with `Retry-After`; what was taken before is computed."""
    with client_of(brief_stack, brief_stack.create_stream()) as client, ThreadPoolExecutor(1) as pool:
        slow = pool.submit(client.post, "/services/trouble/1/jobs", json={"sleep_s": 1, "async": False})
        time.sleep(0.3)
        answer = dummy(client)
        assert_problem(answer, 503, "overloaded")
        assert int(answer.headers["retry-after"]) >= 1
        assert slow.result().status_code == 201
    assert "onlooker_live_workers 1.0" in brief_stack.metrics("gateway")
