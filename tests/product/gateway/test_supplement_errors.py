"""Supplement, gateway in general: every row of the error table."""

import gzip
import time
import uuid
from codecs import BOM_UTF8
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import httpx2
import pytest

from clients import client_of
from feed_client import open_feed
from onlooker.settings import Settings
from testkit import Stack, TestStream
from wire import assert_problem, basic, dummy, measure, multipart, new_state, store_blob

pytest_plugins = ["stacks"]
UNKNOWN_ID = "6ba7b810-9dad-41d1-80b4-00c04fd430c8"
JOBS = "/services/dummy/1/jobs"
MEASURE = "/services/measure/1/jobs"
LIMIT_BYTES = 10 * 1024**2
JSON_LIMIT_BYTES = 1024**2


@pytest.mark.parametrize("header", [None, "", "Basic", "Basic ?", "Basic bm9jb2xvbg==", "Bearer abc", "Basic /////w=="])
def test_error_row_no_or_bad_basic_credentials_is_401_bad_credentials(stack: Stack, header: str | None) -> None:
    """no or bad Basic credentials (with `WWW-Authenticate: Basic`) | 401 | `bad_credentials`."""
    headers = {} if header is None else {"Authorization": header}
    with client_of(stack, None) as anonymous:
        answer = anonymous.get("/services", headers=headers)
    assert_problem(answer, 401, "bad_credentials")
    assert answer.headers["www-authenticate"].startswith("Basic")


def test_error_row_wrong_credentials_are_401_with_one_and_the_same_answer(stack: Stack, stream: TestStream) -> None:
    """no or bad Basic credentials: an answer does not tell which half was wrong."""
    wrong = [
        (stream.client_id, "wrong"),
        (stream.client_id, ""),
        (str(uuid.uuid4()), stream.access_token),
        ("not-a-uuid", stream.access_token),
        ("", ""),
    ]
    with client_of(stack, None) as anonymous:
        answers = [anonymous.get("/services", headers={"Authorization": basic(*pair)}) for pair in wrong]
    bodies = [assert_problem(answer, 401, "bad_credentials") for answer in answers]
    assert all(body == bodies[0] for body in bodies)


def test_error_row_developer_stream_used_up_its_month_is_403_quota_exceeded(stack: Stack) -> None:
    """developer stream used up its month | 403 | `quota_exceeded` (body carries `resets_at`)."""
    stream = stack.create_stream(kind="developer")
    insert = "INSERT INTO streams_usage (stream_id, month, video_s) VALUES (%s, date_trunc('month', now()), 10800)"
    stack.execute(insert, stream.id)
    with client_of(stack, stream) as client:
        body = assert_problem(measure(client), 403, "quota_exceeded")
    now = datetime.now(UTC)
    expected = datetime(now.year + now.month // 12, now.month % 12 + 1, 1, tzinfo=UTC)
    assert datetime.fromisoformat(body["resets_at"]) == expected


def test_error_row_stream_disabled_by_its_owner_is_403_stream_disabled(stack: Stack) -> None:
    """stream disabled by its owner | 403 | `stream_disabled`."""
    with client_of(stack, stack.create_stream(enabled=False)) as client:
        assert_problem(measure(client), 403, "stream_disabled")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/services/nothing"),
        ("GET", "/services/nothing/1"),
        ("GET", "/services/dummy/2"),
        ("GET", "/services/dummy/one"),
        ("GET", "/services/dummy/-1"),
        ("GET", f"/services/dummy/{'9' * 400}"),
        ("POST", "/services/nothing/1/jobs"),
        ("POST", "/services/dummy/2/jobs"),
        ("GET", f"{JOBS}/{UNKNOWN_ID}"),
        ("GET", f"{JOBS}/not-a-uuid"),
        ("DELETE", f"{JOBS}/{UNKNOWN_ID}"),
        ("GET", f"/blobs/{UNKNOWN_ID}"),
        ("GET", "/blobs/..%2f..%2fetc%2fpasswd"),
        ("DELETE", f"/blobs/{UNKNOWN_ID}"),
        ("GET", "/nothing/at/all"),
    ],
)
def test_error_row_unknown_service_version_job_or_blob_is_404_not_found(
    client: httpx2.Client, method: str, path: str
) -> None:
    """unknown service, version, job or blob | 404 | `not_found`."""
    assert_problem(client.request(method, path), 404, "not_found")


