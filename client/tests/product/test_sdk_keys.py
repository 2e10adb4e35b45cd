"""Numbers with a key of an organisation: no username, no Password, no token; the stream is named in each request."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from faulty_server import Peer, answering, http, peer
from organisation_keys import insert_key, revoke
from testkit import Stack, TestStream

from onlooker_client import BadCredentials, Client, ConfigError, NotAllowed, NotFound

KEY = "onl_" + "k" * 43
LOGIN = "5b31d405-d6a7-4b4e-96ca-683ba6e6ffbf"
PAGE = {
    "entities": {"2026-03-01T00:00:00+00:00": {"passing_by": {"value": 1}}},
    "from_date": "2026-03-01T00:00:00+00:00",
    "to_date": "2026-03-02T00:00:00+00:00",
    "next_page": "",
}
MISSING = http(b'{"code": "not_found", "detail": "No."}', status="404 Not Found")
REFUSED = http(b'{"code": "bad_credentials", "detail": "No."}', status="401 Unauthorized")


def numbers_of(client: Client) -> list[int]:
    return [bucket.passing_by for bucket in client.metrics(["passing_by"], "2026-03-01", "2026-03-02")]


def paths(asked: Peer) -> list[str]:
    return [request.split(b" ")[1].decode() for request in asked.requests]


def test_a_key_and_the_data_endpoint_are_enough() -> None:
    more = PAGE | {"next_page": f"https://evil.example/api/1/entities?page=2&stream={'0' * 8}"}
    last = PAGE | {"entities": {"2026-03-01T01:00:00Z": {"passing_by": {"value": 2}}}}

    def paged(taken, running) -> None:  # type: ignore[no-untyped-def]
        for said in (more, last):
            answering(http(json.dumps(said).encode()), times=1)(taken, running)

    with peer(paged) as data, Client(client_id=LOGIN, key=KEY, data_url=data.url) as client:
        assert numbers_of(client) == [1, 2]
    assert all(f"Authorization: Bearer {KEY}".encode() in request for request in data.requests)
    assert all(path.endswith(f"&stream={LOGIN}") and path.count("stream=") == 1 for path in paths(data))


def test_the_console_says_where_the_numbers_are() -> None:
    with peer(answering(http(json.dumps(PAGE).encode()))) as data:
        said = http(json.dumps({"data_url": data.url}).encode())
        with peer(answering(said)) as console, Client(client_id=LOGIN, key=KEY, console_url=console.url) as client:
            assert numbers_of(client) == [1]
        assert paths(console) == ["/api/v1/addresses"]
        assert f"Bearer {KEY}".encode() in console.requests[0]


def test_the_gateway_says_it_to_a_key_that_may_send_frames() -> None:
    with peer(answering(http(json.dumps(PAGE).encode()))) as data:
        said = http(json.dumps({"data_url": data.url}).encode())
        with peer(answering(said)) as gateway, Client(gateway.url, LOGIN, key=KEY) as client:
            assert numbers_of(client) == [1]


@pytest.mark.parametrize("answer", [MISSING, REFUSED])
def test_where_nobody_says_it_one_has_to(answer: bytes) -> None:
    with (
        peer(answering(answer)) as gateway,
        Client(gateway.url, LOGIN, key=KEY) as client,
        pytest.raises(ConfigError, match="ONLOOKER_DATA_URL"),
    ):
        numbers_of(client)
    with (
        peer(answering(MISSING)) as console,
        Client(client_id=LOGIN, key=KEY, console_url=console.url) as client,
        pytest.raises(ConfigError, match="ONLOOKER_DATA_URL"),
    ):
        numbers_of(client)


@pytest.mark.parametrize("text", ["onl_short", "hunter2", KEY + "\r\nX: y", "eyJ.eyJ.x"])
def test_what_is_no_key_is_not_sent(text: str) -> None:
    with (
        peer(answering()) as data,
        Client(client_id=LOGIN, key=text, data_url=data.url) as client,
        pytest.raises(ConfigError, match="ONLOOKER_KEY") as caught,
    ):
        numbers_of(client)
    assert text not in str(caught.value)
    assert not data.requests


def test_a_refused_key_is_not_tried_again() -> None:
    refused = http(b'{"code": "invalid_key", "detail": "This key was revoked."}', status="401 Unauthorized")
    with (
        peer(answering(refused)) as data,
        Client(client_id=LOGIN, key=KEY, data_url=data.url) as client,
        pytest.raises(BadCredentials, match="revoked"),
    ):
        numbers_of(client)
    assert len(data.requests) == 1


def test_at_a_real_server(product: Stack, stream: TestStream) -> None:
    reads = insert_key(product.execute, stream.id, "numbers", "frames")
    sends = insert_key(product.execute, stream.id, "frames")
    trust = {"ca_file": str(product.ca_file)}
    start = datetime(2026, 3, 1, tzinfo=UTC)
    with Client(product.url, stream.client_id, key=reads.text, **trust) as client:
        assert "scene_analysis" in client.services()
        assert len(client.metrics(["passing_by"], start, start + timedelta(hours=120)).buckets) == 120
        data_url = client.stream()["data_url"]
    with Client(product.url, stream.client_id, key=sends.text, **trust) as client, pytest.raises(NotAllowed):
        numbers_of(client)
    other = "00000000-0000-4000-8000-000000000000"
    with Client(client_id=other, key=reads.text, data_url=data_url, **trust) as client, pytest.raises(NotFound):
        numbers_of(client)
    revoke(product.execute, sends)
    unknown = Client(client_id=stream.client_id, key=KEY, data_url=data_url, **trust)
    with unknown as client, pytest.raises(BadCredentials, match="unknown, was revoked or has expired"):
        numbers_of(client)
