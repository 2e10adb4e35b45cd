"""A plugin: a stream of the owner with its credentials, and a checker of tokens."""

import asyncio
from collections.abc import Iterator

import pytest

from bearer_tokens import ISSUER, REMEMBER_S, Check, database_url
from onlooker.console.accounts.models import Account
from onlooker.database import open_pool
from onlooker.settings import Settings
from onlooker.streams.administration import create_stream
from onlooker.streams.bearer_tokens import BearerTokens
from token_requests import Camera


@pytest.fixture
def camera(owner: Account) -> Camera:
    made = create_stream("door", owner=owner, kind="developer")
    return Camera(made.stream, made.access_token)


@pytest.fixture
def check(transactional_db: None) -> Iterator[Check]:
    """Checks tokens with a short memory, on the tests' database."""
    with asyncio.Runner() as runner:
        pool = open_pool(Settings(database_url=database_url(), database_pool_size=2))
        runner.run(pool.open())
        bearers = BearerTokens(pool, ISSUER, remember_s=REMEMBER_S)
        yield lambda token: runner.run(bearers.check(token))
        runner.run(pool.close())
