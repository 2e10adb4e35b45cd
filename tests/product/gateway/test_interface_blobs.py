"""Interface document: blob and its endpoint, with a folder and with an S3 bucket behind them."""

import hashlib
import json
from collections.abc import Iterator

import httpx2
import pytest

from clients import client_of
from seaweedfs import StoredStack
from wire import assert_problem, finished, measure, store_blob

pytest_plugins = ["stacks"]


@pytest.fixture
def owner(stored: StoredStack) -> Iterator[httpx2.Client]:
    """A client of a fresh stream, for each kind of store."""
    with client_of(stored.stack, stored.stack.create_stream()) as made:
        yield made


def test_blob_row_status_is_201_on_creation(owner: httpx2.Client) -> None:
    """status | integer | 201 on creation."""
    answer = store_blob(owner)
    assert (answer.status_code, answer.json()["status"]) == (201, 201)


def test_blob_row_url_is_the_absolute_url_of_the_blob(stored: StoredStack, owner: httpx2.Client) -> None:
    """url | string | Absolute URL of the blob."""
    url = store_blob(owner, b"some bytes").json()["url"]
    assert url.startswith(f"{stored.stack.url}/blobs/")
    assert owner.get(url).content == b"some bytes"


def test_a_blob_is_stored_once_and_usable_by_any_service(owner: httpx2.Client) -> None:
    """A blob is a binary resource stored once and usable by any service."""
    data = b"stored once, used often"
    url = store_blob(owner, data).json()["url"]
    for _ in range(3):
        answer = owner.post("/services/measure/1/jobs", json={"image": url, "async": False})
        assert answer.json()["sha256"] == hashlib.sha256(data).hexdigest()
    elsewhere = owner.post("/services/face_detection/1/jobs", json={"image": url})
    assert elsewhere.status_code in (202, 503)  # found and taken, unless no worker hosts the service


@pytest.mark.parametrize("size", [0, 1, 70_000, 5 * 1024**2])
def test_a_blob_keeps_every_byte(owner: httpx2.Client, size: int) -> None:
    """A blob is a binary resource."""
    data = (bytes(range(256)) * (size // 256 + 1))[:size]
    assert owner.get(store_blob(owner, data).json()["url"]).content == data


@pytest.mark.parametrize("flag", [True, False])
def test_creation_request_may_carry_async(owner: httpx2.Client, flag: bool) -> None:
    """A JSON part `meta` containing `content` (attachment reference) and optionally `async` (boolean)."""
    assert store_blob(owner, **{"async": flag}).status_code == 201


def test_creation_request_content_refers_to_the_binary_part(owner: httpx2.Client) -> None:
    """`content` (attachment reference to the binary part): another reference, or none, is a bad request."""
    for content in ("attachment://other", "shot", "https://example.org/picture.jpg", 7, None):
        assert_problem(store_blob(owner, content=content), 400, "bad_request")
    assert_problem(owner.post("/blobs", json={"content": "attachment://shot"}), 400, "bad_request")


@pytest.mark.parametrize("meta_first", [True, False])
def test_endpoint_row_blobs_takes_a_part_with_any_media_type(owner: httpx2.Client, meta_first: bool) -> None:
    """POST | /blobs | Multipart body: binary part `attachment://<name>` with its media type, plus `meta` (JSON)."""
    meta = ("meta", (None, json.dumps({"content": "attachment://sound.wav"}), "application/json"))
    binary = ("attachment://sound.wav", ("sound.wav", b"RIFF", "audio/x-wav"))
    answer = owner.post("/blobs", files=[meta, binary] if meta_first else [binary, meta])
    assert answer.status_code == 201
    assert owner.get(answer.json()["url"]).content == b"RIFF"


def test_endpoint_row_blobs_answers_status_and_url(owner: httpx2.Client) -> None:
    """POST | /blobs | { status: 201, url: <blob_url> }."""
    answer = store_blob(owner)
    assert answer.headers["content-type"] == "application/json"
    assert {"status", "url"} <= set(answer.json())


def test_an_attachment_of_an_async_job_reaches_its_computation(owner: httpx2.Client) -> None:
    """`meta` refers to a binary part: also when the job is computed later, by another process."""
    data = b"waits in the store" * 1000
    url = measure(owner, data, **{"async": True}).json()["url"]
    assert finished(owner, url).json()["sha256"] == hashlib.sha256(data).hexdigest()
