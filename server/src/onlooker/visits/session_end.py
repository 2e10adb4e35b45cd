"""The end of a session: its last visits, and what becomes of the visits of sessions that went silent."""

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import msgspec

from onlooker.bus.session_store import NAME_LENGTH, SessionBucket, SessionState, decode_state
from onlooker.database import Pool, load_queries
from onlooker.logs import fields
from onlooker.visits import counters
from onlooker.visits.writer import VisitWriter, put_visit_aside
from onlooker_pipeline.visits.fold import close_visits, decode_folded, show_visits
from onlooker_pipeline.visits.visit import Visit, decode_visit

log = logging.getLogger(__name__)

MARGIN_S = 15.0
"""Beyond the idle limit of a session, so that a worker can still compute its last frame."""
QUIET_S = 40.0
"""After this long without a frame, what a session's state adds to its visits is written; the session may go on."""
AT_ONCE = 500

_queries = load_queries("onlooker.visits")

UNREADABLE = (msgspec.MsgspecError, TypeError, ValueError, LookupError, OverflowError)
"""What reading bytes that no worker of ours wrote may raise."""


def last_visits(state: SessionState) -> list[Visit]:
    """Visits that were not published yet, then those that end with the session."""
    folded = decode_folded(state.visits)
    return [*map(decode_visit, state.outbox), *(close_visits(folded) if folded else [])]


def shown_visits(state: SessionState) -> list[Visit]:
    """The published visits as they stand now, and those that were not published yet."""
    folded = decode_folded(state.visits)
    return [*(show_visits(folded) if folded else []), *map(decode_visit, state.outbox)]


class SilentSessions:
    """Finds sessions whose open visits are no longer written: the client stopped, or everything around it died."""

    def __init__(
        self,
        pool: Pool,
        writer: VisitWriter,
        sessions: SessionBucket,
        *,
        idle_s: float,
        margin_s: float = MARGIN_S,
        quiet_s: float = QUIET_S,
    ) -> None:
        self._pool = pool
        self._writer = writer
        self._sessions = sessions
        self._silent_s = idle_s + margin_s
        self._quiet_s = quiet_s
        self._shown: dict[str, datetime] = {}
        """When the visits of quiet sessions were last written, by session, so that each is shown once."""

    async def show_quiet(self) -> int:
        """Write what the states of quiet sessions add to their open visits, and return of how many sessions."""
        oldest = datetime.now(UTC) - timedelta(seconds=self._silent_s)
        self._shown = {session: written_at for session, written_at in self._shown.items() if written_at > oldest}
        values = {
            "quiet_s": self._quiet_s,
            "silent_s": self._silent_s,
            "sessions": list(self._shown),
            "written": list(self._shown.values()),
            "limit": AT_ONCE,
        }
        async with self._pool.connection() as connection:
            rows = await (await connection.execute(_queries["quiet_sessions"], values)).fetchall()
        return sum([await self._show(row["session"], row["written_at"]) for row in rows])

    async def _show(self, session: str, written_at: datetime) -> bool:
        state = await self._read_state(session)
        if state and state.last_seen > time.time() - self._quiet_s:
            return False
        visits = _read(state, session, read=shown_visits) if state else None
        # What can't be written is put aside when the session is closed.
        await self._writer.write(visits or [], shown=True)
        self._shown[session] = written_at
        return bool(visits)

    async def close_silent(self) -> int:
        """Close those that have ended and return how many. The state in their bucket is written first."""
        async with self._pool.connection() as connection:
            values = {"silent_s": self._silent_s, "limit": AT_ONCE}
            rows = await (await connection.execute(_queries["silent_sessions"], values)).fetchall()
        return sum([await self._close(row["session"]) for row in rows])

    async def _close(self, session: str) -> bool:
        state = await self._read_state(session)
        if state and state.last_seen > time.time() - self._silent_s:
            return False  # its visits are just not written yet
        visits = _read(state, session, read=last_visits) if state else None
        for refusal in await self._writer.write(visits or []):
            await put_visit_aside(self._pool, refusal)
        async with self._pool.connection() as connection:
            await connection.execute(_queries["end_visits"], {"session": session})
        counters.closed("state_gone" if visits is None else "silent").inc()
        return True

    async def _read_state(self, session: str) -> SessionState | None:
        """Visits name their session as the bus does; those that the release before wrote have its key."""
        is_name = len(session) == NAME_LENGTH and session.isalnum()
        entry = await (self._sessions.get_named(session) if is_name else self._sessions.get(session))
        return decode_state(entry.value) if entry and entry.value else None


def _read(state: SessionState, session: str, *, read: Callable[[SessionState], list[Visit]]) -> list[Visit] | None:
    try:
        return read(state)
    except UNREADABLE:
        log.warning("a session's state is unreadable: its visits end as they are", extra=fields(session=session))
        return None
