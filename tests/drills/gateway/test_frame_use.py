"""Supplement, streams and quota: what counts as computed video. Use is written every two seconds: waited for once."""

import time
from datetime import UTC, datetime, timedelta

from clients import client_of
from testkit import Stack, TestStream
from wire import assert_problem, dummy, finished, measure, new_state, store_blob, wait_for

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
FRAME_S = 1 / 30


def await_use(stack: Stack, stream: TestStream, expected_s: float, *, within_s: float = 1e-6) -> None:
    query = "SELECT coalesce(sum(video_s), 0) FROM streams_usage WHERE stream_id = %s"
    wait_for(lambda: float(str(stack.execute(query, stream.id)[0][0])), lambda used: abs(used - expected_s) <= within_s)


def test_what_a_frame_counts(stack: Stack) -> None:
    """By arrival where there is no timestamp; each session for itself; 0.1 s with an image and no session; else 0."""
    arriving, twice, alone, others = (stack.create_stream() for _ in range(4))
    with client_of(stack, arriving) as client:
        state, moments = new_state(), []
        for pause_s in (0, 0.25):
            time.sleep(pause_s)
            moments.append(time.monotonic())
            measure(client, state=state)
    with client_of(stack, twice) as client:
        states = [new_state(), new_state()]
        for moment in (0, 0.5, 1.0):
            for state in states:
                measure(client, state=state, timestamp=(NOON + timedelta(seconds=moment)).isoformat())
    with client_of(stack, alone) as client:
        measure(client)
        measure(client, timestamp=NOON.isoformat())
        measure(client, image=store_blob(client).json()["url"])
        finished(client, measure(client, **{"async": True}).json()["url"])
    with client_of(stack, others) as client:
        for _ in range(3):
            dummy(client)
            dummy(client, state=new_state())
        finished(client, client.post("/services/dummy/1/jobs", json={}).json()["url"])
        store_blob(client)
        assert_problem(measure(client, image="attachment://none"), 400, "bad_request")
        measure(client)
    await_use(stack, arriving, FRAME_S + min(moments[1] - moments[0], 1), within_s=0.1)
    await_use(stack, twice, 2 * (FRAME_S + 1.0))
    await_use(stack, alone, 0.4)
    await_use(stack, others, 0.1)
