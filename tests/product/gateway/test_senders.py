"""What a worker learns about the stream that sent a frame, and when the frame came."""

import time

import httpx2
import pytest

from clients import client_of
from coverage_frames import run_cli, watch
from testkit import Stack
from wire import finished, paused

pytest_plugins = ["stacks"]
READS = {"reads_age": True, "reads_gender": True, "reads_expression": True, "reads_faces": True}
DEFAULTS = READS | {"retention_days": 365, "time_zone": "UTC"}


def test_a_worker_is_told_what_is_read_and_how_long_visits_are_kept(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream()
    with client_of(watched_stack, stream) as client:
        assert watch(client).json()["sender"] == DEFAULTS | {"stream_id": stream.id}


def test_a_frame_arrived_when_its_request_did(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream()

    def arrived_after(client: httpx2.Client, started: float) -> None:
        assert started <= watch(client).json()["arrived_at"] <= time.time()

    with client_of(watched_stack, stream) as client:
        arrived_after(client, time.time())
        with paused(watched_stack, "dispatcher"):
            url = watch(client, **{"async": True}).json()["url"]
            accepted = time.time()
            time.sleep(0.5)
        assert finished(client, url).json()["arrived_at"] <= accepted + 0.05


@pytest.mark.parametrize("days", ["0", "3651", "-1", "many"])
def test_a_retention_out_of_range_is_refused_with_the_range(watched_stack: Stack, days: str) -> None:
    stream = watched_stack.create_stream()
    with pytest.raises(AssertionError, match="--retention-days"):
        run_cli(watched_stack, "stream", "set", stream.client_id, "--retention-days", days)
