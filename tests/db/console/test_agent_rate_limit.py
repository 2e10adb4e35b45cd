"""What devices install is open to everyone, and one address may fetch only so much of it at once."""

import asyncio
from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Scope

from onlooker.console.web.address_rate_limit import AGENT, AddressRateLimit

pytest_plugins = ["consoles", "pages"]
PATH = "/agent/simple/"
BURST = AGENT.burst


def statuses(limit: AddressRateLimit, address: str, count: int, path: str = PATH) -> list[int]:
    """Of so many requests from one address."""
    found: list[int] = []

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            found.append(message["status"])

    async def run() -> None:
        scope: Scope = {"type": "http", "method": "GET", "path": path, "headers": [], "client": (address, 1)}
        for _ in range(count):
            await limit(scope, None, send)  # type: ignore[arg-type]

    asyncio.run(run())
    return found


@pytest.fixture
def limit() -> AddressRateLimit:
    return AddressRateLimit(PlainTextResponse("ok"), AGENT)


def test_an_address_that_fetches_too_much_is_refused_and_no_other(limit: AddressRateLimit) -> None:
    assert set(statuses(limit, "192.0.2.1", BURST)) == {200}
    assert 429 in statuses(limit, "192.0.2.1", 50)
    assert statuses(limit, "192.0.2.2", 1) == [200]


def test_addresses_of_one_ipv6_network_count_together(limit: AddressRateLimit) -> None:
    statuses(limit, "2001:db8::1", BURST)
    assert 429 in statuses(limit, "2001:db8::ffff:2", 50)
    assert statuses(limit, "2001:db8:0:1::1", 1) == [200]


def test_other_pages_are_not_counted(limit: AddressRateLimit) -> None:
    assert set(statuses(limit, "192.0.2.1", BURST + 50, path="/streams/")) == {200}
    assert statuses(limit, "192.0.2.1", 1) == [200]


def test_a_console_limits_all_routes_of_the_agent_together(console: Any) -> None:
    """Files are sent outside Django, and count too."""
    with console.client_of(None) as client:
        answers = [client.get("/agent/packages/none.whl") for _ in range(BURST + 200)]
        assert answers[0].status_code == 404
        assert answers[-1].status_code == 429
        for path in ("/agent/install.sh", "/agent/requirements.txt", PATH, "/agent/simple/numpy/"):
            refused = client.get(path)
            assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
            assert int(refused.headers["Retry-After"]) >= 1
        assert client.get("/livez").status_code == 200
