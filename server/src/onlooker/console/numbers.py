"""How pages read numbers: pages run in threads, numbers are read on the process's event loop with its own pool."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import OperationalError, connection
from django.http import HttpRequest
from psycopg.conninfo import make_conninfo

from onlooker.database import DATABASE_UNAVAILABLE, Pool, direct_url, open_direct_pool

Read = TypeVar("Read")


def read_numbers(request: HttpRequest, read: Callable[[Pool], Awaitable[Read]]) -> Read:
    """Run `read` with the pool. An unavailable database raises Django's OperationalError."""

    async def with_pool() -> Read:
        async with numbers_pool(request) as pool:
            return await read(pool)

    return async_to_sync(with_pool)()


@asynccontextmanager
async def numbers_pool(request: HttpRequest) -> AsyncIterator[Pool]:
    """The process's pool; where there is none, as in a chore or a test, a temporary one with the same time limit."""
    scope = getattr(request, "scope", {})
    try:
        if "app" in scope:
            yield scope["app"].state.numbers.pool
        else:
            ours = settings.ONLOOKER
            url = make_conninfo(direct_url(ours), dbname=connection.settings_dict["NAME"])
            async with open_direct_pool(ours, url=url, statement_limit_s=ours.data_time_limit_s) as pool:
                yield pool
    except DATABASE_UNAVAILABLE as error:
        raise OperationalError(*error.args) from error
