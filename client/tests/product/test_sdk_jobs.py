"""The SDK against the real product: directory, jobs, blobs, sessions."""

import io
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from testkit import Stack, TestStream

from onlooker_client import (
    BadArgument,
    BadCredentials,
    BadRequest,
    Client,
    ComputationFailed,
    ConfigError,
    LinkError,
    NotAllowed,
    NotReady,
)

PORTRAIT = Path(__file__).parents[3] / "docs" / "pictures" / "portrait.jpg"


def test_services_are_listed_and_described(client: Client) -> None:
    assert {"dummy", "scene_analysis"} <= set(client.services())
    dummy = client.service("dummy")
    assert (dummy.version, dummy.path) == (1, "/services/dummy/1")
    assert "Echoes" in dummy.description


def test_an_unknown_service_or_version_is_refused(client: Client) -> None:
    with pytest.raises(BadRequest):
        client.service("no such service")
    with pytest.raises(BadRequest):
        client.service("dummy", 7).process(echo="hello")


def test_a_service_of_a_known_version_is_made_without_asking() -> None:
    with Client("https://vision.example.org", "login", "password") as offline:
        assert offline.service("scene_analysis", version=1).path == "/services/scene_analysis/1"


def test_a_job_is_computed_at_once(client: Client) -> None:
    result = client.service("dummy", 1).process(echo="hello ✓")
    assert (result["echo"], result["status"]) == ("hello ✓", 201)


def test_a_picture_comes_in_every_form(client: Client) -> None:
    service = client.service("face_detection", 1)
    blob = client.create_blob(PORTRAIT)
    with PORTRAIT.open("rb") as file:
        forms = [PORTRAIT, str(PORTRAIT), PORTRAIT.read_bytes(), file, blob, blob.url]
        results = [service.process(image=form) for form in forms]
    assert {result["nb_faces"] for result in results} == {1}


def test_a_computation_that_fails_is_raised_unless_told_otherwise(client: Client) -> None:
    service = client.service("face_detection", 1)
    with pytest.raises(ComputationFailed) as caught:
        service.process(image=b"no picture")
    assert caught.value.code == "bad_image"
    assert service.process(image=b"no picture", raise_errors=False)["error_code"] == "bad_image"


def test_an_async_job_is_waited_for_and_deleted(client: Client) -> None:
    job = client.service("dummy", 1).submit(echo="later")
    assert job.wait(timeout_s=30)["echo"] == "later"
    assert job.result()["status"] == 200
    job.delete()
    with pytest.raises(BadRequest):
        job.result()


def test_an_async_job_without_result_says_so(client: Client) -> None:
    job = client.service("age_and_gender_estimation", 1).submit(image=PORTRAIT)
    try:
        with pytest.raises(NotReady, match="wait again"):
            job.wait(timeout_s=0)
    finally:
        assert job.wait(timeout_s=60)["nb_faces"] == 1


def test_a_blob_is_stored_read_and_deleted(client: Client) -> None:
    blob = client.create_blob(io.BytesIO(b"bytes\r\n--\0"))
    assert blob.read() == b"bytes\r\n--\0"
    assert client.blob(blob.url).read() == blob.read()
    assert datetime.fromisoformat(blob.expires_at or "") > datetime.now(UTC)
    blob.delete()
    with pytest.raises(BadRequest):
        blob.read()


def test_a_session_belongs_together_and_ends_with_its_block(client: Client) -> None:
    service = client.service("dummy", 1)
    with service.session() as session:
        assert [session.process(echo="x")["calls"] for _ in range(3)] == [1, 2, 3]
        assert session.submit(echo="x").wait()["calls"] == 4
    assert service.session(session.id).process(echo="x")["calls"] == 1


def test_a_session_that_never_began_ends_quietly(client: Client) -> None:
    with client.service("dummy", 1).session() as session:
        assert uuid.UUID(session.id)
    session.end()


def test_a_session_has_a_uuid(client: Client) -> None:
    with pytest.raises(BadArgument, match="UUID"):
        client.service("dummy", 1).session("camera-1")


