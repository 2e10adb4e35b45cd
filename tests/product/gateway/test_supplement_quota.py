"""Supplement, streams and quota: what counts as computed video, and when the month is used up."""

import itertools
import time
from datetime import UTC, datetime, timedelta

from clients import client_of
from feed_client import exchange, open_feed, part, results_of
from testkit import Stack, TestStream
from wire import assert_problem, finished, measure, new_state, wait_for

pytest_plugins = ["stacks"]
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
QUOTA_S = 10_800
FRAME_S = 1 / 30
CAMERAS = {
    "one frame": [0],
    "10 a second": [0, 0.1, 0.2, 0.3],
    "faster than 30 a second": [0, 0.001, 0.002],
    "slower than 1 a second": [0, 1, 3, 3600],
    "backwards": [0, 0.5, 0.2, 0.7, -5, 0.9],
    "on the edges": [0, FRAME_S, 1 + FRAME_S, 1.5],
}


def seconds_of(moments: list[float]) -> float:
    """The oracle: what frames of one session at these moments count together; a late one sets no clock back."""
    newest = list(itertools.accumulate(moments, max))
    gaps = [moment - before for before, moment in zip(newest, moments[1:], strict=False)]
    return FRAME_S + sum(min(max(gap, FRAME_S), 1) for gap in gaps)


def used_s(stack: Stack, stream: TestStream, month: str = "now()") -> float:
    rows = f"SELECT video_s FROM streams_usage WHERE stream_id = %s AND month = date_trunc('month', {month})"
    found = stack.execute(rows, stream.id)
    return float(found[0][0]) if found else 0.0


def use(stack: Stack, stream: TestStream, video_s: float, month: str = "now()") -> None:
    insert = f"INSERT INTO streams_usage (stream_id, month, video_s) VALUES (%s, date_trunc('month', {month}), %s)"
    stack.execute(insert, stream.id, video_s)


def await_use(stack: Stack, stream: TestStream, expected_s: float, *, within_s: float = 1e-6) -> None:
    wait_for(lambda: used_s(stack, stream), lambda used: abs(used - expected_s) <= within_s, limit_s=5)


def test_frames_of_a_session_count_by_their_timestamps(stack: Stack) -> None:
    """Each processed frame counts min(max(gap to the session's previous frame, 1/30 s), 1 s), by timestamp ..."""
    streams = [(stack.create_stream(), moments) for moments in CAMERAS.values()]
    for stream, moments in streams:
        state = new_state()
        with client_of(stack, stream) as client:
            for moment in moments:
                timestamp = (NOON + timedelta(seconds=moment)).isoformat()
                assert measure(client, state=state, timestamp=timestamp).status_code == 201
    for stream, moments in streams:
        await_use(stack, stream, seconds_of(moments), within_s=1e-4)


def test_frames_of_a_session_with_the_same_timestamp_count_by_arrival(stack: Stack) -> None:
    """They are timed by the timestamp plus what has passed since its first frame arrived."""
    stream, state, moments = stack.create_stream(), new_state(), []
    with client_of(stack, stream) as client:
        for pause_s in (0, 0.25, 0.01, 1.2):
            time.sleep(pause_s)
            moments.append(time.monotonic())
            measure(client, state=state, timestamp=NOON.isoformat())
    await_use(stack, stream, seconds_of(moments), within_s=0.1)


def test_a_session_that_was_ended_begins_to_count_anew(stack: Stack) -> None:
    """... gap to the session's previous frame: a new session under the same id has none."""
    stream, state = stack.create_stream(), new_state()
    with client_of(stack, stream) as client:
        measure(client, state=state, timestamp=NOON.isoformat())
        client.delete(f"/services/measure/1/sessions/{state['session_id']}")
        measure(client, state=state, timestamp=(NOON + timedelta(seconds=0.9)).isoformat())
    await_use(stack, stream, 2 * FRAME_S)


