"""Interface document: authentication of the gateway, its rules, and the limits that concern it."""

import socket
import ssl
import urllib.request
from urllib.parse import urlsplit

import httpx2
import pytest

from clients import client_of
from onlooker.settings import Settings
from testkit import Stack, TestStream
from wire import assert_problem, basic, dummy, measure


def test_authentication_row_gateway_takes_basic_with_client_id_and_access_token(
    stack: Stack, stream: TestStream
) -> None:
    """Compute gateway | HTTP Basic over HTTPS | user = client_id, password = access_token, in Authorization."""
    with client_of(stack, None) as anonymous:
        header = {"Authorization": basic(stream.client_id, stream.access_token)}
        assert anonymous.get("/services", headers=header).status_code == 200


def test_authentication_row_gateway_takes_no_other_scheme(stack: Stack, stream: TestStream) -> None:
    """Compute gateway | HTTP Basic: neither a bearer token nor credentials in the URL's query."""
    with client_of(stack, None) as anonymous:
        bearer = {"Authorization": f"Bearer {stream.access_token}"}
        query = {"client_id": stream.client_id, "access_token": stream.access_token}
        for answer in (anonymous.get("/services", headers=bearer), anonymous.get("/services", params=query)):
            assert_problem(answer, 401, "bad_credentials")


def test_authentication_rule_1_https_is_served_with_a_certificate_that_verifies(stack: Stack) -> None:
    """All requests use HTTPS."""
    address = urlsplit(stack.url)
    trust = ssl.create_default_context(cafile=stack.ca_file)
    with (
        socket.create_connection((address.hostname, address.port), timeout=5) as plain,
        trust.wrap_socket(plain, server_hostname=address.hostname) as secured,
    ):
        assert secured.version() in ("TLSv1.2", "TLSv1.3")


def test_authentication_rule_1_the_https_port_speaks_no_plain_http(stack: Stack) -> None:
    """All requests use HTTPS."""
    with pytest.raises(OSError):
        urllib.request.urlopen(f"http://127.0.0.1:{urlsplit(stack.url).port}/services", timeout=5)


def test_authentication_rule_2_get_services_checks_credentials(stack: Stack, stream: TestStream) -> None:
    """A GET on /services with valid credentials returns 200, and serves as a check of credentials."""
    with client_of(stack, stream) as right:
        assert right.get("/services").status_code == 200
        assert right.get("/services", auth=(stream.client_id, "wrong")).status_code == 401


def test_authentication_rule_4_credentials_are_never_in_an_answer(client: httpx2.Client, stream: TestStream) -> None:
    """client_id and access_token are private values."""
    for answer in (client.get("/services/dummy/1"), dummy(client), client.get("/nothing")):
        text = answer.text + str(answer.headers)
        assert stream.client_id not in text
        assert stream.access_token not in text


def test_limit_row_free_developer_stream_quota_is_3_hours_a_month(stack: Stack) -> None:
    """Free developer stream quota | 3 hours of computed video stream per month, then blocked | developer streams."""
    assert Settings().developer_quota_s == 3 * 3600
    stream = stack.create_stream(kind="developer")
    insert = "INSERT INTO streams_usage (stream_id, month, video_s) VALUES (%s, date_trunc('month', now()), %s)"
    stack.execute(insert, stream.id, 3 * 3600 - 0.05)
    with client_of(stack, stream) as client:
        assert measure(client).status_code == 201
        assert_problem(measure(client), 403, "quota_exceeded")


def test_limit_row_advised_upload_of_400_kilobytes_a_second_is_taken(client: httpx2.Client) -> None:
    """Advised upload bandwidth | about 400 kilobytes per second | client sending frames (10 of 40 kB a second)."""
    answers = [measure(client, b"x" * 40_000) for _ in range(10)]
    assert [answer.status_code for answer in answers] == [201] * 10
    assert sum(answer.elapsed.total_seconds() for answer in answers) < 1