def test_error_row_a_job_under_another_service_is_404_not_found(client: httpx2.Client) -> None:
    """unknown job: a job is one of its own service version only."""
    job_id = dummy(client).json()["uuid"]
    accepted_id = client.post(JOBS, json={}).json()["uuid"]
    for path in (f"{MEASURE}/{job_id}", f"{MEASURE}/{accepted_id}"):
        assert_problem(client.get(path), 404, "not_found")
        assert_problem(client.delete(path), 404, "not_found")


def test_error_row_one_that_belongs_to_another_stream_is_404_not_found(stack: Stack, client: httpx2.Client) -> None:
    """... or one that belongs to another stream | 404 | `not_found`."""
    urls = [dummy(client).json()["url"], client.post(JOBS, json={}).json()["url"], store_blob(client).json()["url"]]
    with client_of(stack, stack.create_stream()) as other:
        for url in urls:
            assert_problem(other.get(url), 404, "not_found")
            assert_problem(other.delete(url), 404, "not_found")
    assert all(client.get(url).status_code in (200, 201, 202) for url in urls)


def _frame_of(total_bytes: int) -> tuple[bytes, dict[str, str]]:
    """A whole multipart body of exactly so many bytes."""
    meta = '{"image": "attachment://x", "async": false}'
    head = f'--edge\r\nContent-Disposition: form-data; name="meta"\r\n\r\n{meta}\r\n'
    head += '--edge\r\nContent-Disposition: form-data; name="attachment://x"\r\n\r\n'
    tail = "\r\n--edge--\r\n"
    body = head.encode() + b"x" * (total_bytes - len(head) - len(tail)) + tail.encode()
    return body, {"Content-Type": "multipart/form-data; boundary=edge"}


def test_error_row_body_over_the_size_limit_is_413_too_large(client: httpx2.Client) -> None:
    """body over the size limit (default 10 MiB a request) | 413 | `too_large`."""
    assert Settings().body_limit_bytes == LIMIT_BYTES
    fits, headers = _frame_of(LIMIT_BYTES)
    assert client.post(MEASURE, content=fits, headers=headers).status_code == 201
    over, _ = _frame_of(LIMIT_BYTES + 1)
    assert_problem(client.post(MEASURE, content=over, headers=headers), 413, "too_large")
    assert_problem(client.post("/blobs", content=over, headers=headers), 413, "too_large")


def test_error_row_json_over_its_own_size_limit_is_413_too_large(client: httpx2.Client) -> None:
    """body over the size limit (... 1 MiB for a JSON body or a `meta` part) | 413 | `too_large`."""
    rest = len(b'{"echo": "", "async": false}')
    fits, over = (b'{"echo": "%s", "async": false}' % (b"x" * (JSON_LIMIT_BYTES - rest + more)) for more in (0, 1))
    headers = {"Content-Type": "application/json"}
    assert client.post(JOBS, content=fits, headers=headers).status_code == 201
    assert client.post(JOBS, files={"meta": (None, fits, "application/json")}).status_code == 201
    assert_problem(client.post(JOBS, content=over, headers=headers), 413, "too_large")
    assert_problem(client.post(JOBS, content=iter([over]), headers=headers), 413, "too_large")
    assert_problem(client.post(JOBS, files={"meta": (None, over, "application/json")}), 413, "too_large")


def test_error_row_body_over_the_size_limit_is_413_also_when_its_length_is_not_announced(
    client: httpx2.Client,
) -> None:
    """body over the size limit, sent in chunks without Content-Length | 413 | `too_large`."""
    over, headers = _frame_of(LIMIT_BYTES + 1)
    pieces = (over[start : start + 65536] for start in range(0, len(over), 65536))
    assert_problem(client.post(MEASURE, content=pieces, headers=headers), 413, "too_large")


@pytest.mark.parametrize("content_type", ["text/plain", "image/jpeg", "application/xml", "", "application", None])
@pytest.mark.parametrize("path", [JOBS, "/blobs", "/services/dummy/1/streams"])
def test_error_row_content_type_neither_json_nor_multipart_is_415(
    client: httpx2.Client, path: str, content_type: str | None
) -> None:
    """content type neither JSON nor multipart | 415 | `unsupported_media_type`."""
    headers = {} if content_type is None else {"Content-Type": content_type}
    assert_problem(client.post(path, content=b"{}", headers=headers), 415, "unsupported_media_type")


