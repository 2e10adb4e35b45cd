"""Putting aside what can't be written, with the reason, so that it holds up nobody and somebody can look at it."""

import uuid

from onlooker.database import Pool, load_queries
from onlooker.visits import counters
from onlooker.visits.visit import encode_visit
from onlooker.visits.writing import Refusal

UNDECODABLE = "undecodable"
DETAIL_LENGTH = 500

_queries = load_queries("onlooker.visits")


async def put_visit_aside(pool: Pool, refusal: Refusal) -> None:
    visit = refusal.visit
    values = {"visit_id": uuid.UUID(bytes=visit.id), "payload": encode_visit(visit), "detail": refusal.detail}
    await _put_aside(pool, refusal.reason, stream_id=_possible(visit.stream_id), **values)


async def put_bytes_aside(pool: Pool, subject: str, payload: bytes) -> None:
    """What is no visit, or no session's state; its subject names the stream."""
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
    """A number that the database can hold."""
    return stream_id if 0 < stream_id < 2**63 else None
