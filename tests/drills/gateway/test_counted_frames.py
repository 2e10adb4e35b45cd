"""What a gateway writes down of the frames of streams: looked at, or refused, and why; and what a stream might do.

Counts are written every two seconds. So the frames of all streams come first, and are waited for together.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from clients import client_of
from coverage_frames import QUOTA_S, await_refusals, coverage_of, refusals_of, run_cli, states_of, watch
from feed_client import exchange, open_feed, part, results_of
from onlooker.streams.credentials import hash_access_token, new_access_token
from onlooker.streams.video_time import as_duration
from testkit import Stack, TestStream
from wire import finished, measure, new_state, paused, raw_exchange, wait_for

pytest_plugins = ["stacks"]
YESTERDAY = datetime.now(UTC).replace(hour=10, minute=0, second=0, microsecond=0) - timedelta(days=1)
BORDER = YESTERDAY + timedelta(minutes=15)
FRAME_S = 1 / 30
USE = """INSERT INTO streams_usage (stream_id, month, video_s) VALUES (%s, date_trunc('month', now()), %s)
         ON CONFLICT (stream_id, month) DO UPDATE SET video_s = excluded.video_s"""


@dataclass(frozen=True)
class Count:
    """What is to be counted of a stream in the end."""

    stream: TestStream
    refusals: dict[str, int] = field(default_factory=dict)
    coverage: dict[datetime, float] = field(default_factory=dict)


def at(seconds: float) -> str:
    """A timestamp so long after the border between two slots."""
    return (BORDER + timedelta(seconds=seconds)).isoformat()


def await_counts(stack: Stack, counts: list[Count]) -> None:
    for one in counts:
        expected = {slot_at: pytest.approx(video_s, abs=2e-4) for slot_at, video_s in one.coverage.items()}
        wait_for(lambda one=one: coverage_of(stack, one.stream), lambda found, expected=expected: found == expected)  # type: ignore[misc]
        await_refusals(stack, one.stream, one.refusals)


def send_what_is_not_stored(client: httpx2.Client) -> None:
    watch(client, store=False)
    watch(client, store=False, fail="bad_image")
    watch(client, store=False, image="attachment://none")
    measure(client, store=True)
    measure(client, image="attachment://none")
    client.post("/services/dummy/1/jobs", content=b"{")
    exchange(client, open_feed(client, "watch"), [part(), part(field="sound")])


def send_feed(client: httpx2.Client) -> None:
    parts = [part(params={"timestamp": at(moment)}) for moment in (0, 0.5)]
    broken = [part(field="sound"), part(params={"fail": "image_too_large", "timestamp": at(0.6)})]
    _, output = exchange(client, open_feed(client, "watch", store=True, state=new_state()), [*parts, *broken])
    assert [result.get("error_code") for result in results_of(output)][2:] == ["bad_request", "image_too_large"]


def send_too_much(client: httpx2.Client) -> None:
    assert watch(client, b"x" * 200_000).status_code == 413


def send_nonsense(client: httpx2.Client) -> None:
    jobs = "/services/watch/1/jobs/"
    assert client.post(jobs, content=b"{", headers={"Content-Type": "application/json"}).status_code == 400
    assert client.post(jobs, content=b"{", headers={"Content-Type": "text/plain"}).status_code == 415
    assert watch(client, timestamp="yesterday").status_code == 400
    assert watch(client, image="https://localhost/elsewhere").status_code == 400


def send_where_nobody_computes(client: httpx2.Client) -> None:
    for flag in (False, True):
        fields = {"async": flag, "store": True, "state": new_state()}
        assert client.post("/services/unhosted/1/jobs", json=fields).status_code == 503


def send_no_frames(client: httpx2.Client) -> None:
    assert client.get("/services/watch/1/jobs/none").status_code == 404
    assert client.delete("/services/watch/1/sessions/none").status_code == 404
    assert client.post("/services/watch/2/jobs", json={}).status_code == 404
    assert client.post("/services/watch/1/streams", content=b"{").status_code == 415
    assert client.put("/services/watch/1/jobs").status_code == 405
    assert client.post("/blobs", content=b"{").status_code == 415


def break_a_feed(client: httpx2.Client) -> None:
    feed = open_feed(client, "watch", store=True, state=new_state())
    headers = {"Content-Type": "multipart/x-mixed-replace; boundary=myboundary"}
    assert client.post(feed["input"], content=b"--wrong\r\n", headers=headers).status_code == 400
    large = b"--myboundary\r\nContent-Length: 200000\r\n\r\n"
    assert client.post(feed["input"], content=large, headers=headers).status_code == 413


SENT: list[tuple[Callable[[httpx2.Client], None], dict[str, int], float]] = [
    (send_what_is_not_stored, {}, 0),
    (send_feed, {"bad_request": 1, "bad_image": 1}, FRAME_S + 0.5),
    (send_too_much, {"too_large": 1}, 0),
    (send_nonsense, {"bad_request": 4}, 0),
    (send_where_nobody_computes, {"overloaded": 2}, 0),
    (send_no_frames, {}, 0),
    (break_a_feed, {"bad_request": 1, "too_large": 1}, 0),
]
"""By whom, the refusals, and the seconds looked at; one more frame follows, which is covered."""
REASONS = {
    "bad_image": "bad_image",
    "image_too_large": "bad_image",
    "bad_timestamp": "bad_timestamp",
    "worker_died": "failed",
    "anything_else": "failed",
}
"""Of a frame whose computation failed, by its error code."""


def requests_by_content(stack: Stack) -> Iterator[Count]:
    for send, refusals, video_s in SENT:
        stream = stack.create_stream()
        with client_of(stack, stream) as client:
            send(client)
            watch(client, timestamp=at(0))
        yield Count(stream, refusals, {BORDER: FRAME_S + video_s})


def failed_computations(stack: Stack) -> Iterator[Count]:
    for code, reason in REASONS.items():
        stream = stack.create_stream()
        with client_of(stack, stream) as client:
            assert watch(client, fail=code, timestamp=at(0)).status_code == 201
        yield Count(stream, {reason: 1})


def slow_request(stack: Stack) -> Count:
    stream = stack.create_stream()
    head = "POST /services/watch/1/jobs HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 100"
    status, _ = raw_exchange(stack, stream, head, [b"{"])
    assert status == 408
    return Count(stream, {"too_slow": 1})


def wrong_credentials(stack: Stack) -> Count:
    """They are nobody's frames."""
    stream = stack.create_stream()
    with client_of(stack, TestStream(stream.id, stream.client_id, "wrong")) as client:
        assert watch(client).status_code == 401
    return Count(stream)