def test_error_row_content_type_of_a_streams_input_that_is_not_multipart_is_415(client: httpx2.Client) -> None:
    """content type neither JSON nor multipart | 415 | `unsupported_media_type`."""
    for headers in ({"Content-Type": "image/jpeg"}, {}):
        answer = client.post(open_feed(client)["input"], content=b"{}", headers=headers)
        assert_problem(answer, 415, "unsupported_media_type")


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "GZip", "identity, gzip", "made-up"])
@pytest.mark.parametrize("path", [JOBS, "/blobs", "/services/dummy/1/streams"])
def test_error_row_a_content_encoding_is_415(client: httpx2.Client, path: str, encoding: str) -> None:
    """... or a `Content-Encoding` (bodies come uncompressed) | 415 | `unsupported_media_type`."""
    headers = {"Content-Type": "application/json", "Content-Encoding": encoding}
    answer = client.post(path, content=gzip.compress(b"{}"), headers=headers)
    assert "uncompressed" in assert_problem(answer, 415, "unsupported_media_type")["detail"]
    assert answer.headers["accept-encoding"] == "identity"


def test_error_row_a_content_encoding_of_multipart_or_of_a_streams_input_is_415(client: httpx2.Client) -> None:
    """... or a `Content-Encoding` (bodies come uncompressed) | 415 | `unsupported_media_type`."""
    packed = {"Content-Encoding": "gzip"}
    parts = multipart({"content": "attachment://shot"}, shot=b"pixels")
    assert_problem(client.post("/blobs", files=parts, headers=packed), 415, "unsupported_media_type")
    headers = packed | {"Content-Type": "multipart/x-mixed-replace; boundary=edge"}
    answer = client.post(open_feed(client)["input"], content=b"--edge--", headers=headers)
    assert_problem(answer, 415, "unsupported_media_type")


def test_the_content_encoding_identity_says_nothing(client: httpx2.Client) -> None:
    """bodies come uncompressed: `identity` is the name of that."""
    headers = {"Content-Type": "application/json", "Content-Encoding": "identity"}
    assert client.post(JOBS, content=b'{"async": false}', headers=headers).status_code == 201


def test_a_byte_order_mark_before_json_does_no_harm(client: httpx2.Client) -> None:
    """malformed JSON is 400: some editors write a byte order mark, and the JSON behind it is right."""
    marked = BOM_UTF8 + b'{"async": false, "echo": "hello"}'
    as_json = client.post(JOBS, content=marked, headers={"Content-Type": "application/json"})
    as_meta = client.post(JOBS, files={"meta": (None, marked, "application/json")})
    assert [(answer.status_code, answer.json()["echo"]) for answer in (as_json, as_meta)] == [(201, "hello")] * 2
    only_mark = client.post(JOBS, content=BOM_UTF8, headers={"Content-Type": "application/json"})
    assert_problem(only_mark, 400, "bad_request")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"text"', b"null", b'{"echo": "\xff"}', b"[" * 100_000, b"{} {}"])
def test_error_row_malformed_json_is_400_bad_request(client: httpx2.Client, body: bytes) -> None:
    """malformed JSON | 400 | `bad_request`."""
    json_type = {"Content-Type": "application/json"}
    assert_problem(client.post(JOBS, content=body, headers=json_type), 400, "bad_request")
    meta = {"meta": (None, body, "application/json")}
    assert_problem(client.post(JOBS, files=meta), 400, "bad_request")


