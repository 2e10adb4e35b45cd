"""Readings of numbers in the audit log: at most a few entries an hour for each token, however much is read."""

import asyncio
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from onlooker.audit.chain import moment_text
from onlooker.database import Pool, load_queries

HOUR = timedelta(hours=1)
COARSEST = 24
"""The unit of the last doubling, as a power of two of hours: 1,900 years."""
EARLIEST, LATEST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
READ = "numbers.read"

_queries = load_queries("onlooker.audit")


@dataclass(frozen=True)
class ReadingKind:
    """Who reads in which way."""

    stream_id: int
    actor: str
    password: int | None
    """The number of the Password that the token was issued for; None where a key was shown."""
    kind: str
    """`page`, `table` or `comparison`."""


@dataclass
class LoggedRange:
    """What this hour's entries say was read, so far."""

    from_at: datetime = LATEST
    to_at: datetime = EARLIEST
    entries: int = 0
    free: asyncio.Lock = field(default_factory=asyncio.Lock)

    def covers(self, from_at: datetime, to_at: datetime) -> bool:
        return self.from_at <= from_at and to_at <= self.to_at

    def widened(self, from_at: datetime, to_at: datetime) -> tuple[datetime, datetime]:
        """With a range that it does not cover. Each further entry of an hour is rounded twice as coarsely as the last:
        so a few of them cover anything.
        """
        unit = HOUR * 2 ** min(self.entries, COARSEST)
        return _floor(min(self.from_at, from_at), unit), _ceiling(max(self.to_at, to_at), unit)


class ReadingLog:
    """Logs a reading before it is answered, unless an entry of the same hour covers it."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._hour: datetime | None = None
        self._logged: dict[ReadingKind, LoggedRange] = {}

    async def note(self, kind: ReadingKind, from_at: datetime, to_at: datetime, *, now: datetime) -> None:
        """Raises what the database raises: what can't be logged is not answered."""
        hour = _floor(now, HOUR)
        if hour != self._hour:
            self._hour, self._logged = hour, {}
        logged = self._logged.setdefault(kind, LoggedRange())
        if logged.covers(from_at, to_at):
            return
        async with logged.free:
            if not logged.covers(from_at, to_at):
                wide_from, wide_to = logged.widened(from_at, to_at)
                await self._write(kind, wide_from, wide_to)
                logged.from_at, logged.to_at, logged.entries = wide_from, wide_to, logged.entries + 1

    async def _write(self, kind: ReadingKind, from_at: datetime, to_at: datetime) -> None:
        with_what = {} if kind.password is None else {"password": kind.password}
        about = {"kind": kind.kind, **with_what, "from": moment_text(from_at), "to": moment_text(to_at)}
        values = {"stream_id": kind.stream_id, "actor": kind.actor, "action": READ, "detail": json.dumps(about)}
        async with self._pool.connection() as connection:
            await connection.execute(_queries["note_reading"], values)


def _floor(at: datetime, unit: timedelta) -> datetime:
    """The last multiple of the unit, counted from the year 1."""
    return at - (at.astimezone(UTC) - EARLIEST) % unit


def _ceiling(at: datetime, unit: timedelta) -> datetime:
    """The next one; the end of time where that is later."""
    rest = (at.astimezone(UTC) - EARLIEST) % unit
    if not rest:
        return at
    return LATEST if LATEST - at.astimezone(UTC) < unit - rest else at + (unit - rest)