def disabled_stream(stack: Stack) -> Count:
    stream = stack.create_stream(enabled=False)
    with client_of(stack, stream) as client:
        assert watch(client).status_code == 403
    return Count(stream, {"stream_disabled": 1})


def used_up_stream(stack: Stack) -> Count:
    stream = stack.create_stream(kind="developer")
    stack.execute(USE, stream.id, QUOTA_S)
    with client_of(stack, stream) as client:
        refused = client.post("/services/watch/1/jobs", json={}).json()
    assert refused["code"] == "quota_exceeded"
    assert f"computes {as_duration(QUOTA_S)} of video a month." in refused["detail"]
    return Count(stream, {"quota_exceeded": 1})


def test_every_frame_is_counted_once_as_covered_or_by_the_reason_of_its_refusal(watched_stack: Stack) -> None:
    """Also accepted ones, which end within their time limit (here 3 s) whether somebody computes them or nobody can."""
    stack = watched_stack
    late, unhosted = Count(stack.create_stream(), {"failed": 1}), stack.create_stream()
    with client_of(stack, late.stream) as late_client, client_of(stack, unhosted) as client:
        with paused(stack, "dispatcher"):
            job_id = measure(client, **{"async": True}).json()["uuid"]
            rehost = "UPDATE gateway_job SET service = 'unhosted' WHERE job_id = %s"  # as if its workers were gone
            stack.execute(rehost, job_id)
        counts = [
            *failed_computations(stack),
            *requests_by_content(stack),
            slow_request(stack),
            wrong_credentials(stack),
            disabled_stream(stack),
            used_up_stream(stack),
        ]
        url = watch(late_client, sleep_s=3.2, **{"async": True}).json()["url"]
        await_counts(stack, counts)
        for answer in (finished(late_client, url), finished(client, f"/services/unhosted/1/jobs/{job_id}")):
            assert (answer.status_code, answer.json()["error_code"]) == (200, "time_limit")
        wait_for(lambda: watch(client, timestamp=at(0)).status_code, lambda status: status == 201)  # it is computed
    await_counts(stack, [late, Count(unhosted, {}, {BORDER: FRAME_S})])
    assert refusals_of(stack, late.stream) == {"failed": 1}
    slots = "SELECT DISTINCT slot_at FROM streams_refusal WHERE stream_id = %s"
    by_code = dict(zip(REASONS, counts, strict=False))
    assert stack.execute(slots, by_code["bad_image"].stream.id) == [(BORDER,)]
    [[wrong_slot_at]] = stack.execute(slots, by_code["bad_timestamp"].stream.id)
    assert datetime.now(UTC) - wrong_slot_at < timedelta(minutes=31), "its own time is not believed"