def test_error_row_malformed_multipart_is_400_bad_request(client: httpx2.Client) -> None:
    """malformed JSON, ...: a multipart body that is cut off, has no `meta` or has it twice is as malformed."""
    headers = {"Content-Type": "multipart/form-data; boundary=edge"}
    part = b'--edge\r\nContent-Disposition: form-data; name="%s"\r\n\r\n{}\r\n'
    cut_off, nameless = part % b"meta", b"--edge\r\n\r\n{}\r\n--edge--\r\n"
    no_meta, twice = part % b"attachment://x" + b"--edge--\r\n", part % b"meta" * 2 + b"--edge--\r\n"
    for body in (b"", b"nothing", cut_off, nameless, no_meta, twice, b"--edge--\r\n"):
        assert_problem(client.post(JOBS, content=body, headers=headers), 400, "bad_request")
    no_boundary = {"Content-Type": "multipart/form-data"}
    assert_problem(client.post(JOBS, content=twice, headers=no_boundary), 400, "bad_request")


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        (MEASURE, {}),
        (MEASURE, {"image": None}),
        (JOBS, {"echo": 7}),
        (JOBS, {"echo": None}),
        (JOBS, {"state": "x"}),
        (JOBS, {"state": {}}),
        (JOBS, {"state": None}),
        (MEASURE, {"image": "attachment://shot", "timestamp": "yesterday"}),
        (MEASURE, {"image": "attachment://shot", "timestamp": "2024-05-01"}),
        (MEASURE, {"image": "attachment://shot", "timestamp": 7}),
    ],
)
def test_error_row_missing_or_wrong_field_is_400_bad_request(
    client: httpx2.Client, path: str, fields: dict[str, object]
) -> None:
    """missing or wrong field | 400 | `bad_request`."""
    assert_problem(client.post(path, files=multipart(fields, shot=b"pixels")), 400, "bad_request")


def test_error_row_missing_attachment_is_400_bad_request(client: httpx2.Client) -> None:
    """missing attachment | 400 | `bad_request`."""
    assert_problem(measure(client, image="attachment://other"), 400, "bad_request")
    assert_problem(store_blob(client, content="attachment://other"), 400, "bad_request")


def test_error_row_foreign_url_is_400_bad_request(client: httpx2.Client) -> None:
    """foreign URL | 400 | `bad_request`."""
    assert_problem(measure(client, image="https://example.org/picture.jpg"), 400, "bad_request")


def test_error_row_too_many_requests_for_one_stream_is_429_rate_limited(watched_stack: Stack) -> None:
    """too many requests for one stream (default 100 a second, burst 200) | 429 | `rate_limited` + `Retry-After`."""
    settings = Settings()
    assert (settings.rate_limit_per_second, settings.rate_limit_burst) == (100, 200)
    with (
        client_of(watched_stack, watched_stack.create_stream()) as client,
        client_of(watched_stack, watched_stack.create_stream()) as other,
        ThreadPoolExecutor(8) as pool,
    ):
        answers = list(pool.map(lambda _: client.get("/services"), range(200)))  # here the burst is 60
        refused = [answer for answer in answers if answer.status_code != 200]
        assert len(answers) - len(refused) >= 60
        assert_problem(refused[-1], 429, "rate_limited")
        assert int(refused[-1].headers["retry-after"]) >= 1
        assert other.get("/services").status_code == 200


def test_error_row_no_compute_capacity_is_503_overloaded_when_no_worker_hosts_the_service(brief_stack: Stack) -> None:
    """no compute capacity | 503 | `overloaded` + `Retry-After`."""
    with client_of(brief_stack, brief_stack.create_stream()) as client:
        for flag in (False, True):
            answer = client.post("/services/unhosted/1/jobs", json={"async": flag})
            assert_problem(answer, 503, "overloaded")
            assert int(answer.headers["retry-after"]) >= 1
        assert client.get("/services/unhosted/1").json()["live"] is False
        assert client.get("/services/dummy/1").json()["live"] is True


def test_error_row_no_compute_capacity_is_503_overloaded_when_a_session_sends_faster_than_it_computes(
    client: httpx2.Client,
) -> None:
    """no compute capacity | 503 | `overloaded` + `Retry-After`: a queue is never without bound."""
    fields = {"sleep_s": 0.7, "async": False, "state": new_state()}
    with ThreadPoolExecutor(24) as pool:
        first = pool.submit(client.post, "/services/trouble/1/jobs", json=fields)
        time.sleep(0.2)
        quick = fields | {"sleep_s": 0.01}
        answers = list(pool.map(lambda _: client.post("/services/trouble/1/jobs", json=quick), range(22)))
    assert first.result().status_code == 201
    refused = [answer for answer in answers if answer.status_code != 201]
    assert refused
    assert len(refused) < len(answers)
    for answer in refused:
        assert_problem(answer, 503, "overloaded")
        assert int(answer.headers["retry-after"]) >= 1
