"""Interface document: job, job request fields, given shapes, job status transitions, the jobs endpoints."""

import hashlib
import json
import uuid

import httpx2
import pytest

from testkit import Stack, TestStream
from wire import assert_problem, dummy, finished, measure, multipart, new_state, raw_exchange, store_blob

JOBS = "/services/dummy/1/jobs"


def test_job_row_url_is_absolute_and_usable_later(stack: Stack, client: httpx2.Client) -> None:
    """url | string | Absolute URL of the job, usable later with GET."""
    body = dummy(client).json()
    assert body["url"].startswith(f"{stack.url}{JOBS}/")
    assert client.get(body["url"]).status_code == 201


def test_job_row_status_is_an_integer_equal_to_the_http_status(client: httpx2.Client) -> None:
    """status | integer | 201 (created, result included), 202 (accepted, result pending) or 200 (on later retrieval)."""
    accepted = client.post(JOBS, json={})
    answers = [dummy(client), accepted, finished(client, accepted.json()["url"])]
    assert [answer.status_code for answer in answers] == [201, 202, 200]
    assert [answer.json()["status"] for answer in answers] == [201, 202, 200]


def test_job_row_result_fields_are_present_when_available(client: httpx2.Client) -> None:
    """(result fields) | service specific | Present when the result is available."""
    assert dummy(client, echo="here").json()["echo"] == "here"
    assert "echo" not in client.post(JOBS, json={"echo": "later"}).json()


@pytest.mark.parametrize(("fields", "status"), [({"async": False}, 201), ({"async": True}, 202), ({}, 202)])
def test_job_request_row_async(client: httpx2.Client, fields: dict[str, bool], status: int) -> None:
    """async | boolean | no | false asks for a synchronous job. When absent, or when true, the job is asynchronous."""
    assert client.post(JOBS, json=fields).status_code == status


@pytest.mark.parametrize("wrong", ["false", 0, None, []])
def test_job_request_row_async_is_a_boolean(client: httpx2.Client, wrong: object) -> None:
    """async | boolean."""
    assert_problem(client.post(JOBS, json={"async": wrong}), 400, "bad_request")


def test_job_request_row_state_names_a_session(client: httpx2.Client) -> None:
    """state | object | no | For stateful services: an object with `session_id` (string, a UUID of the client's)."""
    state = new_state()
    assert [dummy(client, state=state).json()["calls"] for _ in range(2)] == [1, 2]
    assert "calls" not in dummy(client).json()


@pytest.mark.parametrize("echo", ["hello", "", 'é \U0001f600 \u0000 "quoted"'])
def test_shape_row_dummy_echoes_the_same_string(client: httpx2.Client, echo: str) -> None:
    """dummy | echo (string) | echo (string, same as sent)."""
    assert dummy(client, echo=echo).json()["echo"] == echo


@pytest.mark.parametrize("name", ["dummy", "face_detection"])
def test_dummy_and_face_detection_are_stateful_capable(client: httpx2.Client, name: str) -> None:
    """The dummy service is stateful-capable. The face_detection service is stateful-capable."""
    fields = {"state": new_state(), "image": "attachment://shot"}
    answer = client.post(f"/services/{name}/1/jobs", files=multipart(fields, shot=b"pixels"))
    assert answer.status_code in (202, 503)  # taken, unless no worker hosts the service


def test_shape_row_face_detection_requires_an_image(client: httpx2.Client) -> None:
    """face_detection | image (attachment reference or blob URL, required)."""
    assert_problem(client.post("/services/face_detection/1/jobs", json={}), 400, "bad_request")


def test_transition_row_post_with_async_false_is_201_with_the_result(client: httpx2.Client) -> None:
    """none | POST to jobs | async is false | 201 | Response carries url, status and the result."""
    answer = dummy(client, echo="now")
    assert answer.status_code == 201
    assert {"url", "status", "echo"} <= set(answer.json())


@pytest.mark.parametrize("fields", [{}, {"async": True}])
def test_transition_row_post_otherwise_is_202_without_a_result(client: httpx2.Client, fields: dict[str, bool]) -> None:
    """none | POST to jobs | async absent or true | 202 | Response carries url and status only (and uuid)."""
    answer = client.post(JOBS, json={"echo": "later"} | fields)
    assert answer.status_code == 202
    assert set(answer.json()) == {"url", "uuid", "status"}


