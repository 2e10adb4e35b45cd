"""Writing visits: a batch in one transaction, or one by one if the database refuses the batch.

What can't be written is put aside with the reason, so that it delays nothing and somebody can look into it.
"""

import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec
import psycopg

from onlooker.database import Pool, load_queries
from onlooker.streams.video_time import month_of
from onlooker.visits import counters
from onlooker.visits.partitions import OutOfRange, Partitions
from onlooker.visits.visit_columns import columns_of
from onlooker_pipeline.visits.visit import Visit, encode_visit

REFUSED = (
    psycopg.DataError,
    psycopg.IntegrityError,
    psycopg.errors.ProgramLimitExceeded,
    psycopg.errors.DuplicateTable,  # somebody detached that month and kept its table
    OutOfRange,
    OverflowError,
)
"""The visit is at fault. Any other error of the database is raised, and the same visits are written later."""

UNDECODABLE = "undecodable"
DETAIL_LENGTH = 500

_queries = load_queries("onlooker.visits")


@dataclass(frozen=True)
class VisitRefusal:
    """Why a visit can't be written."""

    visit: Visit
    reason: str
    """`out_of_range`, or `refused` by the database."""
    detail: str


class VisitWriter:
    """Writes visits. A stored visit with the same or a higher revision stays as it is."""

    def __init__(self, pool: Pool, partitions: Partitions) -> None:
        self._pool = pool
        self._partitions = partitions

    async def write(self, visits: Iterable[Visit], *, shown: bool = False) -> list[VisitRefusal]:
        """Write all that can be written and return the others. An error of the database itself is raised.

        `shown`: more is known than the last revision said, under the same number; the next revision replaces it.
        """
        newest = newest_of(visits)
        if not newest:
            return []
        started = time.perf_counter()
        try:
            await self._write_batch(newest, shown=shown)
        except REFUSED:
            self._partitions.forget()
            tried = [await self._try_one(visit, shown=shown) for visit in newest]
            return [refusal for refusal in tried if refusal]
        finally:
            counters.batch_time.observe(time.perf_counter() - started)
        return []

    async def _try_one(self, visit: Visit, *, shown: bool) -> VisitRefusal | None:
        try:
            await self._write_batch([visit], shown=shown)
        except REFUSED as error:
            reason = "refused" if isinstance(error, psycopg.Error) else "out_of_range"
            counters.refused(reason).inc()
            return VisitRefusal(visit, reason, str(error))
        return None

    async def _write_batch(self, visits: list[Visit], *, shown: bool) -> None:
        columns = columns_of(visits)
        await self._partitions.require({month_of(visit.began_ms / 1000) for visit in visits}, time.time())
        async with self._pool.connection() as connection:
            values = {**columns, "shown": shown}
            done = await (await connection.execute(_queries["write_visits"], values)).fetchone()
        assert done
        counters.visits("written").inc(done["written"])
        counters.visits("known").inc(done["known"] - done["written"])
        counters.visits("expired").inc(done["living"] - done["known"])
        counters.visits("stream_gone").inc(len(visits) - done["living"])


def newest_of(visits: Iterable[Visit]) -> list[Visit]:
    """The highest revision of each visit."""
    newest: dict[tuple[int, int, bytes], Visit] = {}
    for visit in visits:
        key = (visit.stream_id, visit.began_ms, visit.id)
        if key not in newest or visit.revision > newest[key].revision:
            newest[key] = visit
    return list(newest.values())


async def put_visit_aside(pool: Pool, refusal: VisitRefusal) -> None:
    """Without the client's id of the session."""
    visit = msgspec.structs.replace(refusal.visit, session="")
    values = {"visit_id": uuid.UUID(bytes=visit.id), "payload": encode_visit(visit), "detail": refusal.detail}
    await _put_aside(pool, refusal.reason, stream_id=_possible(visit.stream_id), **values)


async def put_bytes_aside(pool: Pool, subject: str, payload: bytes) -> None:
    """A message that is neither a visit nor a session's state; its subject names the stream."""
    number = subject.rpartition(".")[2]
    stream_id = _possible(int(number)) if number.isascii() and number.isdecimal() else None
    await _put_aside(pool, UNDECODABLE, stream_id=stream_id, visit_id=None, payload=payload, detail=subject)


async def _put_aside(pool: Pool, reason: str, **values: object) -> None:
    detail = str(values.pop("detail")).replace("\0", "")[:DETAIL_LENGTH]
    async with pool.connection() as connection:
        cursor = await connection.execute(_queries["put_aside"], {"reason": reason, "detail": detail, **values})
    if cursor.rowcount:
        counters.put_aside(reason).inc()
    else:
        counters.visits("stream_gone").inc()


def _possible(stream_id: int) -> int | None:
    """None for a number that the database can't hold."""
    return stream_id if 0 < stream_id < 2**63 else None
