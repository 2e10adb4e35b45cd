"""Counting who is in view now."""

from dataclasses import dataclass

from onlooker.database import Pool, load_queries
from onlooker_pipeline.visits.fold import PUBLISHED_EVERY_MS

IN_VIEW_S = PUBLISHED_EVERY_MS / 1000 + 2.5
"""An open visit is written at least this often, allowing for the recorder; an older one is out of view."""

_queries = load_queries("onlooker.metrics", "sql/in_view.sql")


@dataclass(frozen=True)
class InView:
    """People whom any session of the stream sees now."""

    people: int
    looking: int | None
    """None where the stream tells about people in groups: added up, it is how long one person looks."""


async def read_in_view(pool: Pool, stream_id: int) -> InView:
    values = {"stream_id": stream_id, "within_s": IN_VIEW_S}
    async with pool.connection() as connection:
        row = await (await connection.execute(_queries["read_in_view"], values, prepare=True)).fetchone()
    assert row
    return InView(row["people"], row["looking"])
