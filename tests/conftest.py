"""The parts that tests share: a database, a running product, clients of it."""

import os
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from clients import EXTRA_SERVICES, client_of
from console_role import django_db_setup  # noqa: F401 (a fixture)
from table_flush import quick_flush
from testkit import Stack, TestStream, migrated_database, running_stack
from testkit.postgresql import migrated_template

TESTS = Path(__file__).parent
os.environ["PYTHONPATH"] = str(TESTS / "support")


@pytest.fixture(scope="session")
def database_url() -> Iterator[str]:
    with migrated_database() as url:
        yield url


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> Iterator[None]:
    """The console's test database is a copy of the migrated one."""
    from django.db import connection

    connection.settings_dict["TEST"]["TEMPLATE"] = migrated_template()
    with quick_flush():
        yield


@pytest.fixture(scope="session")
def stack(database_url: str) -> Iterator[Stack]:
    """The whole product, shared by all tests that do not break it."""
    with running_stack(
        database_url,
        workers=2,
        extra_services=EXTRA_SERVICES,
        credential_cache_s=0.5,
        rate_limit_per_second=10_000,
        rate_limit_burst=10_000,
        feed_idle_s=5,
        body_time_limit_s=3,
    ) as running:
        yield running


@pytest.fixture
def stream(stack: Stack) -> TestStream:
    """A fresh enterprise stream."""
    return stack.create_stream()


@pytest.fixture
def client(stack: Stack, stream: TestStream) -> Iterator[httpx2.Client]:
    """A client with the fresh stream's credentials, over HTTPS."""
    with client_of(stack, stream) as made:
        yield made
