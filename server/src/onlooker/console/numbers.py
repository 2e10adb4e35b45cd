"""How pages read numbers: pages run in threads, numbers are read on the process's event loop with its own pool."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import msgspec
from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import OperationalError, connection
from django.http import HttpRequest
from psycopg.conninfo import make_conninfo

from onlooker.database import DATABASE_UNAVAILABLE, Pool, open_pool

Read = TypeVar("Read")


def read_numbers(request: HttpRequest, read: Callable[[Pool], Awaitable[Read]]) -> Read:
    """Run `read` with the pool. An unavailable database raises Django's OperationalError."""

    async def with_pool() -> Read:
        async with numbers_pool(request) as pool:
            return await read(pool)

    return async_to_sync(with_pool)()


@asynccontextmanager
async def numbers_pool(request: HttpRequest) -> AsyncIterator[Pool]:
    """The process's pool; a temporary one where there is none, as in a test."""
    scope = getattr(request, "scope", {})
    try:
        if "app" in scope:
            yield scope["app"].state.numbers.pool
        else:
            url = make_conninfo(settings.ONLOOKER.database_url, dbname=connection.settings_dict["NAME"])
            async with open_pool(msgspec.structs.replace(settings.ONLOOKER, database_url=url)) as pool:
                yield pool
    except DATABASE_UNAVAILABLE as error:
        raise OperationalError(*error.args) from error
