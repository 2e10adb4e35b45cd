"""Monitoring answers to names of this machine, so that a web page with a name of its own reads nothing."""

import pytest
from starlette.testclient import TestClient

from onlooker.monitoring import KnownHost, monitoring_app


@pytest.fixture
def client() -> TestClient:
    return TestClient(KnownHost(monitoring_app(lambda: {"bus": True}), "metrics.example.org, prometheus"))


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "LOCALHOST:9100", "127.0.0.1", "127.0.0.1:9100", "127.1.2.3", "[::1]", "[::1]:9100"),
        *("metrics.example.org", "metrics.example.org:80", "prometheus:9100"),
    ],
)
def test_names_of_this_machine_and_those_that_are_set_are_answered(client: TestClient, host: str) -> None:
    for path in ("/livez", "/readyz", "/metrics"):
        assert client.get(path, headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        *("attacker.example", "attacker.example:9100", "localhost.attacker.example", "127.0.0.1.attacker.example"),
        *("192.0.2.1", "[2001:db8::1]:9100", "", "[::1", "example.org", "metrics.example.org.attacker.example"),
    ],
)
def test_another_name_is_refused_with_the_remedy(client: TestClient, host: str) -> None:
    for path in ("/livez", "/readyz", "/metrics", "/none"):
        answer = client.get(path, headers={"Host": host})
        assert answer.status_code == 421
        assert "ONLOOKER_MONITORING_HOSTS" in answer.text
        assert "onlooker_" not in answer.text


def test_two_names_are_refused(client: TestClient) -> None:
    answer = client.get("/livez", headers=[("Host", "localhost"), ("Host", "attacker.example")])
    assert answer.status_code == 421
