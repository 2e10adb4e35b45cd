"""How many dashboards are followed at a time, what they cost everybody else, and how they end with the process."""

import asyncio
import signal
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from event_stream import listening
from onlooker.console.accounts.models import Account
from onlooker.console.event_streams import CONTINUATION, Continuation, EventStreams
from onlooker.console.web.request_limits import RequestLimits
from onlooker.http.servers import GRACE_S
from onlooker.streams.administration import create_stream
from testkit.stopwatch import Stopwatch

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


def path_for(owner: Account) -> str:
    stream = create_stream("Front door", owner=owner, kind="developer").stream
    return f"/streams/{stream.client_id}/dashboard/live/"


def threads_of(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


@pytest.mark.django_db(transaction=True)
def test_fifty_open_dashboards_hold_no_place_no_thread_and_no_connection(console, owner: Account) -> None:
    """There are two places for requests and two connections: one of fifty that held some would hold up the page."""
    path = path_for(owner)
    with console.client_of(owner) as client, ExitStack() as stack:
        client.get("/streams/")
        threads = threads_of(console.process.pid)
        for _ in range(50):
            stack.enter_context(listening(client, path)).await_event("numbers")
        assert console.count("onlooker_console_live") == 50
        assert threads_of(console.process.pid) <= threads + 8
        took = [measure(lambda: client.get("/streams/").raise_for_status()) for _ in range(10)]
        assert statistics.median(took) < 1.0
    assert becomes(lambda: console.count("onlooker_console_live"), 0)


@pytest.mark.django_db(transaction=True)
def test_more_than_so_many_are_refused_and_counted(console, owner: Account, viewer: Account) -> None:
    path, other = path_for(owner), path_for(viewer)
    with ExitStack() as stack:
        client, visitor = (stack.enter_context(console.client_of(account)) for account in (owner, viewer))
        for _ in range(ACCOUNT_LIMIT):
            stack.enter_context(listening(client, path)).await_event("numbers")
        answer = client.get(path)
        assert (answer.status_code, answer.json()["code"]) == (503, "overloaded")
        assert int(answer.headers["retry-after"]) > 0
        assert console.count("onlooker_console_live_refused_total") == 1
        for _ in range(LIMIT - ACCOUNT_LIMIT):
            stack.enter_context(listening(visitor, other)).await_event("numbers")
        assert visitor.get(other).status_code == 503
    assert becomes(lambda: console.count("onlooker_console_live"), 0)
    with console.client_of(owner) as client, listening(client, path) as ear:
        ear.await_event("numbers")


@pytest.mark.django_db(transaction=True)
def test_a_stopping_process_ends_them_at_once(another_console: Any, owner: Account) -> None:
    path = path_for(owner)
    with another_console() as console, console.client_of(owner) as client, ExitStack() as stack:
        ears = [stack.enter_context(listening(client, path)) for _ in range(10)]
        for ear in ears:
            ear.await_event("numbers")
        watch = Stopwatch()
        console.process.send_signal(signal.SIGTERM)
        assert console.process.wait(GRACE_S + 5) == 0
        assert watch.elapsed_s < GRACE_S - 1
        assert all(ear.is_over.wait(1) for ear in ears)


def measure(act: Any) -> float:
    started = time.monotonic()
    act()
    return time.monotonic() - started


def becomes(read: Any, wanted: float, *, within_s: float = 10) -> bool:
    give_up_at = time.monotonic() + within_s
    while read() != wanted:
        if time.monotonic() > give_up_at:
            return False
        time.sleep(0.05)
    return True


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