def test_transition_row_202_becomes_200_when_the_result_is_ready(client: httpx2.Client) -> None:
    """202 | GET job url | result ready | 200 | Response carries url, status and the result."""
    url = client.post(JOBS, json={"echo": "later"}).json()["url"]
    for answer in (finished(client, url), client.get(url)):
        assert answer.status_code == 200
        assert (answer.json()["url"], answer.json()["status"], answer.json()["echo"]) == (url, 200, "later")


def test_transition_row_201_stays_201_any_time_later(client: httpx2.Client) -> None:
    """201 | GET job url | any time later | 201 | Response carries url, status and the result again."""
    made = dummy(client, echo="again")
    for _ in range(3):
        again = client.get(made.json()["url"])
        assert (again.status_code, again.json()) == (201, made.json())


def test_endpoint_row_jobs_takes_a_json_body(client: httpx2.Client) -> None:
    """POST | .../jobs | a JSON body (application/json) carries the service fields and optionally async and state."""
    body = json.dumps({"echo": "json", "async": False, "state": new_state()})
    answer = client.post(JOBS, content=body, headers={"Content-Type": "application/json; charset=utf-8"})
    assert (answer.status_code, answer.json()["echo"], answer.json()["calls"]) == (201, "json", 1)


def test_endpoint_row_jobs_takes_multipart_with_meta_and_named_attachments(client: httpx2.Client) -> None:
    """A multipart body has a part `meta` (application/json) plus binary parts named `attachment://<resource_name>`."""
    data = bytes(range(256)) * 40 + b"\r\n--boundary\r\n"
    meta = {"image": "attachment://second", "async": False}
    answer = client.post("/services/measure/1/jobs", files=multipart(meta, first=b"other", second=data))
    assert answer.status_code == 201
    assert answer.json()["sha256"] == hashlib.sha256(data).hexdigest()


def test_endpoint_row_jobs_meta_may_refer_to_a_blob_by_its_url(client: httpx2.Client) -> None:
    """`meta` refers to a binary part as `attachment://<resource_name>` or to a blob by its URL."""
    blob = store_blob(client, b"stored once").json()["url"]
    answer = client.post("/services/measure/1/jobs", json={"image": blob, "async": False})
    assert (answer.status_code, answer.json()["size"]) == (201, 11)


def test_endpoint_row_multipart_arrives_in_any_pieces(stack: Stack, stream: TestStream) -> None:
    """POST | .../jobs | a multipart body: where the network cuts it must not matter, not even in the last line."""
    body = (
        b'--edge\r\nContent-Disposition: form-data; name="meta"\r\nContent-Type: application/json\r\n\r\n'
        b'{"echo": "whole", "async": false}\r\n--edge--\r\n'
    )
    head = f"POST {JOBS} HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=edge\r\nContent-Length: {len(body)}"
    for cut in (1, 5, len(body) // 2, len(body) - 4, len(body) - 2, len(body) - 1):
        status, answer = raw_exchange(stack, stream, head, [body[:cut], body[cut:]], pause_s=0.05)
        assert (cut, status, json.loads(answer).get("echo")) == (cut, 201, "whole")


def test_endpoint_row_get_job_answers_200_with_the_result_once_ready(client: httpx2.Client) -> None:
    """GET | .../jobs/<job_id> | nothing | Job object (200 with result once ready)."""
    accepted = measure(client, b"12345", **{"async": True}).json()
    path = f"/services/measure/1/jobs/{uuid.UUID(accepted['uuid'])}"
    assert finished(client, path).json()["size"] == 5


def test_rule_1_a_binary_attachment_is_never_inline_in_a_json_body(client: httpx2.Client) -> None:
    """A binary attachment is sent as a multipart request, never inline in a JSON body."""
    for inline in ("data:image/jpeg;base64,aGVsbG8=", "aGVsbG8=", {"data": "aGVsbG8="}, [1, 2, 3]):
        answer = client.post("/services/measure/1/jobs", json={"image": inline, "async": False})
        assert_problem(answer, 400, "bad_request")


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "text/json", None])
def test_rule_2_a_json_body_must_have_the_json_content_type(client: httpx2.Client, content_type: str | None) -> None:
    """A job request must have the JSON content type when sent as a JSON body."""
    headers = {"Content-Type": content_type} if content_type else {}
    answer = client.post(JOBS, content=b'{"async": false}', headers=headers)
    assert_problem(answer, 415, "unsupported_media_type")


def test_errors_a_job_result_may_contain_an_error_key(client: httpx2.Client) -> None:
    """A job result may contain an `error` key describing a failure of the computation."""
    answer = client.post("/services/trouble/1/jobs", json={"fail": True, "async": False})
    assert (answer.status_code, answer.json()["error"]) == (201, "It was told to fail.")
