"""A synchronous job comes after the accepted jobs that its session had before it."""

import asyncio
import time
from collections import OrderedDict

from onlooker.database import Pool, load_queries
from onlooker.errors import overloaded

SESSIONS_REMEMBERED = 10_000
LOOK_EVERY_S = 0.05

_queries = load_queries("onlooker.gateway")


class SessionOrder:
    """Remembers which sessions had jobs accepted here, so that no other session costs a query."""

    def __init__(self, pool: Pool, *, wait_limit_s: float) -> None:
        self._pool = pool
        self._wait_limit_s = wait_limit_s
        self._sessions: OrderedDict[str, None] = OrderedDict()

    def note_accepted(self, session: str) -> None:
        self._sessions[session] = None
        self._sessions.move_to_end(session)
        if len(self._sessions) > SESSIONS_REMEMBERED:
            self._sessions.popitem(last=False)

    async def await_accepted(self, session: str | None) -> None:
        """Until the session's accepted jobs have ended."""
        if session is None or session not in self._sessions:
            return
        give_up_at = time.monotonic() + self._wait_limit_s
        while await self._has_waiting(session):
            if time.monotonic() > give_up_at:
                raise overloaded("Async jobs of this session wait to be computed first. Send this one later.")
            await asyncio.sleep(LOOK_EVERY_S)
        self._sessions.pop(session, None)

    async def _has_waiting(self, session: str) -> bool:
        async with self._pool.connection() as connection:
            cursor = await connection.execute(_queries["waiting_in_session"], {"session": session})
            return await cursor.fetchone() is not None
