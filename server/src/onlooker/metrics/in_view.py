"""Who is in view of a stream's cameras now, and how many of them look."""

from dataclasses import dataclass

from onlooker.database import Pool, load_queries
from onlooker.visits.folding import PUBLISHED_EVERY_MS

WITHIN_S = PUBLISHED_EVERY_MS / 1000 + 2.5
"""Somebody who is seen is written that often, and a recorder takes a moment; who was not is no longer seen."""

_queries = load_queries("onlooker.metrics")


@dataclass(frozen=True)
class InView:
    """People whom some session of the stream sees now."""

    people: int
    looking: int


async def read_in_view(pool: Pool, stream_id: int) -> InView:
    values = {"stream_id": stream_id, "within_s": WITHIN_S}
    async with pool.connection() as connection:
        row = await (await connection.execute(_queries["read_in_view"], values, prepare=True)).fetchone()
    assert row
    return InView(row["people"], row["looking"])
