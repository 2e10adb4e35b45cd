"""Connections to PostgreSQL, what counts as the database being away, and queries kept in files."""

import asyncio
import re
from contextlib import suppress
from importlib import resources
from string import Template
from typing import Any
from weakref import WeakSet

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout
from psycopg_pool.base import BasePool

from onlooker import counters
from onlooker.settings import Settings
from onlooker.slots import SLOT_IN_SQL

Pool = AsyncConnectionPool[AsyncConnection[DictRow]]

DATABASE_UNAVAILABLE = (psycopg.OperationalError, psycopg.errors.ReadOnlySqlTransaction, PoolTimeout)
"""What is raised while the database can't be reached, or is no primary. It comes back: wait, or answer 503 with
Retry-After."""
DATABASE_FAILED = (psycopg.Error, PoolTimeout)
"""The database did not do what it was asked, for whatever reason."""
RECONNECT_S = 2.0
"""The pool's own attempts come at longer and longer intervals: after an hour's outage the next may be an hour away."""
VANISHED_SERVER: Any = {
    "connect_timeout": 5,
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 5,
    "keepalives_interval": 5,
}
"""How soon a connection notices that its server is gone. In seconds, except `tcp_user_timeout`, in milliseconds."""


def direct_url(settings: Settings) -> str:
    """Of the database itself: a pooler in transaction mode passes on no LISTEN, no session lock and no setting."""
    return settings.database_direct_url or settings.database_url


def open_pool(settings: Settings, *, size: int | None = None) -> Pool:
    """A pool that is opened by `async with`, hands out autocommit connections and survives restarts of the database.

    It may lead through a pooler: nothing that is done with it may outlive a transaction.
    """
    if not settings.database_direct_url:
        return open_direct_pool(settings, size=size)
    return _open_pool(settings.database_url, {"prepare_threshold": None}, size or settings.database_pool_size)


def open_direct_pool(
    settings: Settings, *, url: str = "", statement_limit_s: float | None = None, size: int | None = None
) -> Pool:
    """The same without a pooler in between, so that plans stay prepared.

    With a limit, the database itself cancels a statement that takes longer: its client may be gone by then.
    """
    # Our statements go by keys, so one plan fits all values; planning a query of metrics takes longer than running it.
    options = "-c jit=off -c plan_cache_mode=force_generic_plan"
    if statement_limit_s:
        options += f" -c statement_timeout={int(statement_limit_s * 1000)}"
    return _open_pool(url or direct_url(settings), {"options": options}, size or settings.database_pool_size)


def _open_pool(url: str, session: dict[str, Any], size: int) -> Pool:
    pool: Pool = AsyncConnectionPool(
        url,
        connection_class=AsyncConnection[DictRow],
        kwargs={"row_factory": dict_row, "autocommit": True} | VANISHED_SERVER | session,
        min_size=1,
        max_size=size,
        timeout=5,
        reconnect_timeout=RECONNECT_S,
        reconnect_failed=_ask_again,
        check=AsyncConnectionPool.check_connection,
        open=False,
    )
    watch_pool(pool)
    return pool


def watch_pool(pool: BasePool) -> None:
    """Report its connections, as long as it is there."""
    _watched.add(pool)


def _sum_over_pools(figure: str) -> int:
    return sum(pool.get_stats().get(figure, 0) for pool in list(_watched))


_watched: WeakSet[BasePool] = WeakSet()
counters.pool_waiting.set_function(lambda: _sum_over_pools("requests_waiting"))
counters.pool_limit.set_function(lambda: _sum_over_pools("pool_max"))
counters.pool_connections.labels("idle").set_function(lambda: _sum_over_pools("pool_available"))
counters.pool_connections.labels("in_use").set_function(
    lambda: _sum_over_pools("pool_size") - _sum_over_pools("pool_available")
)


async def _ask_again(pool: Pool) -> None:
    """A pool that has given up connects when it is asked next; so something asks, until the database is back."""

    async def ask() -> None:
        with suppress(*DATABASE_FAILED, PoolClosed):
            async with pool.connection():
                pass

    asking = asyncio.create_task(ask())
    _asking.add(asking)
    asking.add_done_callback(_asking.discard)


_asking: set[asyncio.Task[None]] = set()


def load_queries(package: str, file: str = "queries.sql") -> dict[str, str]:
    """The queries in a package's file, by name. `$slot` and `$slot_s` are filled in."""
    return {name: part.substitute(SLOT_IN_SQL) for name, part in load_sql_parts(package, file).items()}


def load_sql_parts(package: str, file: str) -> dict[str, Template]:
    """The parts of a package's SQL file, each below a line `-- name: <name>  <description>`.

    A description may go on in comment lines below. It is not sent to the database. A literal `$` is written `$$`.
    """
    text = resources.files(package).joinpath(file).read_text(encoding="utf-8")
    parts = re.split(r"^-- name: *(\w+).*\n(?:--.*\n)*", text, flags=re.MULTILINE)
    return {name: Template(body.strip()) for name, body in zip(parts[1::2], parts[2::2], strict=True)}
