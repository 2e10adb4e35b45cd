"""Session states: cached in this worker, written through to the bus with compare-and-set."""

import asyncio
import itertools
import time
from collections import OrderedDict
from dataclasses import dataclass, field

from onlooker.bus.buckets import WrongRevision
from onlooker.bus.connection import BusError
from onlooker.bus.session_store import SessionBucket, SessionState, decode_state, encode_state
from onlooker.compute import counters

REMEMBERED_JOBS = 16
SESSIONS_AT_MOST = 10_000
_memories = itertools.count(1)


class StateNotKept(Exception):
    """The bus did not store the state or its visits: the call must be repeated."""


class StateConflict(Exception):
    """Another worker wrote the state since it was read here: read and compute again."""


@dataclass
class Session:
    """One session as this worker holds it; the lock serialises its calls in order of arrival."""

    key: str
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    state: SessionState | None = None
    revision: int = 0
    memory: int = field(default_factory=lambda: next(_memories))
    """Which memory of the computing process is this session's; with a new number, it remembers nothing."""

    def forget(self) -> None:
        self.state = None
        self.memory = next(_memories)


class Sessions:
    """The sessions of one worker."""

    def __init__(self, bucket: SessionBucket, *, idle_s: float) -> None:
        self._bucket = bucket
        self._idle_s = idle_s
        self._held: OrderedDict[str, Session] = OrderedDict()

    def hold(self, key: str) -> Session:
        """The session with this key; its state may not have been read yet."""
        session = self._held.get(key)
        if session is None:
            if len(self._held) >= SESSIONS_AT_MOST:
                self._drop(next(iter(self._held)))
            session = self._held[key] = Session(key)
        else:
            self._held.move_to_end(key)
        return session

    def sweep(self) -> None:
        """Drop ended sessions; the bus still has the states."""
        limit = time.time() - self._idle_s
        for key, session in list(self._held.items()):
            if session.state is None or session.state.last_seen < limit:
                self._drop(key)

    def _drop(self, key: str) -> None:
        if not self._held[key].lock.locked():
            del self._held[key]
            self._bucket.forget(key)

    async def read(self, session: Session) -> SessionState:
        """The current state; a new one if the session is new, or has ended (then `session.state` was its last)."""
        if session.state is None:
            counters.session_loads("unknown").inc()
            try:
                entry = await self._bucket.get(session.key)
            except BusError as error:
                raise StateNotKept from error
            session.revision = entry.revision if entry else 0
            session.state = self._decode(entry.value) if entry and entry.value else None
        if session.state is None or time.time() - session.state.last_seen > self._idle_s:
            session.memory = next(_memories)
            return SessionState(last_seen=time.time())
        return session.state

    def _decode(self, value: bytes) -> SessionState | None:
        state = decode_state(value)
        if state is None:
            counters.session_loads("unreadable").inc()
        return state

    async def write(self, session: Session, state: SessionState) -> None:
        """Write `state`, if nobody else has written since it was read."""
        try:
            session.revision = await self._bucket.replace(session.key, encode_state(state), revision=session.revision)
        except WrongRevision:
            session.forget()
            counters.session_loads("conflict").inc()
            raise StateConflict from None
        except BusError as error:
            session.forget()
            raise StateNotKept from error
        session.state = state
