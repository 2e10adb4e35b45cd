"""One device may report and ask only so often, whatever others at its address do."""

import asyncio

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Scope

from onlooker.console.web.device_rate_limit import BURST, PATHS, DeviceRateLimit

REPORTS = "/devices/health/"


def statuses_of(limit: DeviceRateLimit, key: str, count: int, path: str = REPORTS) -> list[int]:
    """Of so many requests with one key."""
    found: list[int] = []

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            found.append(message["status"])

    async def run() -> None:
        headers = [(b"authorization", f"Bearer {key}".encode())]
        scope: Scope = {"type": "http", "method": "POST", "path": path, "headers": headers, "client": ("192.0.2.1", 1)}
        for _ in range(count):
            await limit(scope, None, send)  # type: ignore[arg-type]

    asyncio.run(run())
    return found


@pytest.fixture
def device_limit() -> DeviceRateLimit:
    return DeviceRateLimit(PlainTextResponse("ok"))


def test_a_device_that_asks_too_often_is_refused_and_no_other(device_limit: DeviceRateLimit) -> None:
    assert set(statuses_of(device_limit, "one", BURST)) == {200}
    assert statuses_of(device_limit, "one", 1) == [429]
    assert statuses_of(device_limit, "other", 1) == [200]


def test_both_routes_count_together(device_limit: DeviceRateLimit) -> None:
    assert REPORTS in PATHS
    statuses_of(device_limit, "one", BURST)
    assert [statuses_of(device_limit, "one", 1, path) for path in PATHS] == [[429], [429]]


def test_other_routes_of_devices_are_not_counted(device_limit: DeviceRateLimit) -> None:
    assert set(statuses_of(device_limit, "one", BURST + 5, "/devices/credential/")) == {200}
