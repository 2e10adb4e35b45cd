"""A mail server that takes a connection and never says a word keeps nobody else of the console waiting."""

import re
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from testkit import migrated_database
from testkit.stopwatch import Stopwatch

if TYPE_CHECKING:
    from consoles import Console

RESETS = 8
"""As many as the console has connections to the database."""


@pytest.fixture
def mute() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        yield server


@pytest.fixture
def console(mute: socket.socket) -> Iterator["Console"]:
    from consoles import running_console

    email_url = f"smtp://127.0.0.1:{mute.getsockname()[1]}?tls=no"
    with (
        migrated_database() as url,
        running_console(database_url=url, email_url=email_url, database_pool_size=RESETS) as running,
    ):
        yield running


def reset_password(console: "Console", number: int) -> int:
    with console.client_of(None) as client:
        page = client.get("/accounts/password/reset/").text
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        assert token
        values = {"csrfmiddlewaretoken": token[1], "email": f"somebody{number}@example.org"}
        return client.post("/accounts/password/reset/", data=values, headers={"Referer": console.url}).status_code


def test_others_are_answered_while_mails_wait(console: "Console", mute: socket.socket) -> None:
    with ThreadPoolExecutor(RESETS) as pool, console.client_of(None) as client:
        resets = [pool.submit(reset_password, console, number) for number in range(RESETS)]
        time.sleep(3)  # the first ones wait for the mail server now
        assert not all(reset.done() for reset in resets)
        for path in ("/readyz", "/.well-known/jwks.json", "/accounts/login/"):
            watch = Stopwatch()
            assert client.get(path).status_code == 200
            assert watch.elapsed_s < 2
        mute.close()  # nobody has to wait for the time limit of 15 seconds
        assert {reset.result() for reset in resets} == {503}
