"""The data endpoint as `onlooker up` starts it: where it is, what it knows, and that a token dies in time."""

import ssl
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from testkit import Stack, TestStream
from wire import assert_problem, wait_for

PATH = "/api/1/entities"
ASKED = {"metrics": "passing_by", "from_date": "2026-03-02T00:00:00Z"}


@pytest.fixture
def anybody(stack: Stack) -> Iterator[httpx2.Client]:
    """Over HTTPS, without a token."""
    trust = ssl.create_default_context(cafile=stack.ca_file)
    with httpx2.Client(base_url=stack.data_url, verify=trust, timeout=30) as client:
        yield client


@pytest.fixture
def token(stack: Stack, stream: TestStream, anybody: httpx2.Client) -> str:
    """From the console, as programs get it."""
    credentials = {"client_id": stream.client_id, "access_token": stream.access_token}
    body = {"username": "owner@example.org"} | credentials
    answer = anybody.post(f"{stack.console_url}/api-token-authstream/", json=body)
    return str(answer.json()["token"])


def ask(client: httpx2.Client, token: str) -> httpx2.Response:
    return client.get(PATH, params=ASKED, headers={"Authorization": f"Bearer {token}"})


def test_up_says_where_it_is(stack: Stack) -> None:
    assert f"  data        {stack.data_url}\n" in stack.output.read_text()


def test_a_token_of_the_console_opens_it(anybody: httpx2.Client, token: str) -> None:
    answer = ask(anybody, token)
    assert answer.status_code == 200, answer.text
    assert answer.json()["entities"] == {"global": {"passing_by": {"value": 0}}}
    assert_problem(anybody.get(PATH, params=ASKED), 401, "missing_token")


def test_it_answers_live_ready_and_metrics(stack: Stack, anybody: httpx2.Client) -> None:
    assert anybody.get("/livez").json() == {"live": True}
    assert anybody.get("/readyz").json() == {"ready": True, "checks": {"database": True, "clock": True}}
    with urllib.request.urlopen(f"{stack.monitoring_url('data')}/readyz", timeout=5) as answer:
        assert answer.status == 200
    anybody.get(PATH)
    assert 'onlooker_data_refusals_total{code="missing_token"}' in stack.metrics("data")
    assert 'onlooker_data_requests_total{route="none",status="401"}' in stack.metrics("data")


def test_it_knows_no_secret_but_the_databases_address(stack: Stack) -> None:
    pid = stack.children()["data"]
    parts = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    names = {part.partition(b"=")[0].decode() for part in parts}
    assert "ONLOOKER_DATABASE_URL" in names
    for word in ("NATS_USER", "NATS_PASSWORD", "SECRET", "EMAIL_URL", "S3_ACCESS"):
        assert not [name for name in names if word in name]
    for role in ("gateway", "recorder"):
        assert stack.password(role).encode() not in b"".join(parts)


def test_one_that_dies_comes_back(stack: Stack, anybody: httpx2.Client) -> None:
    before = stack.children()["data"]
    assert stack.kill("data")
    wait_for(lambda: stack.children().get("data"), lambda pid: pid not in (None, before), limit_s=20)

    def status() -> int:
        try:
            return anybody.get("/readyz").status_code
        except httpx2.TransportError:
            return 0

    wait_for(status, lambda answered: answered == 200, limit_s=30)


def test_what_it_logs_names_no_token_and_no_parameter(stack: Stack, anybody: httpx2.Client) -> None:
    anybody.get(PATH, params=ASKED | {"tz": "a-parameter"}, headers={"Authorization": "Bearer a-token-of-mine"})
    wait_for(stack.output.read_text, lambda text: '"process":"data"' in text and '"code":"invalid_jwt"' in text)
    text = stack.output.read_text()
    assert "a-token-of-mine" not in text
    assert "a-parameter" not in text
