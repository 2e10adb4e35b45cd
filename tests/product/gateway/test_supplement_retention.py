"""Supplement, jobs: how long results and blobs are kept, and what says so."""

import time
from datetime import UTC, datetime

import httpx2

from clients import client_of
from onlooker.settings import Settings
from testkit import Stack, TestStream
from wire import assert_problem, dummy, finished, new_state, store_blob

pytest_plugins = ["stacks"]
DAY_S = 24 * 3600
JOBS = "/services/dummy/1/jobs"


def seconds_left(answer: httpx2.Response) -> float:
    moment = datetime.fromisoformat(answer.json()["expires_at"])
    assert moment.tzinfo is not None
    return (moment - datetime.now(UTC)).total_seconds()


def test_results_of_async_jobs_are_kept_24_hours(client: httpx2.Client) -> None:
    """Results of async jobs ... are kept 24 hours; `expires_at` in the answer says when."""
    for fields in ({}, {"state": new_state()}):
        answer = finished(client, client.post(JOBS, json=fields).json()["url"])
        assert abs(seconds_left(answer) - DAY_S) < 5


def test_results_of_synchronous_jobs_without_a_session_are_kept_24_hours(client: httpx2.Client) -> None:
    """Results ... of synchronous jobs without a session are kept 24 hours; `expires_at` in the answer says when."""
    made = dummy(client)
    assert abs(seconds_left(made) - DAY_S) < 5
    assert client.get(made.json()["url"]).json()["expires_at"] == made.json()["expires_at"]


def test_results_of_synchronous_jobs_inside_a_session_are_kept_15_minutes(client: httpx2.Client) -> None:
    """Results of synchronous jobs inside a session (frames of a live camera, 10 a second all day) 15 minutes."""
    assert abs(seconds_left(dummy(client, state=new_state())) - 900) < 5


def test_a_blob_is_kept_24_hours_by_default(client: httpx2.Client) -> None:
    """A blob is kept 24 hours by default (a setting); its creation answer carries `expires_at`."""
    assert abs(seconds_left(store_blob(client)) - DAY_S) < 5


def test_retention_is_a_setting_of_each_kind(brief_stack: Stack) -> None:
    """Both are settings (here 2 s and 1 s, and 2 s for a blob)."""
    defaults = Settings()
    assert (defaults.result_retention_s, defaults.session_result_retention_s) == (DAY_S, 900)
    assert defaults.blob_retention_s == DAY_S
    with client_of(brief_stack, brief_stack.create_stream()) as client:
        assert seconds_left(dummy(client)) <= 2
        assert seconds_left(dummy(client, state=new_state())) <= 1
        assert seconds_left(finished(client, client.post(JOBS, json={}).json()["url"])) <= 2
        assert seconds_left(store_blob(client)) <= 2


def test_a_result_is_gone_from_the_moment_its_answer_named(brief_stack: Stack) -> None:
    """`expires_at` in the answer says when: it is there before, and not after (to the second)."""
    with client_of(brief_stack, brief_stack.create_stream()) as client:
        url = dummy(client, state=new_state()).json()["url"]
        assert client.get(url).status_code == 201
        time.sleep(1.05)
        assert_problem(client.get(url), 404, "not_found")
        assert_problem(client.delete(url), 404, "not_found")


def test_a_result_can_be_read_from_the_moment_its_answer_was_sent(
    stack: Stack, stream: TestStream, client: httpx2.Client
) -> None:
    """A result can be read from the moment its answer was sent, over any connection."""
    with client_of(stack, stream) as second:
        for number in range(60):
            state = {"state": new_state()} if number % 2 else {}
            url = dummy(client, echo=str(number), **state).json()["url"]
            assert second.get(url).json()["echo"] == str(number)
