"""Closing the visits of sessions that went silent: the client just stopped, or everything died around it."""

import logging
import time

from onlooker.bus.session_bucket import SessionBucket
from onlooker.bus.session_state import SessionState, decode_state
from onlooker.database import Pool, load_queries
from onlooker.logs import fields
from onlooker.visits import counters
from onlooker.visits.aside import put_visit_aside
from onlooker.visits.sink import UNREADABLE, last_visits
from onlooker.visits.visit import Visit
from onlooker.visits.writing import VisitWriter

log = logging.getLogger(__name__)

MARGIN_S = 15.0
"""Longer than a session may idle, so that a worker that still computes its last frame is not overtaken."""
AT_ONCE = 500

_queries = load_queries("onlooker.visits")


class Silence:
    """Looks for sessions whose open visits nobody writes any more."""

    def __init__(
        self, pool: Pool, writer: VisitWriter, sessions: SessionBucket, *, idle_s: float, margin_s: float = MARGIN_S
    ) -> None:
        self._pool = pool
        self._writer = writer
        self._sessions = sessions
        self._silent_s = idle_s + margin_s

    async def close_silent(self) -> int:
        """Close those that have ended and say how many; what the state in their bucket tells goes in first."""
        async with self._pool.connection() as connection:
            values = {"silent_s": self._silent_s, "limit": AT_ONCE}
            rows = await (await connection.execute(_queries["silent_sessions"], values)).fetchall()
        return sum([await self._close(row["session"]) for row in rows])

    async def _close(self, session: str) -> bool:
        entry = await self._sessions.get(session)
        state = decode_state(entry.value) if entry and entry.value else None
        if state and state.last_seen > time.time() - self._silent_s:
            return False  # its people are only not written yet
        visits = _read(state, session) if state else None
        for refusal in await self._writer.write(visits or []):
            await put_visit_aside(self._pool, refusal)
        async with self._pool.connection() as connection:
            await connection.execute(_queries["end_visits"], {"session": session})
        counters.closed("state_gone" if visits is None else "silent").inc()
        return True


def _read(state: SessionState, session: str) -> list[Visit] | None:
    try:
        return last_visits(state)
    except UNREADABLE:
        log.warning("a session's state is unreadable: its visits end as they are", extra=fields(session=session))
        return None
