"""A plugin: a console as a process of its own, on the database of the test."""

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test import Client
from psycopg.conninfo import make_conninfo

from onlooker.console.accounts.models import Account
from testkit import free_ports

START_LIMIT_S = 60.0


@dataclass(frozen=True)
class Console:
    """A running `onlooker console`."""

    process: subprocess.Popen[bytes]
    port: int
    monitoring_port: int

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    def client_of(self, account: Account | None) -> httpx2.Client:
        """A browser in which somebody is signed in, or nobody."""
        headers = {}
        if account:
            browser = Client()
            browser.force_login(account)
            headers["Cookie"] = f"session={browser.cookies[django_settings.SESSION_COOKIE_NAME].value}"
        return httpx2.Client(base_url=self.url, headers=headers, timeout=30, trust_env=False)

    def count(self, metric: str) -> float:
        """The sum of a metric over all its labels."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.monitoring_port}/metrics", timeout=5) as answer:
            lines = answer.read().decode().splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.split("{")[0].split(" ")[0] == metric)


@contextmanager
def running_console(**settings: Any) -> Iterator[Console]:
    port, monitoring_port = free_ports(2)
    url = make_conninfo(django_settings.ONLOOKER.database_url, dbname=connection.settings_dict["NAME"])
    values = {
        "database_url": url,
        "home": "/nonexistent",
        "secret_key": django_settings.SECRET_KEY,
        "console_url": f"http://localhost:{port}",
        "console_https_port": 0,
        "console_http_port": port,
        "monitoring_port": monitoring_port,
    } | settings
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ONLOOKER_")}
    environment |= {f"ONLOOKER_{name.upper()}": str(value) for name, value in values.items()}
    process = subprocess.Popen([sys.executable, "-m", "onlooker", "console"], env=environment)
    console = Console(process, port, monitoring_port)
    try:
        _await_ready(console)
        yield console
    finally:
        process.kill()
        process.wait()


def _await_ready(console: Console) -> None:
    give_up_at = time.monotonic() + START_LIMIT_S
    while time.monotonic() < give_up_at:
        try:
            with urllib.request.urlopen(f"{console.url}/readyz", timeout=2):
                return
        except (OSError, urllib.error.URLError):
            assert console.process.poll() is None, "the console died"
            time.sleep(0.1)
    raise AssertionError("the console did not become ready")


@pytest.fixture(scope="module")
def console_settings_of_module() -> dict[str, Any]:
    """What differs from the defaults; a module may have its own."""
    return {}


@pytest.fixture(scope="module")
def console(
    django_db_setup: None, django_db_blocker: Any, console_settings_of_module: dict[str, Any]
) -> Iterator[Console]:
    with django_db_blocker.unblock(), running_console(**console_settings_of_module) as running:
        yield running


@pytest.fixture
def another_console(transactional_db: None) -> Callable[..., Any]:
    """Starts one more, for a test that ends it."""
    return running_console
