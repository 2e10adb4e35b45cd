"""What was looked at and what was refused, by stream and 15 minutes: 'nobody came' is not 'the camera was off'."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from clients import client_of
from coverage_frames import await_refusals, blindness_of, coverage_of, refusals_of, watch
from onlooker.streams.coverage import Reason
from testkit import Stack, TestStream
from wire import finished, new_state, wait_for

pytest_plugins = ["stacks"]
YESTERDAY = datetime.now(UTC).replace(hour=10, minute=0, second=0, microsecond=0) - timedelta(days=1)
FIRST_FRAME_S = round(1 / 30, 4)
"""What the first frame of a session counts, as it is read from the table."""
BORDER = YESTERDAY + timedelta(minutes=15)
FRAME_S = 1 / 30


def at(seconds: float) -> str:
    """A timestamp so long after the border between two slots."""
    return (BORDER + timedelta(seconds=seconds)).isoformat()


def await_coverage(stack: Stack, stream: TestStream, expected: dict[datetime, float]) -> None:
    rounded = {slot_at: round(video_s, 4) for slot_at, video_s in expected.items()}
    wait_for(lambda: coverage_of(stack, stream), lambda found: found == pytest.approx(rounded, abs=2e-4), limit_s=8)


def now_slot() -> datetime:
    return datetime.fromtimestamp(time.time() // 900 * 900, UTC)


def test_computed_video_is_added_up_in_the_slot_of_the_frames_own_time(watched_stack: Stack) -> None:
    stream, state = watched_stack.create_stream(), new_state()
    with client_of(watched_stack, stream) as client:
        for moment in (-1.0, -0.6, -0.2, 0.2, 0.5):
            assert watch(client, state=state, timestamp=at(moment)).status_code == 201
    await_coverage(watched_stack, stream, {YESTERDAY: FRAME_S + 0.8, BORDER: 0.7})
    assert refusals_of(watched_stack, stream) == {}


def test_video_of_a_blind_camera_is_not_covered_but_counts_towards_the_month(watched_stack: Stack) -> None:
    stream, state = watched_stack.create_stream(), new_state()
    with client_of(watched_stack, stream) as client:
        for moment, blind in ((-1.0, ""), (-0.6, "covered"), (-0.2, "covered"), (0.2, "dark"), (0.5, "")):
            fields = {"blind": blind} if blind else {}
            assert watch(client, state=state, timestamp=at(moment), **fields).status_code == 201
    await_coverage(watched_stack, stream, {YESTERDAY: FRAME_S, BORDER: 0.3})
    assert blindness_of(watched_stack, stream) == {(YESTERDAY, "covered"): 0.8, (BORDER, "dark"): 0.4}
    used = "SELECT video_s FROM streams_usage WHERE stream_id = %s"
    assert watched_stack.execute(used, stream.id)[0][0] == pytest.approx(FRAME_S + 1.5, abs=2e-4)
    assert refusals_of(watched_stack, stream) == {}


def test_frames_without_a_timestamp_count_when_they_arrive(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream()
    with client_of(watched_stack, stream) as client:
        slots = {now_slot()}
        watch(client)
        slots.add(now_slot())  # one may have ended meanwhile
    [(slot_at, video_s)] = wait_for(lambda: coverage_of(watched_stack, stream), bool, limit_s=8).items()
    assert slot_at in slots
    assert video_s == pytest.approx(FIRST_FRAME_S, abs=2e-4)


def test_accepted_frames_are_covered_when_they_are_computed(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream()
    with client_of(watched_stack, stream) as client:
        sent = [
            watch(client, timestamp=at(0), **{"async": True}),
            watch(client, timestamp=at(0), fail="bad_image", **{"async": True}),
        ]
        for answer in sent:
            finished(client, answer.json()["url"])
    await_coverage(watched_stack, stream, {BORDER: FIRST_FRAME_S})
    await_refusals(watched_stack, stream, {"bad_image": 1})


def test_a_frame_that_was_skipped_is_refused_and_counts_no_video(watched_stack: Stack) -> None:
    stream, state = watched_stack.create_stream(), new_state()
    with client_of(watched_stack, stream) as client:
        for moment, more in ((0, {}), (0.5, {}), (0.3, {"skip": "out_of_order"}), (1.0, {})):
            watch(client, state=state, timestamp=at(moment), **more)
    await_coverage(watched_stack, stream, {BORDER: FRAME_S + 1.0})
    await_refusals(watched_stack, stream, {"out_of_order": 1})
    used = "SELECT video_s FROM streams_usage WHERE stream_id = %s"
    assert watched_stack.execute(used, stream.id)[0][0] == pytest.approx(FRAME_S + 1.0, abs=1e-4)


def test_frames_beyond_the_rate_are_counted_before_anything_of_them_is_read(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream()
    with client_of(watched_stack, stream) as client:
        jobs = [client.post("/services/scene_analysis/1/jobs", json={}).status_code for _ in range(120)]
        refused = jobs.count(429)
        assert refused
        await_refusals(watched_stack, stream, {"rate_limited": refused, "bad_request": 120 - refused})


def test_a_gateway_that_stops_writes_what_it_counted(
    watched_stack: Stack, another_gateway: Callable[[], AbstractContextManager[str]]
) -> None:
    stream = watched_stack.create_stream()
    with another_gateway() as url, httpx2.Client(base_url=url, auth=stream.auth) as client:
        watch(client, timestamp=at(0))
        watch(client, fail="bad_image")
    assert coverage_of(watched_stack, stream) == {BORDER: FIRST_FRAME_S}
    assert refusals_of(watched_stack, stream) == {"bad_image": 1}


def test_every_reason_is_short_and_stable() -> None:
    """Stored for years: a change here needs a migration."""
    assert {str(reason) for reason in Reason} == {
        *("rate_limited", "overloaded", "quota_exceeded", "stream_disabled", "too_large", "bad_request"),
        *("too_slow", "bad_image", "bad_timestamp", "out_of_order", "failed"),
        *("journal_full", "clock_unknown", "compute_busy", "stream_closed"),
    }
