"""Tells a gateway of devices and keys that were revoked, so that they end at once and not with a cache."""

import asyncio
import logging
from typing import Any

from onlooker.database import DATABASE_FAILED, Pool, load_queries
from onlooker.logs import fields
from onlooker.streams.credentials import Credentials

log = logging.getLogger(__name__)

CHECK_EVERY_S = 1.0
WINDOW_S = 60.0
"""Longer than a transaction takes from the moment that it writes down to its commit."""

_queries = load_queries("onlooker.devices")


class RevocationWatch:
    """Looks every second. Without a database it looks again when that is back."""

    def __init__(self, pool: Pool, credentials: Credentials) -> None:
        self._pool = pool
        self._credentials = credentials
        self._known: set[tuple[str, int]] = set()
        self._has_failed = False

    async def run(self) -> None:
        while True:
            try:
                await self.check()
                self._has_failed = False
            except DATABASE_FAILED as error:
                if not self._has_failed:
                    log.warning("revoked devices and keys can't be read", extra=fields(error=type(error).__name__))
                self._known, self._has_failed = set(), True
            await asyncio.sleep(CHECK_EVERY_S)

    async def check(self) -> None:
        async with self._pool.connection() as connection:
            cursor = await connection.execute(_queries["list_revoked"], {"window_s": WINDOW_S})
            rows = await cursor.fetchall()
        for row in rows:
            if (row["kind"], row["id"]) not in self._known:
                self._forget(row)
        self._known = {(row["kind"], row["id"]) for row in rows}

    def _forget(self, row: dict[str, Any]) -> None:
        if row["kind"] == "device":
            self._credentials.forget(row["client_id"])
            log.info("device revoked", extra=fields(device=row["id"]))
        else:
            self._credentials.forget_key(row["id"])
            log.info("key revoked", extra=fields(key=row["id"]))
