"""Connections to PostgreSQL, and the named queries of a `queries.sql`."""

import re
from importlib import resources

from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

from onlooker.settings import Settings

Pool = AsyncConnectionPool[AsyncConnection[DictRow]]


def open_pool(settings: Settings, *, statement_limit_s: float | None = None) -> Pool:
    """A pool that is opened by `async with`, hands out autocommit connections and outlives restarts.

    With a limit, the database itself ends a statement after its time: whoever asked may be gone by then.
    """
    # Our statements go by keys, so one plan does for all values; planning a query of metrics takes longer than it does.
    options = "-c jit=off -c plan_cache_mode=force_generic_plan"
    if statement_limit_s:
        options += f" -c statement_timeout={int(statement_limit_s * 1000)}"
    return AsyncConnectionPool(
        settings.database_url,
        connection_class=AsyncConnection[DictRow],
        kwargs={"row_factory": dict_row, "autocommit": True, "options": options},
        min_size=1,
        max_size=settings.database_pool_size,
        timeout=5,
        reconnect_timeout=float("inf"),
        check=AsyncConnectionPool.check_connection,
        open=False,
    )


def load_queries(package: str) -> dict[str, str]:
    """The queries of `queries.sql` in a package, by the name in their `-- name:` line."""
    text = resources.files(package).joinpath("queries.sql").read_text(encoding="utf-8")
    parts = re.split(r"^-- name: *(\w+)[^\n]*\n", text, flags=re.MULTILINE)
    return {name: body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}
