"""How many dashboards are followed at a time, what they cost everybody else, and how they end with the process."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from onlooker.console.event_streams import CONTINUATION, Continuation, EventStreams
from onlooker.console.web.request_limits import RequestLimits

pytest_plugins = ["pages", "consoles"]
LIMIT, ACCOUNT_LIMIT = 60, 52


@pytest.fixture(scope="module")
def console_settings_of_module() -> dict[str, Any]:
    return {
        "console_live_limit": LIMIT,
        "console_live_limit_per_account": ACCOUNT_LIMIT,
        "console_requests_limit": 2,
        "database_pool_size": 2,
    }


class Page:
    """A page whose answer goes on, unless something fails behind it."""

    def __init__(self, *, status: int = 200) -> None:
        self.status = status
        self.is_ended = False

    async def events(self) -> AsyncIterator[bytes]:
        try:
            while True:
                yield b"more"
                await asyncio.sleep(0.01)
        finally:
            self.is_ended = True

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        scope[CONTINUATION] = Continuation(1, self.events)
        headers = [(b"Content-Length", b"5"), (b"X-Some", b"thing")]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"first"})


async def open_page(page: Page, *, leaves_after_s: float) -> list[dict[str, Any]]:
    """All that is sent to a browser that leaves."""
    sent: list[dict[str, Any]] = []
    requests = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> dict[str, Any]:
        if requests:
            return requests.pop()
        await asyncio.sleep(leaves_after_s)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    app = EventStreams(RequestLimits(page, requests_limit=1), limit=1, account_limit=1)
    await app({"type": "http", "headers": []}, receive, send)
    return sent


def test_an_answer_goes_on_until_the_browser_leaves() -> None:
    page = Page()
    start, first, *events, last = asyncio.run(open_page(page, leaves_after_s=0.1))
    assert start["headers"] == [(b"X-Some", b"thing")]
    assert (first["body"], first["more_body"]) == (b"first", True)
    assert {event["body"] for event in events} == {b"more"}
    assert "more_body" not in last
    assert page.is_ended


def test_an_answer_that_failed_does_not_go_on() -> None:
    page = Page(status=503)
    sent = asyncio.run(open_page(page, leaves_after_s=0.1))
    assert [message.get("body") for message in sent] == [None, b"first"]
    assert (b"Content-Length", b"5") in sent[0]["headers"]


def test_a_browser_that_stays_is_asked_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onlooker.console.event_streams.LIFETIME_S", 0.1)
    page = Page()
    sent = asyncio.run(open_page(page, leaves_after_s=60))
    assert page.is_ended
    assert "more_body" not in sent[-1]
