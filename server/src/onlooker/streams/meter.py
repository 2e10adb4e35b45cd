"""Counting in memory and writing from time to time, so that a frame costs no query."""

import logging
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Hashable
from itertools import islice
from typing import Generic, TypeVar

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import DictRow

from onlooker.database import DATABASE_UNAVAILABLE, Pool
from onlooker.logs import fields

log = logging.getLogger(__name__)

KEYS_AT_MOST = 100_000
"""Bounds the memory used while the database is away. New keys beyond it are not counted."""
ROWS_REMEMBERED = 20_000
"""Rows that a meter wrote last; others count as new, which only means that they are written sooner."""
ROWS_PER_STATEMENT = 5_000
NOT_NOW = (*DATABASE_UNAVAILABLE, psycopg.IntegrityError)
"""The database is away, or a stream was removed while its rows were written: the next attempt will work."""

Key = TypeVar("Key")


class Meter(ABC, Generic[Key]):
    """Adds up amounts by key until `flush`. What can't be written then is kept for the next time."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._unwritten: dict[Key, float] = {}
        self._is_full = False
        self._rows: OrderedDict[Hashable, None] = OrderedDict()
        """Of this process, oldest first."""

    def _count(self, key: Key, amount: float) -> None:
        known = self._unwritten.get(key)
        if known is not None:
            self._unwritten[key] = known + amount
        elif len(self._unwritten) < KEYS_AT_MOST:
            self._unwritten[key] = amount
        elif not self._is_full:
            self._is_full = True
            log.error("too much to write: some is not counted", extra=fields(meter=type(self).__name__))

    @abstractmethod
    async def _write(self, connection: AsyncConnection[DictRow], batch: dict[Key, float]) -> None:
        """Write all of a batch, or nothing of it."""

    def _row_of(self, key: Key) -> Hashable:
        """The row that a key is added to."""
        return key

    def _is_urgent(self, key: Key) -> bool:
        """Whether it must not wait: nothing is known of its row yet."""
        return self._row_of(key) not in self._rows

    async def flush(self) -> None:
        """Write all."""
        batch, self._unwritten = self._unwritten, {}
        await self._flush(batch)

    async def flush_urgent(self) -> None:
        """Write what must not wait."""
        batch = {key: amount for key, amount in self._unwritten.items() if self._is_urgent(key)}
        for key in batch:
            del self._unwritten[key]
        await self._flush(batch)

    async def _flush(self, batch: dict[Key, float]) -> None:
        self._is_full = False
        if not batch:
            return
        try:
            async with self._pool.connection() as connection:
                while batch:
                    part = dict(islice(batch.items(), ROWS_PER_STATEMENT))
                    await self._write(connection, part)
                    for key in part:
                        del batch[key]
                        self._remember(self._row_of(key))
        except NOT_NOW as error:
            log.warning("not written yet", extra=fields(meter=type(self).__name__, error=repr(error)))
        finally:  # also if the process is stopped in the middle: it flushes once more
            for key, amount in batch.items():
                self._count(key, amount)

    def _remember(self, row: Hashable) -> None:
        self._rows[row] = None
        self._rows.move_to_end(row)
        if len(self._rows) > ROWS_REMEMBERED:
            self._rows.popitem(last=False)
