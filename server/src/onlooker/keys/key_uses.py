"""Notes when keys were last used: some seconds later, and to a minute, so that a request costs no writing."""

import asyncio
import logging

from onlooker.database import DATABASE_FAILED, Pool, load_queries
from onlooker.logs import fields

log = logging.getLogger(__name__)

WRITE_EVERY_S = 10.0

_queries = load_queries("onlooker.keys")


class KeyUses:
    """Holds each key once, so no more than there are. Without a database they are written when it is back."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._used: set[int] = set()

    def note(self, key_id: int) -> None:
        self._used.add(key_id)

    async def run(self) -> None:
        while True:
            await asyncio.sleep(WRITE_EVERY_S)
            await self.flush()

    async def flush(self) -> None:
        used, self._used = self._used, set()
        if not used:
            return
        try:
            async with self._pool.connection() as connection:
                await connection.execute(_queries["note_uses"], {"key_ids": sorted(used)})
        except DATABASE_FAILED as error:
            self._used |= used
            log.warning("uses of keys can't be noted", extra=fields(error=type(error).__name__))