def test_async_frames_of_a_session_count_as_synchronous_ones_do(stack: Stack) -> None:
    """Each processed frame counts ..., also when it was accepted to be processed later."""
    stream, state = stack.create_stream(), new_state()
    with client_of(stack, stream) as client:
        for moment in (0, 0.4, 0.8):
            timestamp = (NOON + timedelta(seconds=moment)).isoformat()
            last = measure(client, state=state, timestamp=timestamp, **{"async": True}).json()["url"]
        finished(client, last)
    await_use(stack, stream, seconds_of([0, 0.4, 0.8]))


def test_frames_of_a_stream_count_as_jobs_do(stack: Stack) -> None:
    """Each processed frame counts ...: those of the streaming variant too, in a session or 0.1 s each."""
    stream = stack.create_stream()
    with client_of(stack, stream) as client:
        parts = [part(params={"timestamp": (NOON + timedelta(seconds=at)).isoformat()}) for at in (0, 0.3, 0.6)]
        exchange(client, open_feed(client, "measure", state=new_state()), parts)
        exchange(client, open_feed(client, "measure"), parts)
    await_use(stack, stream, seconds_of([0, 0.3, 0.6]) + 0.3)


def test_the_month_is_the_calendar_month_in_utc(stack: Stack) -> None:
    """The month is the calendar month in UTC: what was used in another does not count, and `resets_at` says when."""
    stream = stack.create_stream(kind="developer")
    use(stack, stream, 2 * QUOTA_S, "now() - interval '1 month'")
    use(stack, stream, 2 * QUOTA_S, "now() + interval '1 month'")
    with client_of(stack, stream) as client:
        assert measure(client).status_code == 201
        use(stack, stack.create_stream(), QUOTA_S)
        await_use(stack, stream, 0.1)
        stack.execute("UPDATE streams_usage SET video_s = %s WHERE stream_id = %s", QUOTA_S, stream.id)
        refused = wait_for(lambda: measure(client), lambda answer: answer.status_code == 403, limit_s=3)
    resets_at = datetime.fromisoformat(refused.json()["resets_at"])
    now = datetime.now(UTC)
    assert resets_at.utcoffset() == timedelta(0)
    assert (resets_at.day, resets_at.hour, resets_at.minute, resets_at.second) == (1, 0, 0, 0)
    assert timedelta(0) < resets_at - now <= timedelta(days=31)


def test_at_the_quota_the_gateway_refuses_until_the_stream_is_upgraded(stack: Stack) -> None:
    """At the quota the gateway refuses to compute (above) until the month ends or the stream is upgraded."""
    stream = stack.create_stream(kind="developer")
    use(stack, stream, QUOTA_S - 0.05)
    with client_of(stack, stream) as client:
        assert measure(client).status_code == 201
        assert_problem(measure(client), 403, "quota_exceeded")
        assert_problem(measure(client, state=new_state()), 403, "quota_exceeded")
        assert "computes 3 h of video a month." in measure(client).json()["detail"]
        stack.execute("UPDATE streams_stream SET kind = 'enterprise' WHERE id = %s", stream.id)
        wait_for(lambda: measure(client).status_code, lambda status: status == 201, limit_s=3)


def test_an_enterprise_stream_has_no_quota(stack: Stack) -> None:
    """An unrestricted enterprise stream."""
    stream = stack.create_stream(kind="enterprise")
    use(stack, stream, 100 * QUOTA_S)
    with client_of(stack, stream) as client:
        assert measure(client).status_code == 201


def test_a_stream_of_frames_under_way_is_refused_at_the_quota(stack: Stack) -> None:
    """At the quota the gateway refuses to compute: also the further frames of an input that was begun before."""
    stream = stack.create_stream(kind="developer")
    use(stack, stream, QUOTA_S - 0.15)
    with client_of(stack, stream) as client:
        _, output = exchange(client, open_feed(client, "measure"), [part()] * 4)
    codes = [result.get("error_code") for result in results_of(output)]
    assert codes == [None, None, "quota_exceeded", "quota_exceeded"]
