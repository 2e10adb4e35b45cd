"""Running a query, and shaping what is found."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from operator import add

from psycopg import AsyncRawCursor
from psycopg.rows import tuple_row

from onlooker.database import Pool
from onlooker.errors import bad_request
from onlooker.metrics.buckets import count_buckets, page_buckets
from onlooker.metrics.compiling import NOTE, compile_quick_statement, compile_statement, compile_values, is_quick
from onlooker.metrics.definitions import METRICS, Figures, Value, in_declared_order
from onlooker.metrics.query import PAGE_BUCKETS, Query, Time

Found = dict[int, tuple[int, ...]]
"""A row a bucket, by its number, which is the row's first."""


@dataclass(frozen=True)
class Answer:
    """One page of a query's buckets."""

    query: Query
    page: int
    total_results: int
    """Buckets of the whole range."""
    nb_of_pages: int
    entities: dict[str, dict[str, Value]]
    """By the bucket's key, then by metric."""
    exact: bool
    """False where visits would have to be looked at that were deleted after their time."""


async def run_query(pool: Pool, query: Query, page: int = 1, *, size: int = PAGE_BUCKETS) -> Answer:
    """`size` is how many buckets a page has. Raises a Problem for a page that there is not."""
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
    """Metrics that are mere counts, as lists, and whether they are exact: thousands of buckets need no answer each."""
    found = await _find(pool, query, edges)
    exact = found.pop(NOTE, None) is None
    pieces = {name: piece.start for name, _, piece in _pieces_of(query.metrics)}
    nobody = (0,) * (1 + len(pieces))
    rows = [found.get(number, nobody) for number in range(1, len(edges))]
    return {name: [row[place] for row in rows] for name, place in pieces.items()}, exact


async def _find(pool: Pool, query: Query, edges: Sequence[datetime]) -> Found:
    """All in one statement, so of one moment. Where the quick one does not do, the other begins anew."""
    metrics, by_hour = in_declared_order(query.metrics), query.time is Time.BY_HOUR
    values = compile_values(query, edges)
    async with pool.connection() as connection:
        # A raw cursor takes a statement as it is. Others look through one of this length each time.
        cursor = AsyncRawCursor(connection, row_factory=tuple_row)
        if is_quick(query, edges):
            await cursor.execute(compile_quick_statement(metrics, by_hour=by_hour), values, prepare=True)
            found = _add_up(await cursor.fetchall())
            if NOTE not in found:
                return found
        await cursor.execute(compile_statement(metrics, by_hour=by_hour), values, prepare=True)
        return _add_up(await cursor.fetchall())


def _add_up(rows: list[tuple[int, ...]]) -> Found:
    """One row a bucket that has some: of the roll-up, of visits that were looked at, or of both."""
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
    """Which piece of a row each metric is made of; before them all is the bucket's number."""
    pieces, begin = {}, 1
    for name in in_declared_order(metrics):
        end = begin + len(METRICS[name].figures)
        pieces[name], begin = slice(begin, end), end
    return [(name, METRICS[name].shape, pieces[name]) for name in metrics]
