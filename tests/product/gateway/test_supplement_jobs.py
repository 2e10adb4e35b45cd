"""Supplement, jobs: bodies, answers, failures, order of a job's life."""

import json
import time
import uuid

import httpx2
import pytest

from testkit import Stack
from wire import assert_problem, dummy, finished, multipart, new_state

pytest_plugins = ["stacks"]
JOBS = "/services/dummy/1/jobs"
TROUBLE = "/services/trouble/1/jobs"


def test_a_job_body_may_be_json(client: httpx2.Client) -> None:
    """(H) A job body may be JSON ..."""
    assert client.post(JOBS, json={"echo": "json", "async": False}).json()["echo"] == "json"


def test_a_job_body_may_be_multipart_with_meta_and_no_attachment(client: httpx2.Client) -> None:
    """(H) ... or multipart with `meta` and no attachment at all."""
    answer = client.post(JOBS, files=multipart({"echo": "meta", "async": False}))
    assert (answer.status_code, answer.json()["echo"]) == (201, "meta")


@pytest.mark.parametrize("place", [0, 1, 2])
def test_meta_may_be_any_part_also_the_last(client: httpx2.Client, place: int) -> None:
    """(H) `meta` may be any part, also the last."""
    parts = [(f"attachment://{name}", (name, name.encode() * 9, "image/png")) for name in ("a", "bb")]
    meta = json.dumps({"image": "attachment://bb", "async": False})
    parts.insert(place, ("meta", (None, meta, "application/json")))  # type: ignore[arg-type]
    assert client.post("/services/measure/1/jobs", files=parts).json()["size"] == 18


@pytest.mark.parametrize("flag", [False, True])
def test_a_response_also_carries_uuid_and_location(stack: Stack, client: httpx2.Client, flag: bool) -> None:
    """(H) A response also carries `uuid`, the job's id. `Location` holds the job's URL."""
    answer = client.post(JOBS, json={"async": flag})
    body = answer.json()
    assert str(uuid.UUID(body["uuid"])) == body["uuid"]
    assert body["url"] == answer.headers["location"] == f"{stack.url}{JOBS}/{body['uuid']}"
    assert finished(client, body["url"]).json()["uuid"] == body["uuid"]


def test_async_false_is_201_with_the_result(client: httpx2.Client) -> None:
    """`async` false: 201 with the result."""
    answer = dummy(client, echo="now")
    assert (answer.status_code, answer.json()["echo"]) == (201, "now")


@pytest.mark.parametrize("fields", [{}, {"async": True}])
def test_else_202_with_url_uuid_status(client: httpx2.Client, fields: dict[str, bool]) -> None:
    """Else 202 with `url`, `uuid`, `status`."""
    answer = client.post(JOBS, json=fields)
    assert answer.status_code == 202
    assert set(answer.json()) == {"url", "uuid", "status"}


def test_get_while_pending_is_202_with_url_uuid_status(client: httpx2.Client) -> None:
    """GET while pending: 202, `url`, `uuid`, `status`."""
    made = client.post(TROUBLE, json={"sleep_s": 0.5}).json()
    pending = client.get(made["url"])
    assert (pending.status_code, pending.json()) == (202, made)
    assert finished(client, made["url"]).json()["slept_s"] == 0.5


def test_get_when_done_is_200_for_an_async_job_and_201_for_a_synchronous_one(client: httpx2.Client) -> None:
    """GET when done: 200 with the result for a job accepted as async, 201 for a job that was synchronous."""
    accepted = finished(client, client.post(JOBS, json={"echo": "a"}).json()["url"])
    assert (accepted.status_code, accepted.json()["status"], accepted.json()["echo"]) == (200, 200, "a")
    answered = client.get(dummy(client, echo="b").json()["url"])
    assert (answered.status_code, answered.json()["status"], answered.json()["echo"]) == (201, 201, "b")


@pytest.mark.parametrize("how", ["fail", "crash"])
@pytest.mark.parametrize("flag", [False, True])
def test_a_computation_that_fails_is_not_an_http_error(client: httpx2.Client, how: str, flag: bool) -> None:
    """A computation that fails ends like any other and its result has `error` (a sentence) and `error_code`."""
    made = client.post(TROUBLE, json={how: True, "async": flag})
    answer = finished(client, made.json()["url"])
    assert (made.status_code, answer.status_code) == ((202, 200) if flag else (201, 201))
    assert answer.json()["error"].endswith(".")
    assert answer.json()["error_code"] == {"fail": "told_to_fail", "crash": "internal_error"}[how]


@pytest.mark.parametrize("flag", [False, True])
def test_delete_of_a_job_is_offered_to_its_owner(client: httpx2.Client, flag: bool) -> None:
    """`DELETE` of a job or a blob ... are offered to their owner."""
    url = client.post(JOBS, json={"async": flag}).json()["url"]
    finished(client, url)
    gone = client.delete(url)
    assert (gone.status_code, gone.content) == (204, b"")
    assert_problem(client.get(url), 404, "not_found")
    assert_problem(client.delete(url), 404, "not_found")


def test_delete_of_a_pending_job_forgets_it_for_good(client: httpx2.Client) -> None:
    """`DELETE` of a job: one that computes at that moment does not come back with its result."""
    url = client.post(TROUBLE, json={"sleep_s": 0.4}).json()["url"]
    assert client.delete(url).status_code == 204
    time.sleep(0.6)
    assert_problem(client.get(url), 404, "not_found")


@pytest.mark.parametrize("path", ["/services/dummy/1/jobs", "/blobs", "/services/dummy/1/streams"])
def test_listing_is_not_offered(client: httpx2.Client, path: str) -> None:
    """Listing is not offered."""
    dummy(client)
    assert_problem(client.get(path), 405, "method_not_allowed")


def test_dummy_returns_echo_when_echo_is_absent(client: httpx2.Client) -> None:
    """`dummy` returns `"echo"` when `echo` is absent (H)."""
    assert dummy(client).json()["echo"] == "echo"


def test_a_computation_that_fails_does_not_stop_its_session(client: httpx2.Client) -> None:
    """A computation that fails is not an HTTP error: the session goes on with the next request."""
    state = new_state()
    answers = [client.post(TROUBLE, json={"async": False, "state": state, "fail": bad}) for bad in (False, True, False)]
    assert [answer.status_code for answer in answers] == [201] * 3
    assert [answer.json().get("calls") for answer in answers] == [1, None, 2]