def test_frames_are_stamped_by_themselves(client: Client) -> None:
    with client.service("scene_analysis", version=1).session() as session:
        first = session.process(image=PORTRAIT, store=True)
        moment = datetime.now(UTC) + timedelta(seconds=1)
        second = session.process(PORTRAIT, moment, store=True)
    assert abs(datetime.fromisoformat(first["timestamp"]) - datetime.now(UTC)) < timedelta(seconds=30)
    assert datetime.fromisoformat(second["timestamp"]) == moment


def test_storing_needs_a_session_and_the_server_says_so(client: Client) -> None:
    with pytest.raises(BadRequest, match="session"):
        client.service("scene_analysis", 1).process(image=PORTRAIT, store=True)


def test_wrong_credentials_are_told_apart_from_a_wrong_request(product: Stack, stream: TestStream) -> None:
    with Client(product.url, stream.client_id, "wrong", ca_file=product.ca_file) as wrong:
        with pytest.raises(BadCredentials):
            wrong.services()
        with pytest.raises(BadCredentials):
            wrong.service("dummy", 1).process(echo="x")


def test_a_disabled_stream_is_told(product: Stack) -> None:
    stream = product.create_stream(enabled=False)
    with Client(product.url, stream.client_id, stream.access_token, ca_file=product.ca_file) as disabled:
        assert disabled.stream()["state"] == "disabled"
        with pytest.raises(NotAllowed) as caught:
            disabled.service("face_detection", 1).process(image=PORTRAIT)
    assert caught.value.code == "stream_disabled"


def test_a_stream_knows_its_month(client: Client, stream: TestStream) -> None:
    said = client.stream()
    assert (said["client_id"], said["state"]) == (stream.client_id, "ready")


def test_another_address_than_the_server_knows_of_itself_works_too(product: Stack, stream: TestStream) -> None:
    """Through plain HTTP on loopback, as behind a proxy: the URLs in answers are of the public address."""
    port = product.setting("http_port")
    with Client(f"http://127.0.0.1:{port}", stream.client_id, stream.access_token) as inner:
        job = inner.service("dummy", 1).submit(echo="x")
        assert job.url.startswith(product.url)
        assert job.wait()["echo"] == "x"
        blob = inner.create_blob(PORTRAIT)
        assert blob.read() == PORTRAIT.read_bytes()
        assert inner.service("face_detection", 1).process(image=blob)["nb_faces"] == 1


def test_many_requests_use_one_connection(product: Stack, stream: TestStream, monkeypatch: pytest.MonkeyPatch) -> None:
    from onlooker_client.wire import connection

    dialled: list[object] = []
    dial = connection.dial

    def counted(*arguments: object, **more: object) -> object:
        dialled.append(arguments)
        return dial(*arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(connection, "dial", counted)
    with Client(product.url, stream.client_id, stream.access_token, ca_file=product.ca_file) as client:
        service = client.service("dummy", 1)
        for _ in range(20):
            service.process(echo="x")
    assert len(dialled) == 1


def test_plain_http_to_the_https_port_says_so(product: Stack, stream: TestStream) -> None:
    port = product.setting("https_port")
    with (
        Client(f"http://127.0.0.1:{port}", stream.client_id, stream.access_token, timeout_s=3) as client,
        pytest.raises(LinkError, match="https://"),
    ):
        client.services()


def test_https_to_the_plain_port_says_so(product: Stack, stream: TestStream) -> None:
    port = product.setting("http_port")
    with (
        Client(f"https://127.0.0.1:{port}", stream.client_id, stream.access_token, timeout_s=3) as client,
        pytest.raises(LinkError, match="does not speak HTTPS"),
    ):
        client.services()


def test_numbers_without_a_username_say_what_is_missing(client: Client) -> None:
    with pytest.raises(ConfigError, match="ONLOOKER_USERNAME"):
        client.metrics(["passing_by"], "2026-01-01").buckets  # noqa: B018
