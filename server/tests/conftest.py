"""The parts that tests share: a database, a running product, clients of it."""

import os
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from clients import EXTRA_SERVICES, client_of
from onlooker.testing import Stack, TestStream, fresh_database, running_stack

TESTS = Path(__file__).parent
os.environ["PYTHONPATH"] = str(TESTS)


@pytest.fixture(scope="session")
def database_url() -> Iterator[str]:
    with fresh_database() as url:
        yield url


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
