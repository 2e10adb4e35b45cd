"""The end of a session: its last visits, and closing the visits of sessions that went silent."""

import logging
import time

import msgspec

from onlooker.bus.session_store import SessionBucket, SessionState, decode_state
from onlooker.database import Pool, load_queries
from onlooker.logs import fields
from onlooker.visits import counters
from onlooker.visits.writer import VisitWriter, put_visit_aside
from onlooker_pipeline.visits.fold import close_visits, decode_folded
from onlooker_pipeline.visits.visit import Visit, decode_visit

log = logging.getLogger(__name__)

MARGIN_S = 15.0
"""Beyond the idle limit of a session, so that a worker can still compute its last frame."""
AT_ONCE = 500

_queries = load_queries("onlooker.visits")

UNREADABLE = (msgspec.MsgspecError, TypeError, ValueError, LookupError, OverflowError)
"""What reading bytes that no worker of ours wrote may raise."""


def last_visits(state: SessionState) -> list[Visit]:
    """Visits that were not published yet, then those that end with the session."""
    folded = decode_folded(state.visits)
    return [*map(decode_visit, state.outbox), *(close_visits(folded) if folded else [])]


class SilentSessions:
    """Finds sessions whose open visits are no longer written: the client stopped, or everything around it died."""

    def __init__(
        self, pool: Pool, writer: VisitWriter, sessions: SessionBucket, *, idle_s: float, margin_s: float = MARGIN_S
    ) -> None:
        self._pool = pool
        self._writer = writer
        self._sessions = sessions
        self._silent_s = idle_s + margin_s

    async def close_silent(self) -> int:
        """Close those that have ended and return how many. The state in their bucket is written first."""
        async with self._pool.connection() as connection:
            values = {"silent_s": self._silent_s, "limit": AT_ONCE}
            rows = await (await connection.execute(_queries["silent_sessions"], values)).fetchall()
        return sum([await self._close(row["session"]) for row in rows])

    async def _close(self, session: str) -> bool:
        entry = await self._sessions.get(session)
        state = decode_state(entry.value) if entry and entry.value else None
        if state and state.last_seen > time.time() - self._silent_s:
            return False  # its visits are just not written yet
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
