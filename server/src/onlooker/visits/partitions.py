"""The monthly partitions of the table of visits: created ahead or on demand, dropped when no stream keeps them."""

import logging
from collections.abc import Iterable
from datetime import date, timedelta

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from onlooker.database import Pool, load_queries
from onlooker.logs import fields
from onlooker.streams.video_time import month_after, month_of, month_start
from onlooker.visits import counters

log = logging.getLogger(__name__)

AHEAD_MONTHS = 2
FURTHEST_MONTHS = 1
"""How far ahead a visit may create its month. A worker refuses timestamps five minutes ahead."""
LOCK_LIMIT = "2s"
"""A transaction that waits for a lock blocks all that come after it: give up and try again instead."""
PREFIX = "visits_visit_"

_queries = load_queries("onlooker.visits")


class OutOfRange(Exception):
    """A visit lies in a month that no stream keeps, or too far in the future."""


def partition_of(month: date) -> str:
    return f"{PREFIX}y{month:%Ym%m}"


def month_in(partition: str) -> date:
    year, _, month = partition.removeprefix(f"{PREFIX}y").partition("m")
    return date(int(year), int(month), 1)


class Partitions:
    """Knows which months have a partition, and creates those that a batch needs."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._known: set[date] = set()

    def forget(self) -> None:
        """Another process may have dropped some."""
        self._known.clear()

    async def make_ahead(self, now: float) -> None:
        """The partitions of this month and the next ones."""
        await self._make([month_after(month_of(now), count) for count in range(AHEAD_MONTHS + 1)])

    async def require(self, months: set[date], now: float) -> None:
        """Create those that are missing. Raises OutOfRange for one that no stream keeps."""
        missing = months - self._known
        if not missing:
            return
        async with self._pool.connection() as connection:
            self._known |= await _existing(connection)
            missing -= self._known
            oldest = month_after(month_of(now - await _longest_retention_s(connection)), -1)
        newest = month_after(month_of(now), FURTHEST_MONTHS)
        for month in sorted(missing):
            if not oldest <= month <= newest:
                raise OutOfRange(f"{month:%Y-%m} is not between {oldest:%Y-%m} and {newest:%Y-%m}.")
        await self._make(missing)

    async def _make(self, months: Iterable[date]) -> None:
        async with self._pool.connection() as connection, connection.transaction():
            await _lock(connection)
            existing = await _existing(connection)
            for month in sorted(set(months) - existing):
                await connection.execute(_queries["make_partition"], {"month": month})
                log.info("partition created", extra=fields(partition=partition_of(month)))
        self._known |= existing | set(months)

    async def drop_expired(self, now: float) -> None:
        """Drop the months that lie wholly beyond every stream's retention and whose roll-up is filled."""
        async with self._pool.connection() as connection:
            limit = month_of(now - await _longest_retention_s(connection))
            for month in sorted(await _existing(connection)):
                if month < limit and not await _has_marks(connection, month):
                    async with connection.transaction():
                        await _lock(connection)
                        await connection.execute(
                            _queries["forget_month"], {"limit_at": month_start(month_after(month))}
                        )
                        await connection.execute(_queries["drop_partition"], {"month": month})
                    self._known.discard(month)
                    counters.removed("partition").inc()
                    log.info("partition dropped", extra=fields(partition=partition_of(month)))


async def _lock(connection: AsyncConnection[DictRow]) -> None:
    await connection.execute(_queries["lock_partitions"])
    await connection.execute(f"SET LOCAL lock_timeout = '{LOCK_LIMIT}'")


async def _existing(connection: AsyncConnection[DictRow]) -> set[date]:
    rows = await (await connection.execute(_queries["list_partitions"])).fetchall()
    return {month_in(row["name"]) for row in rows}


async def _longest_retention_s(connection: AsyncConnection[DictRow]) -> float:
    row = await (await connection.execute(_queries["longest_retention"])).fetchone()
    assert row
    return timedelta(days=row["days"]).total_seconds()


async def _has_marks(connection: AsyncConnection[DictRow], month: date) -> bool:
    """Whether slots of a month, or before it, still have to be filled."""
    row = await (
        await connection.execute(_queries["has_marks"], {"limit_at": month_start(month_after(month))})
    ).fetchone()
    assert row
    return bool(row["found"])
