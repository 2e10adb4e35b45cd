"""The condition of cameras now: what their agents report, and whether their newest frames show anything."""

import enum
import logging
import time
from collections import OrderedDict

from onlooker.database import Pool, load_queries
from onlooker.logs import fields
from onlooker.streams.meter import KEYS_AT_MOST, NOT_NOW, ROWS_PER_STATEMENT

log = logging.getLogger(__name__)

FRESH_S = 120.0
"""A condition that was last confirmed longer ago says nothing about now."""
SIGHT_S = 60.0
"""A camera that sees for a shorter time is not back: faults of a new session settle within 20 seconds."""
CONFIRMED_EVERY_S = 30.0

_queries = load_queries("onlooker.streams")


class AgentState(enum.StrEnum):
    """What an agent has of its camera. A closed list: it is stored."""

    SEEING = "seeing"
    """Pictures come; whether they show anything is judged from the frames."""
    CAMERA_LOST = "camera_lost"
    """It can't be opened, or broke off."""
    SOURCE_SILENT = "source_silent"
    """It is open, and gives no pictures."""


class DropReason(enum.StrEnum):
    """Why an agent did not send a frame, or got no answer. A closed list: it is stored."""

    BUSY = "busy"
    BANDWIDTH_CAP = "bandwidth_cap"
    SERVER_BUSY = "server_busy"
    BAD_CREDENTIALS = "bad_credentials"
    QUOTA_EXCEEDED = "quota_exceeded"
    STREAM_DISABLED = "stream_disabled"
    CLOSED = "closed"
    UNREACHABLE = "unreachable"
    CONNECTION_LOST = "connection_lost"
    TIMED_OUT = "timed_out"
    OVERTAKEN = "overtaken"
    REFUSED = "refused"
    COMPUTATION_FAILED = "computation_failed"
    BROKEN_PICTURE = "broken_picture"
    STOPPED = "stopped"
    OTHER = "other"
    """A reason that only a newer agent knows."""


FaultSince = tuple[str, float]
"""A fault, empty for none, and the Unix time at which the first frame had it."""


class PictureConditions:
    """Writes whether cameras see: at each change, and from time to time that it is still so."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._written: OrderedDict[int, FaultSince] = OrderedDict()
        """What this process wrote last of each stream, and when."""

    async def write(self, newest: dict[int, FaultSince]) -> dict[int, FaultSince]:
        """Returns what can't be written now, for the next time."""
        now = time.time()
        due = {stream_id: found for stream_id, found in newest.items() if self._is_due(stream_id, found[0], now)}
        try:
            while due:
                part = dict(list(due.items())[:ROWS_PER_STATEMENT])
                await self._write_part(part)
                for stream_id, (fault, _) in part.items():
                    del due[stream_id]
                    self._remember(stream_id, (fault, now))
        except NOT_NOW as error:
            log.warning("conditions not written yet", extra=fields(error=repr(error)))
        return due

    def _is_due(self, stream_id: int, fault: str, now: float) -> bool:
        known, at = self._written.get(stream_id, ("", 0.0))
        return fault != known or not at <= now < at + CONFIRMED_EVERY_S

    def _remember(self, stream_id: int, written: FaultSince) -> None:
        self._written[stream_id] = written
        self._written.move_to_end(stream_id)
        if len(self._written) > KEYS_AT_MOST:
            self._written.popitem(last=False)

    async def _write_part(self, part: dict[int, FaultSince]) -> None:
        values = {
            "stream_ids": list(part),
            "faults": [fault for fault, _ in part.values()],
            "since": [since for _, since in part.values()],
            "gap_s": FRESH_S,
            "sight_s": SIGHT_S,
        }
        async with self._pool.connection() as connection:
            await connection.execute(_queries["note_pictures"], values)
