"""Supplement, gateway in general: URLs, directory reads of historic clients, the shape of errors, references."""

import uuid
from urllib.parse import urljoin

import httpx2
import pytest

from clients import client_of
from feed_client import open_feed
from onlooker.errors import KINDS, Code
from onlooker.gateway.routes import ROUTES
from testkit import Stack
from wire import PROBLEM_MEMBERS, assert_problem, dummy, finished, measure, new_state, store_blob

MEASURE = "/services/measure/1/jobs"


def test_http_status_equals_the_status_member_of_every_body(client: httpx2.Client) -> None:
    """HTTP status of a response equals the `status` member of its body, where there is one."""
    accepted = client.post("/services/dummy/1/jobs", json={})
    answers = [
        dummy(client),
        accepted,
        finished(client, accepted.json()["url"]),
        store_blob(client),
        client.post("/services/dummy/1/streams", json={}),
        client.get(open_feed(client)["url"]),
        client.get("/services/nothing"),
        client.post("/services/dummy/1/jobs", content=b"x"),
        client.put("/services"),
        client.get("/services", auth=("x", "y")),
    ]
    assert [answer.status_code for answer in answers] == [answer.json()["status"] for answer in answers]
    assert [answer.status_code for answer in answers] == [201, 202, 200, 201, 201, 200, 404, 415, 405, 401]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8443", "localhost"])
def test_absolute_urls_never_come_from_the_host_header(stack: Stack, client: httpx2.Client, host: str) -> None:
    """Absolute URLs are built from a configured public base URL (scheme and host, no path), never from Host."""
    headers = {"Host": host, "X-Forwarded-Host": host, "X-Forwarded-Proto": "http", "Forwarded": f"host={host}"}
    version = client.get("/services/dummy/1", headers=headers).json()
    job = client.post("/services/dummy/1/jobs", json={"async": False}, headers=headers)
    feed = client.post("/services/dummy/1/streams", json={}, headers=headers).json()
    urls = [version["url"], version["jobs"], job.json()["url"], job.headers["location"], feed["url"]]
    assert all(url.startswith(f"{stack.url}/services/") for url in [*urls, feed["input"], feed["output"]])


@pytest.mark.parametrize(
    "path", ["/services?name=dummy", "/services/dummy?version=1", "/services/dummy/1?x=1", "/services?a=%00&a=b&=&&"]
)
def test_unknown_query_parameters_are_ignored_on_directory_reads(client: httpx2.Client, path: str) -> None:
    """(H) Public clients add query parameters to directory reads: accept and ignore unknown query parameters there."""
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.json() == client.get(path.partition("?")[0]).json()


@pytest.mark.parametrize("slash", ["", "/"])
def test_urls_are_followed_as_given_and_paths_joined_onto_the_root(
    stack: Stack, client: httpx2.Client, slash: str
) -> None:
    """(H) `jobs` and `blobs` URLs are followed as given; a client may also join absolute paths onto its root."""
    joined = urljoin(f"{stack.url}/", client.get(f"/services/dummy{slash}").json()["versions"]["1"]["url"])
    version = client.get(joined + slash).json()
    job = client.post(version["jobs"] + slash, json={"async": False}).json()
    assert client.get(job["url"] + slash).json() == job
    blob = store_blob(client).json()["url"]
    assert client.get(blob + slash).content == b"pixels"
    assert client.post(MEASURE + slash, json={"image": blob + slash, "async": False}).status_code == 201


@pytest.mark.parametrize("row", ROUTES, ids=lambda row: f"{row.method} {row.path}")
def test_every_route_answers_the_same_with_a_trailing_slash(client: httpx2.Client, row: object) -> None:
    """Both must work, with and without a trailing slash."""
    path = row.path.format(name="dummy", version=1, id=uuid.uuid4())  # type: ignore[attr-defined]
    bare, slashed = (client.request(row.method, path + slash) for slash in ("", "/"))  # type: ignore[attr-defined]
    assert bare.status_code == slashed.status_code
    assert slashed.status_code not in (301, 302, 307, 308, 405)
    told = [{name: value for name, value in one.json().items() if name != "now"} for one in (bare, slashed)]
    assert told[0] == told[1]


def test_description_answers_the_service_version_object(client: httpx2.Client) -> None:
    """(H) `GET .../<version>/description` answers the service version object."""
    assert client.get("/services/dummy/1/description").json() == client.get("/services/dummy/1").json()


def test_errors_are_problem_json_with_a_snake_case_code(client: httpx2.Client) -> None:
    """Errors: `application/problem+json` (RFC 9457) with `type`, `title`, `status`, `detail`, plus `code`."""
    body = assert_problem(client.get("/services/nothing"), 404, "not_found")
    assert set(body) == PROBLEM_MEMBERS
    assert set(KINDS) == set(Code)
    assert all(code.replace("_", "").isalpha() and code.islower() for code in Code)


@pytest.mark.parametrize(
    "reference",
    [
        "http://example.org/picture.jpg",
        "https://example.org/blobs/00000000-0000-4000-8000-000000000000",
        "file:///etc/hostname",
        "ftp://example.org/picture.jpg",
        "//example.org/picture.jpg",
        "/etc/hostname",
        "shot",
        "",
        "attachment:shot",
        "s3://onlooker/blobs/x",
    ],
)
def test_a_reference_to_anything_else_is_400(client: httpx2.Client, reference: str) -> None:
    """Nothing else is ever fetched or opened: `http(s)://` to elsewhere, `file://` and the like are 400."""
    assert_problem(measure(client, image=reference), 400, "bad_request")
    assert_problem(measure(client, image=reference, **{"async": True}), 400, "bad_request")


def test_a_reference_to_a_blob_under_another_host_or_scheme_is_400(stack: Stack, client: httpx2.Client) -> None:
    """The URL of a blob of the same stream on this gateway: the same path elsewhere is another resource."""
    url = store_blob(client).json()["url"]
    path = url.removeprefix(stack.url)
    host = stack.url.removeprefix("https://")
    for foreign in (f"http://{host}{path}", f"https://{host}.example.org{path}", f"https://{host}@example.org{path}"):
        assert_problem(client.post(MEASURE, json={"image": foreign, "async": False}), 400, "bad_request")


def test_a_reference_to_an_attachment_of_another_request_is_400(client: httpx2.Client) -> None:
    """`attachment://<name>` of the same request."""
    assert measure(client).status_code == 201
    fields = {"image": "attachment://shot", "async": False}
    assert_problem(client.post(MEASURE, json=fields), 400, "bad_request")


def test_a_reference_to_a_blob_of_another_stream_is_404_as_if_it_never_was(stack: Stack, client: httpx2.Client) -> None:
    """The URL of a blob of the same stream; one that belongs to another stream is 404."""
    with client_of(stack, stack.create_stream()) as other:
        foreign = store_blob(other).json()["url"]
    never = f"{stack.url}/blobs/{uuid.uuid4()}"
    bodies = [
        assert_problem(client.post(MEASURE, json={"image": url, "async": flag}), 404, "not_found")
        for url in (foreign, never)
        for flag in (False, True)
    ]
    assert all(body == bodies[0] for body in bodies)


def test_a_state_is_checked_before_anything_is_computed(client: httpx2.Client) -> None:
    """malformed JSON, missing or wrong field: a refused request leaves its session as it was."""
    state = new_state()
    assert dummy(client, state=state).json()["calls"] == 1
    assert_problem(dummy(client, state=state, echo=7), 400, "bad_request")
    assert dummy(client, state=state).json()["calls"] == 2
