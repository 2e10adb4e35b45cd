"""What was looked at and what was refused, by stream and 15 minutes: 'nobody came' is not 'the camera was off'."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from importlib.metadata import version

import httpx2
import pytest

from clients import client_of
from coverage_frames import QUOTA_S, await_refusals, blindness_of, coverage_of, refusals_of, watch
from feed_client import exchange, open_feed, part, results_of
from onlooker.streams.coverage import Reason
from onlooker.streams.video_time import as_duration
from testkit import Stack, TestStream
from testkit.pictures import empty_wall
from wire import finished, measure, multipart, new_state, raw_exchange, wait_for

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


def test_only_frames_that_are_to_be_stored_are_covered(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream()
    with client_of(watched_stack, stream) as client:
        watch(client, store=False)
        watch(client, store=False, fail="bad_image")
        watch(client, store=False, image="attachment://none")
        measure(client, store=True)
        measure(client, image="attachment://none")
        client.post("/services/dummy/1/jobs", content=b"{")
        exchange(client, open_feed(client, "watch"), [part(), part(field="sound")])
        watch(client, timestamp=at(1))
    await_coverage(watched_stack, stream, {BORDER: FIRST_FRAME_S})
    assert refusals_of(watched_stack, stream) == {}


def test_frames_of_feeds_are_covered(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream()
    with client_of(watched_stack, stream) as client:
        feed = open_feed(client, "watch", store=True, state=new_state())
        parts = [part(params={"timestamp": at(moment)}) for moment in (0, 0.5, 1.0)]
        broken = [part(field="sound"), part(params={"fail": "image_too_large", "timestamp": at(1.5)})]
        _, output = exchange(client, feed, [*parts, *broken])
        assert [result.get("error_code") for result in results_of(output)][3:] == ["bad_request", "image_too_large"]
    await_coverage(watched_stack, stream, {BORDER: FRAME_S + 1.0})
    await_refusals(watched_stack, stream, {"bad_request": 1, "bad_image": 1})


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


def test_an_accepted_frame_past_its_time_limit_failed_once(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream()
    with client_of(watched_stack, stream) as client:
        url = watch(client, sleep_s=4, **{"async": True}).json()["url"]
        assert finished(client, url).json()["error_code"] == "time_limit"
    await_refusals(watched_stack, stream, {"failed": 1})
    time.sleep(2.5)
    assert refusals_of(watched_stack, stream) == {"failed": 1}


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("bad_image", "bad_image"),
        ("image_too_large", "bad_image"),
        ("bad_timestamp", "bad_timestamp"),
        ("worker_died", "failed"),
        ("internal_error", "failed"),
        ("anything_else", "failed"),
    ],
)
def test_a_frame_whose_computation_failed_is_refused_by_reason(watched_stack: Stack, code: str, reason: str) -> None:
    stream = watched_stack.create_stream()
    with client_of(watched_stack, stream) as client:
        assert watch(client, fail=code, timestamp=at(0)).status_code == 201
    await_refusals(watched_stack, stream, {reason: 1})
    slots = {
        row[0] for row in watched_stack.execute("SELECT slot_at FROM streams_refusal WHERE stream_id = %s", stream.id)
    }
    if reason == "bad_timestamp":
        assert slots <= {now_slot(), now_slot() - timedelta(minutes=15)}
    else:
        assert slots == {BORDER}
    assert coverage_of(watched_stack, stream) == {}


def test_a_frame_that_was_skipped_is_refused_and_counts_no_video(watched_stack: Stack) -> None:
    stream, state = watched_stack.create_stream(), new_state()
    with client_of(watched_stack, stream) as client:
        for moment, more in ((0, {}), (0.5, {}), (0.3, {"skip": "out_of_order"}), (1.0, {})):
            watch(client, state=state, timestamp=at(moment), **more)
    await_coverage(watched_stack, stream, {BORDER: FRAME_S + 1.0})
    await_refusals(watched_stack, stream, {"out_of_order": 1})
    used = "SELECT video_s FROM streams_usage WHERE stream_id = %s"
    assert watched_stack.execute(used, stream.id)[0][0] == pytest.approx(FRAME_S + 1.0, abs=1e-4)


def _send_too_much(client: httpx2.Client) -> None:
    assert watch(client, b"x" * 200_000).status_code == 413


def _send_nonsense(client: httpx2.Client) -> None:
    jobs = "/services/watch/1/jobs/"
    assert client.post(jobs, content=b"{", headers={"Content-Type": "application/json"}).status_code == 400
    assert client.post(jobs, content=b"{", headers={"Content-Type": "text/plain"}).status_code == 415
    assert watch(client, timestamp="yesterday").status_code == 400
    assert watch(client, image="https://localhost/elsewhere").status_code == 400


def _send_where_nobody_computes(client: httpx2.Client) -> None:
    for flag in (False, True):
        fields = {"async": flag, "store": True, "state": new_state()}
        assert client.post("/services/unhosted/1/jobs", json=fields).status_code == 503


def _send_no_frames(client: httpx2.Client) -> None:
    assert client.get("/services/watch/1/jobs/none").status_code == 404
    assert client.delete("/services/watch/1/sessions/none").status_code == 404
    assert client.post("/services/watch/2/jobs", json={}).status_code == 404
    assert client.post("/services/watch/1/streams", content=b"{").status_code == 415
    assert client.put("/services/watch/1/jobs").status_code == 405
    assert client.post("/blobs", content=b"{").status_code == 415


def _break_a_feed(client: httpx2.Client) -> None:
    feed = open_feed(client, "watch", store=True, state=new_state())
    headers = {"Content-Type": "multipart/x-mixed-replace; boundary=myboundary"}
    assert client.post(feed["input"], content=b"--wrong\r\n", headers=headers).status_code == 400
    large = b"--myboundary\r\nContent-Length: 200000\r\n\r\n"
    assert client.post(feed["input"], content=large, headers=headers).status_code == 413


@pytest.mark.parametrize(
    ("send", "expected"),
    [
        (_send_too_much, {"too_large": 1}),
        (_send_nonsense, {"bad_request": 4}),
        (_send_where_nobody_computes, {"overloaded": 2}),
        (_send_no_frames, {}),
        (_break_a_feed, {"bad_request": 1, "too_large": 1}),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_a_refused_request_is_counted_if_it_was_a_frame(
    watched_stack: Stack, send: Callable[[httpx2.Client], None], expected: dict[str, int]
) -> None:
    stream = watched_stack.create_stream()
    with client_of(watched_stack, stream) as client:
        send(client)
        watch(client, timestamp=at(0))
    await_coverage(watched_stack, stream, {BORDER: FIRST_FRAME_S})
    await_refusals(watched_stack, stream, expected)


def test_a_frame_that_arrives_too_slowly_is_counted(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream()
    head = "POST /services/watch/1/jobs HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 100"
    status, _ = raw_exchange(watched_stack, stream, head, [b"{"])
    assert status == 408
    await_refusals(watched_stack, stream, {"too_slow": 1})


def test_frames_beyond_the_rate_are_counted_before_anything_of_them_is_read(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream()
    with client_of(watched_stack, stream) as client:
        jobs = [client.post("/services/scene_analysis/1/jobs", json={}).status_code for _ in range(120)]
        refused = jobs.count(429)
        assert refused
        await_refusals(watched_stack, stream, {"rate_limited": refused, "bad_request": 120 - refused})


def test_frames_of_a_stream_that_may_not_compute_are_counted_by_state(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream(kind="developer", enabled=False)
    with client_of(watched_stack, stream) as client:
        assert watch(client).status_code == 403
        watched_stack.execute("UPDATE streams_stream SET enabled = true WHERE id = %s", stream.id)
        wait_for(lambda: watch(client).status_code, lambda status: status == 201, limit_s=3)
        use = "UPDATE streams_usage SET video_s = %s WHERE stream_id = %s RETURNING 1"
        wait_for(lambda: watched_stack.execute(use, QUOTA_S, stream.id), bool)
        wait_for(lambda: watch(client).status_code, lambda status: status == 403, limit_s=3)
        feed_frame = client.post("/services/watch/1/jobs", json={})
        assert feed_frame.json()["code"] == "quota_exceeded"
        assert f"computes {as_duration(QUOTA_S)} of video a month." in feed_frame.json()["detail"]
    wait_for(
        lambda: set(refusals_of(watched_stack, stream)), lambda found: found == {"stream_disabled", "quota_exceeded"}
    )


def test_wrong_credentials_are_nobodys_frames(watched_stack: Stack) -> None:
    count = "SELECT coalesce(sum(frames), 0) FROM streams_refusal"
    stream = watched_stack.create_stream()
    time.sleep(2.5)
    before = watched_stack.execute(count)
    with client_of(watched_stack, TestStream(stream.id, stream.client_id, "wrong")) as client:
        assert watch(client).status_code == 401
    with client_of(watched_stack, stream) as client:
        watch(client)
    wait_for(lambda: coverage_of(watched_stack, stream), bool)
    assert watched_stack.execute(count) == before


def test_a_gateway_that_stops_writes_what_it_counted(
    watched_stack: Stack, another_gateway: Callable[[], AbstractContextManager[str]]
) -> None:
    stream = watched_stack.create_stream()
    with another_gateway() as url, httpx2.Client(base_url=url, auth=stream.auth) as client:
        watch(client, timestamp=at(0))
        watch(client, fail="bad_image")
    assert coverage_of(watched_stack, stream) == {BORDER: FIRST_FRAME_S}
    assert refusals_of(watched_stack, stream) == {"bad_image": 1}


def test_frames_of_scene_analysis_are_covered(stack: Stack) -> None:
    """The service that it is all for, with real pictures."""
    stream, state, wall = stack.create_stream(), new_state(), empty_wall()
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    frames = [
        (wall, at(0)),
        (wall, at(0.5)),
        (wall, at(0.2)),
        (wall, tomorrow),
        (b"no picture", at(0.7)),
        (wall, at(1)),
    ]
    with client_of(stack, stream) as client:
        for data, timestamp in frames:
            meta = {"image": "attachment://shot", "async": False, "store": True, "state": state, "timestamp": timestamp}
            job = client.post("/services/scene_analysis/1/jobs", files=multipart(meta, shot=data))
            assert job.status_code == 201, job.text
    await_refusals(stack, stream, {"out_of_order": 1, "bad_timestamp": 1, "bad_image": 1})
    await_coverage(stack, stream, {BORDER: round(FRAME_S + 1.0, 4)})
    query = "SELECT slot_at, models_version, frames, dark_frames, face_frames FROM streams_quality WHERE stream_id = %s"
    [quality] = wait_for(lambda: stack.execute(query, stream.id), bool, limit_s=8)
    assert quality == (BORDER, version("onlooker-models"), 3, 0, 0)


def test_every_reason_is_short_and_stable() -> None:
    """Stored for years: a change here needs a migration."""
    assert {str(reason) for reason in Reason} == {
        *("rate_limited", "overloaded", "quota_exceeded", "stream_disabled", "too_large", "bad_request"),
        *("too_slow", "bad_image", "bad_timestamp", "out_of_order", "failed"),
        *("journal_full", "clock_unknown", "compute_busy", "stream_closed"),
    }
