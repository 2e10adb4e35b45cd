"""A trial token: computed at once, stored nowhere, counted like any other; it opens nothing else."""

import uuid

import pytest

from clients import client_of
from coverage_frames import QUOTA_S, coverage_of, refusals_of, watch
from onlooker.gateway.routes import ROUTES
from onlooker.streams.credentials import hash_access_token, new_access_token
from testkit import Stack, TestStream
from wire import assert_problem, dummy, measure, new_state, store_blob, wait_for

pytest_plugins = ["stacks"]
FOR_TRIALS = {("POST", "/services/{name}/{version}/jobs"), ("DELETE", "/services/{name}/{version}/sessions/{id}")}


def add_trial(stack: Stack, stream: TestStream, *, lasts_s: float = 900) -> TestStream:
    """The same stream, with a trial token."""
    token = new_access_token()
    stack.execute(
        """INSERT INTO streams_accesstoken (stream_id, sha256, created_at, expires_at, is_trial)
           VALUES (%s, %s, now(), now() + %s * interval '1 second', true)""",
        stream.id,
        hash_access_token(token),
        lasts_s,
    )
    return TestStream(stream.id, stream.client_id, token)


def video_of(stack: Stack, stream: TestStream) -> float:
    rows = stack.execute("SELECT video_s FROM streams_usage WHERE stream_id = %s", stream.id)
    return float(sum(row[0] for row in rows))


def test_nothing_is_stored_whatever_a_trial_asks_for_and_yet_it_counts(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream()
    with client_of(watched_stack, add_trial(watched_stack, stream)) as trial:
        for fields in ({"store": True}, {"store": False}, {}):
            assert watch(trial, state=new_state(), **fields).status_code == 201
    wait_for(lambda: video_of(watched_stack, stream), lambda seen_s: seen_s == pytest.approx(3 / 30))
    assert coverage_of(watched_stack, stream) == {}


def test_refused_frames_of_a_trial_are_missing_from_no_coverage(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream(enabled=False)
    with client_of(watched_stack, add_trial(watched_stack, stream)) as trial:
        assert_problem(watch(trial), 403, "stream_disabled")
    with client_of(watched_stack, stream) as device:
        assert_problem(watch(device), 403, "stream_disabled")
    found = wait_for(lambda: refusals_of(watched_stack, stream), bool, limit_s=8)
    assert sum(found.values()) == 1


def test_a_trial_uses_up_the_month_and_is_refused_with_it(watched_stack: Stack) -> None:
    stream = watched_stack.create_stream(kind="developer")
    month = "date_trunc('month', now() AT TIME ZONE 'UTC')"
    usage = f"INSERT INTO streams_usage (stream_id, month, video_s) VALUES (%s, {month}, %s)"
    watched_stack.execute(usage, stream.id, QUOTA_S)
    with client_of(watched_stack, add_trial(watched_stack, stream)) as trial:
        assert_problem(watch(trial), 403, "quota_exceeded")


def test_a_trial_has_its_sessions_and_ends_them(stack: Stack, stream: TestStream) -> None:
    state = new_state()
    with client_of(stack, add_trial(stack, stream)) as trial:
        assert [dummy(trial, state=state).json()["calls"] for _ in range(2)] == [1, 2]
        assert trial.delete(f"/services/dummy/1/sessions/{state['session_id']}").status_code == 204
        assert dummy(trial, state=state).json()["calls"] == 1


def test_a_trial_accepts_no_job_for_later(stack: Stack, stream: TestStream) -> None:
    with client_of(stack, add_trial(stack, stream)) as trial:
        for fields in ({}, {"async": True}):
            assert_problem(trial.post("/services/dummy/1/jobs", json=fields), 400, "bad_request")


@pytest.mark.parametrize("row", [row for row in ROUTES if not row.open], ids=lambda row: f"{row.method} {row.path}")
def test_every_other_route_is_not_there_for_a_trial(stack: Stack, stream: TestStream, row: object) -> None:
    method, path, is_for_trials = row.method, row.path, row.for_trials  # type: ignore[attr-defined]
    assert is_for_trials == ((method, path) in FOR_TRIALS)
    if is_for_trials:
        return
    with client_of(stack, stream) as owner, client_of(stack, add_trial(stack, stream)) as trial:
        things = {"blobs": store_blob(owner).json()["uuid"], "jobs": dummy(owner).json()["uuid"]}
        thing = next((things[word] for word in path.split("/") if word in things), uuid.uuid4())
        answer = trial.request(method, path.format(name="dummy", version=1, id=thing), json={})
        assert "trial token" in assert_problem(answer, 404, "not_found")["detail"]


def test_what_a_trial_may_ask_of_is_a_picture_it_sends(stack: Stack, stream: TestStream) -> None:
    with client_of(stack, add_trial(stack, stream)) as trial:
        assert measure(trial, b"12345").json()["size"] == 5


def test_a_trial_ends_with_its_time(stack: Stack, stream: TestStream) -> None:
    with client_of(stack, add_trial(stack, stream, lasts_s=0.8)) as trial:
        assert dummy(trial).status_code == 201
        wait_for(lambda: dummy(trial).status_code, lambda status: status == 401, limit_s=4)
