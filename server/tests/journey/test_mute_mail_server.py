"""A mail server that takes a connection and never says a word keeps nobody else of the console waiting."""

import re
import socket
import ssl
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from testkit import Stack, migrated_database, running_stack
from testkit.stopwatch import Stopwatch

RESETS = 8
"""As many as the console has connections to the database."""


@pytest.fixture(scope="module")
def muted_stack() -> Iterator[Stack]:
    with socket.create_server(("127.0.0.1", 0), backlog=64) as mute, migrated_database() as database_url:
        email_url = f"smtp://127.0.0.1:{mute.getsockname()[1]}?tls=no"
        with running_stack(database_url, email_url=email_url, worker_services="dummy") as running:
            yield running


def client_of_console(stack: Stack) -> httpx2.Client:
    trust = ssl.create_default_context(cafile=stack.ca_file)
    return httpx2.Client(base_url=stack.console_url, verify=trust, timeout=60)


def reset_password(stack: Stack, number: int) -> int:
    with client_of_console(stack) as client:
        page = client.get("/accounts/password/reset/").text
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        assert token
        values = {"csrfmiddlewaretoken": token[1], "email": f"somebody{number}@example.org"}
        return client.post("/accounts/password/reset/", data=values, headers={"Referer": stack.console_url}).status_code


@pytest.mark.alone
def test_others_are_answered_while_mails_wait(muted_stack: Stack) -> None:
    with ThreadPoolExecutor(RESETS) as pool, client_of_console(muted_stack) as client:
        resets = [pool.submit(reset_password, muted_stack, number) for number in range(RESETS)]
        time.sleep(3)  # the first ones wait for the mail server now
        assert not all(reset.done() for reset in resets)
        for path in ("/readyz", "/.well-known/jwks.json", "/accounts/login/"):
            watch = Stopwatch()
            assert client.get(path).status_code == 200
            assert watch.elapsed_s < 2
        assert {reset.result() for reset in resets} == {503}