def test_what_a_stream_might_do_is_logged_as_soon_as_a_gateway_notices(watched_stack: Stack) -> None:
    """Its month is used up, a new one begins, its owner's account is disabled."""
    stack = watched_stack
    by_frames, at_quota = (stack.create_stream(kind="developer") for _ in range(2))
    stack.execute(USE, at_quota.id, QUOTA_S)
    made = json.loads(run_cli(stack, "stream", "create", "door", "--json", "--owner", "gone@example.org"))
    [[owned_id]] = stack.execute("SELECT id FROM streams_stream WHERE client_id = %s", made["client_id"])
    with (
        client_of(stack, by_frames) as first,
        client_of(stack, at_quota) as second,
        client_of(stack, TestStream(owned_id, made["client_id"], made["access_token"])) as owned,
    ):
        assert [watch(first).status_code for _ in range(62)] == [201] * 60 + [403] * 2
        assert watch(second).status_code == 403
        assert watch(owned).status_code == 201
        stack.execute("UPDATE accounts_account SET is_active = false WHERE email = 'gone@example.org'")
        await_states(stack, at_quota, ["quota"])
        stack.execute("DELETE FROM streams_usage WHERE stream_id = %s", at_quota.id)
        wait_for(lambda: watch(second).status_code, lambda status: status == 201)
        refused = wait_for(lambda: watch(owned), lambda answer: answer.status_code == 403)
        assert refused.json()["code"] == "stream_disabled"
        await_states(stack, at_quota, ["quota", "enabled"])
        assert states_of(stack, by_frames.id)[-1] == "quota"
        assert states_of(stack, owned_id) == ["enabled", "disabled"]
        stack.execute("UPDATE accounts_account SET is_active = true WHERE email = 'gone@example.org'")
        wait_for(lambda: watch(owned).status_code, lambda status: status == 201)


def await_states(stack: Stack, stream: TestStream, expected: list[str]) -> None:
    wait_for(lambda: states_of(stack, stream.id), lambda found: found == expected)


def test_a_trial_does_not_say_that_the_camera_is_there(watched_stack: Stack) -> None:
    tried, sending = watched_stack.create_stream(), watched_stack.create_stream()
    trial = TestStream(tried.id, tried.client_id, new_access_token())
    watched_stack.execute(
        """INSERT INTO streams_accesstoken (stream_id, sha256, created_at, expires_at, is_trial)
           VALUES (%s, %s, now(), now() + interval '15 minutes', true)""",
        tried.id,
        hash_access_token(trial.access_token),
    )
    for stream in (trial, sending):
        with client_of(watched_stack, stream) as client:
            assert watch(client, state=new_state()).status_code == 201
    query = "SELECT last_frame_at IS NOT NULL FROM streams_usage WHERE stream_id = ANY(%s) ORDER BY stream_id"
    seen = wait_for(lambda: watched_stack.execute(query, [tried.id, sending.id]), lambda rows: len(rows) == 2)
    assert seen == [(False,), (True,)]


def test_what_a_stream_reads_and_keeps_reaches_the_worker_and_the_list(watched_stack: Stack) -> None:
    """Also with a frame that was accepted before."""
    stream, unchanged = watched_stack.create_stream(), watched_stack.create_stream()
    told = {
        **{"stream_id": stream.id, "reads_age": False, "reads_gender": False, "reads_expression": False},
        **{"reads_faces": True, "retention_days": 3650, "time_zone": "Asia/Kathmandu"},
    }
    with client_of(watched_stack, stream) as client:
        with paused(watched_stack, "dispatcher"):
            url = watch(client, **{"async": True}).json()["url"]
            watched_stack.execute(
                """UPDATE streams_stream SET reads_age = false, reads_gender = false, reads_expression = false,
                                             retention_days = 3650, time_zone = 'Asia/Kathmandu' WHERE id = %s""",
                stream.id,
            )
        assert finished(client, url).json()["sender"] == told
        wait_for(lambda: watch(client).json()["sender"], lambda sender: sender == told, limit_s=3)
        _, output = exchange(client, open_feed(client, "watch"), [part()])
        assert results_of(output)[0]["sender"] == told
    lines = {line.split()[1]: line.split() for line in run_cli(watched_stack, "stream", "list").splitlines()}
    assert lines["client_id"][4:6] == ["days", "reads"]
    assert lines[unchanged.client_id][4:6] == ["365", "age,gender,expression"]
    assert lines[stream.client_id][4:6] == ["3650", "nothing"]
