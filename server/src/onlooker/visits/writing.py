"""Writing visits: a batch in one transaction, or one by one where the database refuses a batch."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import msgspec
import psycopg

from onlooker.database import Pool, load_queries
from onlooker.streams.video_time import month_of
from onlooker.visits import counters
from onlooker.visits.partitions import OutOfRange, Partitions
from onlooker.visits.visit import Interval, Visit

REFUSED = (
    psycopg.DataError,
    psycopg.IntegrityError,
    psycopg.errors.ProgramLimitExceeded,
    psycopg.errors.DuplicateTable,  # somebody detached that month and kept its table
    OutOfRange,
    OverflowError,
)
"""It is the visit's fault. Any other error of the database passes, and the same visits are written later."""

CACHED_MINUTES = 4096

_EPOCH = datetime(1970, 1, 1)
_EXPRESSIONS = ("neutral", "happiness", "surprise", "anger", "sadness")
_queries = load_queries("onlooker.visits")


@dataclass(frozen=True)
class Refusal:
    """Why a visit can't be written."""

    visit: Visit
    reason: str
    """`out_of_range`, or `refused` by the database."""
    detail: str


class VisitWriter:
    """Writes visits; one that is there with the same or a higher revision stays as it is."""

    def __init__(self, pool: Pool, partitions: Partitions) -> None:
        self._pool = pool
        self._partitions = partitions

    async def write(self, visits: Iterable[Visit]) -> list[Refusal]:
        """Write all that can be written and say which can't; an error of the database itself is raised."""
        newest = newest_of(visits)
        if not newest:
            return []
        started = time.perf_counter()
        try:
            await self._write_batch(newest)
        except REFUSED:
            self._partitions.forget()
            tried = [await self._try_one(visit) for visit in newest]
            return [refusal for refusal in tried if refusal]
        finally:
            counters.batch_time.observe(time.perf_counter() - started)
        return []

    async def _try_one(self, visit: Visit) -> Refusal | None:
        try:
            await self._write_batch([visit])
        except REFUSED as error:
            reason = "refused" if isinstance(error, psycopg.Error) else "out_of_range"
            counters.refused(reason).inc()
            return Refusal(visit, reason, str(error))
        return None

    async def _write_batch(self, visits: list[Visit]) -> None:
        rows = msgspec.json.encode([row_of(visit) for visit in visits]).decode()
        await self._partitions.require({month_of(visit.began_ms / 1000) for visit in visits}, time.time())
        async with self._pool.connection() as connection:
            done = await (await connection.execute(_queries["write_visits"], {"visits": rows})).fetchone()
        assert done
        counters.visits("written").inc(done["written"])
        counters.visits("known").inc(done["known"] - done["written"])
        counters.visits("expired").inc(done["living"] - done["known"])
        counters.visits("stream_gone").inc(len(visits) - done["living"])


def newest_of(visits: Iterable[Visit]) -> list[Visit]:
    """Of each visit its highest revision."""
    newest: dict[tuple[int, int, bytes], Visit] = {}
    for visit in visits:
        key = (visit.stream_id, visit.began_ms, visit.id)
        if key not in newest or visit.revision > newest[key].revision:
            newest[key] = visit
    return list(newest.values())


def row_of(visit: Visit) -> dict[str, Any]:
    """The columns of a visit, as JSON can say them; raises OverflowError for times that are none."""
    return {
        "stream_id": visit.stream_id,
        "began_at": _moment(visit.began_ms),
        "id": visit.id.hex(),
        "revision": visit.revision,
        "ended": visit.ended,
        "session": visit.session,
        "present": _moments(visit.present),
        "still": _moments(visit.still),
        "looking": _moments(visit.looking),
        "age": visit.age,
        "age_confidence": visit.age_confidence,
        "gender": visit.gender,
        "gender_confidence": visit.gender_confidence,
        **dict(zip(_EXPRESSIONS, visit.expression or (None,) * 5, strict=True)),
        "confidence": visit.confidence,
    }


def _moments(intervals: list[Interval]) -> str:
    """As PostgreSQL reads a multirange."""
    return "{" + ",".join(f"[{_moment(start)},{_moment(end)})" for start, end in intervals) + "}"


def _moment(at_ms: int) -> str:
    """As PostgreSQL reads it; a visit has a dozen of them, and `isoformat` takes three times as long."""
    minute, rest_ms = divmod(at_ms, 60_000)
    return f"{_minute_text(minute)}:{rest_ms / 1000:06.3f}Z"


@lru_cache(maxsize=CACHED_MINUTES)
def _minute_text(minute: int) -> str:
    return (_EPOCH + timedelta(minutes=minute)).isoformat(timespec="minutes")
