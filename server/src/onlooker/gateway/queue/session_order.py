"""A synchronous job comes after the accepted jobs that its session had before it."""

import asyncio
import time
from hashlib import blake2b

from onlooker.database import Pool, load_queries
from onlooker.errors import overloaded
from onlooker.streams.rate_limit import MemoryTable, Table

SESSIONS_REMEMBERED = 10_000
LOOK_EVERY_S = 0.05

_queries = load_queries("onlooker.gateway")


class SessionOrder:
    """Remembers which sessions had jobs accepted lately, so that no other session costs a query.

    With a table that gateways share, it also knows what the others accepted.
    """

    def __init__(self, pool: Pool, *, wait_limit_s: float, table: Table | None = None) -> None:
        self._pool = pool
        self._wait_limit_s = wait_limit_s
        self._accepted_at = table or MemoryTable(SESSIONS_REMEMBERED)

    def note_accepted(self, session: str) -> None:
        now = time.time()
        self._accepted_at.update(session_number(session), lambda _: now)

    async def await_accepted(self, session: str | None) -> None:
        """Until the session's accepted jobs have ended."""
        if session is None:
            return
        number = session_number(session)
        accepted_at = self._accepted_at.get(number)
        if not accepted_at:
            return
        give_up_at = time.monotonic() + self._wait_limit_s
        while await self._has_waiting(session):
            if time.monotonic() > give_up_at:
                raise overloaded("Async jobs of this session wait to be computed first. Send this one later.")
            await asyncio.sleep(LOOK_EVERY_S)
        self._accepted_at.update(number, lambda latest: 0.0 if latest == accepted_at else latest)

    async def _has_waiting(self, session: str) -> bool:
        async with self._pool.connection() as connection:
            cursor = await connection.execute(_queries["waiting_in_session"], {"session": session})
            return await cursor.fetchone() is not None


def session_number(session: str) -> int:
    """A session in tables that hold numbers only."""
    return int.from_bytes(blake2b(session.encode(), digest_size=8).digest(), "big")
