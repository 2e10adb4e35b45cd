"""Running a query and shaping its answer; counting who is in view now."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from operator import add

from psycopg import AsyncRawCursor
from psycopg.rows import tuple_row

from onlooker.database import Pool, load_queries
from onlooker.errors import bad_request
from onlooker.metrics.buckets import count_buckets, page_buckets
from onlooker.metrics.definitions import METRICS, Figures, Value, in_declared_order
from onlooker.metrics.query import PAGE_BUCKETS, Query, Time
from onlooker.metrics.statements import NOTE, compile_quick_statement, compile_statement, compile_values, is_quick
from onlooker_pipeline.visits.fold import PUBLISHED_EVERY_MS

IN_VIEW_S = PUBLISHED_EVERY_MS / 1000 + 2.5
"""An open visit is written at least this often, allowing for the recorder; an older one is out of view."""

_queries = load_queries("onlooker.metrics", "sql/in_view.sql")

Found = dict[int, tuple[int, ...]]
"""One row per bucket, by the bucket's number, which is the row's first value."""


@dataclass(frozen=True)
class Answer:
    """One page of a query's buckets."""

    query: Query
    page: int
    total_results: int
    """Buckets of the whole range."""
    nb_of_pages: int
    entities: dict[str, dict[str, Value]]
    """By bucket key, then by metric."""
    exact: bool
    """False if an exact answer would need visits that are past their retention and deleted."""


async def run_query(pool: Pool, query: Query, page: int = 1, *, size: int = PAGE_BUCKETS) -> Answer:
    """`size` is how many buckets a page has. Raises a Problem for a page that does not exist."""
    total = count_buckets(query)
    pages = -(-total // size)
    if not 1 <= page <= pages:
        raise bad_request(f"There is no page {page}. `page` goes from 1 to {pages} for this range.")
    first = (page - 1) * size
    buckets = page_buckets(query, first=first, count=min(size, total - first))
    found = await _find(pool, query, buckets.edges)
    exact = found.pop(NOTE, None) is None
    return Answer(query, page, total, pages, _entities(query.metrics, buckets.keys, found), exact)


async def count_between(pool: Pool, query: Query, edges: Sequence[datetime]) -> tuple[dict[str, list[int]], bool]:
    """Metrics that are plain counts, as lists, and whether they are exact. For thousands of buckets at once."""
    found = await _find(pool, query, edges)
    exact = found.pop(NOTE, None) is None
    pieces = {name: piece.start for name, _, piece in _pieces_of(query.metrics)}
    nobody = (0,) * (1 + len(pieces))
    rows = [found.get(number, nobody) for number in range(1, len(edges))]
    return {name: [row[place] for row in rows] for name, place in pieces.items()}, exact


async def _find(pool: Pool, query: Query, edges: Sequence[datetime]) -> Found:
    """In one statement, so of one moment. If the quick statement has no answer, the full one starts over."""
    metrics, by_hour = in_declared_order(query.metrics), query.time is Time.BY_HOUR
    values = compile_values(query, edges)
    async with pool.connection() as connection:
        # A raw cursor takes a statement as it is. Other cursors parse a statement of this length each time.
        cursor = AsyncRawCursor(connection, row_factory=tuple_row)
        if is_quick(query, edges):
            await cursor.execute(compile_quick_statement(metrics, by_hour=by_hour), values, prepare=True)
            found = _add_up(await cursor.fetchall())
            if NOTE not in found:
                return found
        await cursor.execute(compile_statement(metrics, by_hour=by_hour), values, prepare=True)
        return _add_up(await cursor.fetchall())


def _add_up(rows: list[tuple[int, ...]]) -> Found:
    """One row per bucket with any people: from the roll-up, from visits that were read, or from both."""
    found: Found = {}
    for row in rows:
        number = row[0]
        found[number] = (number, *map(add, found[number][1:], row[1:])) if number in found else row
    return found


def _entities(metrics: tuple[str, ...], keys: tuple[str, ...], found: Found) -> dict[str, dict[str, Value]]:
    pieces = _pieces_of(metrics)
    nobody = {name: shape((0,) * (piece.stop - piece.start)) for name, shape, piece in pieces}
    rows = (found.get(number) for number in range(1, len(keys) + 1))
    return {
        key: {name: shape(row[piece]) for name, shape, piece in pieces} if row else nobody
        for key, row in zip(keys, rows, strict=True)
    }


@lru_cache(maxsize=1024)
def _pieces_of(metrics: tuple[str, ...]) -> list[tuple[str, Callable[[Figures], Value], slice]]:
    """The slice of a row that each metric is computed from. A row starts with the bucket's number."""
    pieces, begin = {}, 1
    for name in in_declared_order(metrics):
        end = begin + len(METRICS[name].figures)
        pieces[name], begin = slice(begin, end), end
    return [(name, METRICS[name].shape, pieces[name]) for name in metrics]


@dataclass(frozen=True)
class InView:
    """People whom any session of the stream sees now."""

    people: int
    looking: int


async def read_in_view(pool: Pool, stream_id: int) -> InView:
    values = {"stream_id": stream_id, "within_s": IN_VIEW_S}
    async with pool.connection() as connection:
        row = await (await connection.execute(_queries["read_in_view"], values, prepare=True)).fetchone()
    assert row
    return InView(row["people"], row["looking"])
