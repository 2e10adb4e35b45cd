"""Supplement: what a stream that is disabled or has used up its month may still do, and when a change is seen."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import httpx2
import pytest

from clients import client_of
from feed_client import CLOSING, live_input, live_output, open_feed, part
from onlooker.settings import Settings, SettingsError, read_settings
from onlooker.streams.credentials import STALE_LIMIT_S
from testkit import Stack
from wire import assert_problem, dummy, finished, measure, store_blob, wait_for

SEEN_WITHIN_S = 3
USE = """INSERT INTO streams_usage (stream_id, month, video_s) VALUES (%s, date_trunc('month', now()), 10800)
         ON CONFLICT (stream_id, month) DO UPDATE SET video_s = excluded.video_s"""
"""The gateway writes what was used every two seconds: it may have been there first."""
DISABLE = "UPDATE streams_stream SET enabled = false WHERE id = %s"


@dataclass(frozen=True)
class Refused:
    """A stream that may no longer compute, and what it made while it still could."""

    client: httpx2.Client
    code: str
    job: str
    accepted: str
    blob: str


@pytest.fixture(scope="module", params=["quota_exceeded", "stream_disabled"])
def refused(stack: Stack, request: pytest.FixtureRequest) -> Iterator[Refused]:
    stream = stack.create_stream(kind="developer")
    with client_of(stack, stream) as client:
        accepted = measure(client, **{"async": True}).json()["url"]
        finished(client, accepted)
        made = (measure(client).json()["url"], accepted, store_blob(client).json()["url"])
        stack.execute(USE if request.param == "quota_exceeded" else DISABLE, stream.id)
        wait_for(lambda: measure(client).status_code, lambda status: status == 403, limit_s=SEEN_WITHIN_S)
        yield Refused(client, request.param, *made)


@pytest.mark.parametrize("flag", [False, True])
def test_a_job_with_an_image_is_refused(refused: Refused, flag: bool) -> None:
    """403 `quota_exceeded`, `stream_disabled` answer only POSTs that would compute (jobs with image or sound ...)."""
    assert_problem(measure(refused.client, **{"async": flag}), 403, refused.code)
    answer = refused.client.post("/services/measure/1/jobs", json={"image": refused.blob, "async": flag})
    assert_problem(answer, 403, refused.code)


def test_a_stream_of_frames_is_refused(refused: Refused) -> None:
    """403 ... answer only POSTs that would compute (..., streams)."""
    for name in ("measure", "dummy"):
        assert_problem(refused.client.post(f"/services/{name}/1/streams", json={}), 403, refused.code)


def test_a_blob_is_refused_when_disabled_and_taken_at_the_quota(refused: Refused) -> None:
    """... and, when disabled, POST of blobs."""
    answer = store_blob(refused.client)
    if refused.code == "stream_disabled":
        assert_problem(answer, 403, "stream_disabled")
    else:
        assert answer.status_code == 201


def test_a_job_without_image_or_sound_goes_on(refused: Refused) -> None:
    """403 ... answer only POSTs that would compute: a dummy job has neither image nor sound."""
    assert dummy(refused.client).status_code == 201


@pytest.mark.parametrize("path", ["/services", "/services/measure", "/services/measure/1"])
def test_directory_reads_go_on(refused: Refused, path: str) -> None:
    """Directory reads ... go on: `GET /services` with valid credentials is always 200."""
    assert refused.client.get(path).status_code == 200


def test_get_of_jobs_and_blobs_goes_on(refused: Refused) -> None:
    """... and GET ... of jobs and blobs, go on."""
    answers = [refused.client.get(url).status_code for url in (refused.job, refused.accepted, refused.blob)]
    assert answers == [201, 200, 200]


def test_delete_of_jobs_and_blobs_goes_on(stack: Stack) -> None:
    """... and DELETE of jobs and blobs, go on."""
    for statement in (USE, DISABLE):
        stream = stack.create_stream(kind="developer")
        with client_of(stack, stream) as client:
            urls = [measure(client).json()["url"], measure(client, **{"async": True}).json()["url"]]
            urls.append(store_blob(client).json()["url"])
            stack.execute(statement, stream.id)
            wait_for(lambda c=client: measure(c).status_code, lambda status: status == 403, limit_s=SEEN_WITHIN_S)
            assert [client.delete(url).status_code for url in urls] == [204] * 3
            assert [client.get(url).status_code for url in urls] == [404] * 3


@pytest.mark.parametrize(
    ("change", "read", "before", "after"),
    [
        ("UPDATE streams_stream SET enabled = false WHERE id = %s", measure, 201, 403),
        ("DELETE FROM streams_accesstoken WHERE stream_id = %s", dummy, 201, 401),
        ("UPDATE streams_accesstoken SET expires_at = now() WHERE stream_id = %s", dummy, 201, 401),
        ("UPDATE streams_accesstoken SET sha256 = '' WHERE stream_id = %s", dummy, 201, 401),
        ("UPDATE streams_stream SET client_id = gen_random_uuid() WHERE id = %s", dummy, 201, 401),
    ],
    ids=["disabled", "token removed", "token expired", "token changed", "stream gone"],
)
def test_a_change_of_a_stream_is_seen_within_its_time(
    stack: Stack, change: str, read: Callable[[httpx2.Client], httpx2.Response], before: int, after: int
) -> None:
    """A change is seen within 60 s (here: within the time this stack remembers, 0.5 s)."""
    stream = stack.create_stream()
    with client_of(stack, stream) as client:
        assert read(client).status_code == before
        stack.execute(change, stream.id)
        wait_for(lambda: read(client).status_code, lambda status: status == after, limit_s=SEEN_WITHIN_S)


def test_enabling_is_seen_within_its_time(stack: Stack) -> None:
    """A change is seen within 60 s: also the one for the better."""
    stream = stack.create_stream(enabled=False)
    with client_of(stack, stream) as client:
        assert measure(client).status_code == 403
        stack.execute("UPDATE streams_stream SET enabled = true WHERE id = %s", stream.id)
        wait_for(lambda: measure(client).status_code, lambda status: status == 201, limit_s=SEEN_WITHIN_S)


def test_disabling_is_seen_by_a_stream_of_frames_under_way(stack: Stack) -> None:
    """A change is seen within 60 s: an input may last for hours, and computes no further when disabled."""
    stream = stack.create_stream()
    with client_of(stack, stream) as client:
        feed = open_feed(client, "measure")
        with live_input(client, feed["input"]) as frames, live_output(client, feed["output"]) as results:
            frames.write(part() + part())
            assert "size" in results.next_result()
            stack.execute("UPDATE streams_stream SET enabled = false WHERE id = %s", stream.id)
            wait_for(lambda: store_blob(client).status_code, lambda status: status == 403, limit_s=SEEN_WITHIN_S)
            frames.write(part() + part())
            results.next_result()
            refusal = results.next_result()
            frames.write(CLOSING)
            frames.end()
            results.rest()
    assert refusal.get("error_code") == "stream_disabled"


def test_no_setting_lets_a_change_go_unseen_for_more_than_60_seconds() -> None:
    """A change is seen within 60 s: so do the default and the largest value, also while the database is away."""
    assert Settings().credential_cache_s <= 60
    assert STALE_LIMIT_S <= 60
    assert read_settings({"ONLOOKER_CREDENTIAL_CACHE_S": "60"}).credential_cache_s == 60
    with pytest.raises(SettingsError, match="ONLOOKER_CREDENTIAL_CACHE_S"):
        read_settings({"ONLOOKER_CREDENTIAL_CACHE_S": "61"})
