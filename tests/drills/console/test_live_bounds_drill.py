"""How many dashboards are followed at a time, what they cost everybody else, and how they end with the process."""

import signal
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from event_stream import listening
from onlooker.console.accounts.models import Account
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
        for _ in range(10):
            client.get("/streams/").raise_for_status()
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


def becomes(read: Any, wanted: float, *, within_s: float = 10) -> bool:
    give_up_at = time.monotonic() + within_s
    while read() != wanted:
        if time.monotonic() > give_up_at:
            return False
        time.sleep(0.05)
    return True
