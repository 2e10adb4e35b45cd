"""Running a query and shaping its answer."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import add
from typing import Any

from psycopg import AsyncRawCursor
from psycopg.rows import tuple_row

from onlooker.database import Pool
from onlooker.errors import bad_request
from onlooker.metrics.breakdown import CellQuery
from onlooker.metrics.buckets import Buckets, count_buckets, page_buckets
from onlooker.metrics.cell_coverage import CellCoverage, read_cell_coverage
from onlooker.metrics.cells import CellNote, CellRefusal, add_up, find_cells
from onlooker.metrics.definitions import METRICS, Figures, Unit, Value, in_declared_order, pieces_of, shape_of
from onlooker.metrics.extension_values import (
    SHAPES,
    ExtensionValue,
    figures_needed,
    read_extensions,
    shape_extensions,
)
from onlooker.metrics.query import PAGE_BUCKETS, Query
from onlooker.metrics.statements import (
    NOTE,
    compile_block_reading,
    compile_grid_statement,
    compile_quick_statement,
    compile_statement,
    find_cut_slots,
    is_quick,
    page_values,
)
from onlooker.metrics.week_cells import find_week_cells

PAGE_CELLS = 2400
"""Of a page, at most; a bucket may have more."""
CELLS, BY = "cells", "by"
"""The members of a bucket and of a cell that no metric has for a name."""

CellRow = tuple[tuple[str, ...], tuple[int, ...], dict[str, Any]]
"""The parts of a cell, its figures, and what was watched of its hours."""
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
    entities: dict[str, dict[str, Any]]
    """By bucket key, then by metric: a `Value`, or an `ExtensionValue`."""
    exact: bool
    """False if an exact answer would need visits that are past their retention and deleted, and on the grid."""


async def run_query(pool: Pool, query: Query, page: int = 1, *, size: int = PAGE_BUCKETS) -> Answer:
    """`size` is how many buckets a page has. Raises a Problem for a page that does not exist."""
    total = count_buckets(query)
    size = min(size, max(1, PAGE_CELLS // query.breakdown.count)) if query.breakdown else size
    pages = -(-total // size)
    if not 1 <= page <= pages:
        raise bad_request(f"There is no page {page}. `page` goes from 1 to {pages} for this range.")
    first = (page - 1) * size
    buckets = page_buckets(query, first=first, count=min(size, total - first))
    if query.breakdown:
        entities, exact = await _break_down(pool, query, query.breakdown, buckets)
        return Answer(query, page, total, pages, entities, exact)
    asked = tuple(name for name in query.metrics if name in METRICS)
    is_extended = len(asked) < len(query.metrics)
    counted = tuple(dict.fromkeys((*asked, *figures_needed(query.metrics)))) if is_extended else asked
    counting = replace(query, metrics=counted) if is_extended else query
    finding = _find(pool, counting, buckets.edges_s)
    if is_extended:
        found, values = await asyncio.gather(finding, read_extensions(pool, query, buckets))
    else:
        found, values = await finding, {}
    exact = _pop_note(found, query)
    entities = _entities(counted, buckets.keys, found)
    if is_extended:
        entities = _merge(query.metrics, entities, shape_extensions(values, list(entities.values())))
    return Answer(query, page, total, pages, entities, exact)


async def _break_down(
    pool: Pool, query: Query, breakdown: CellQuery, buckets: Buckets
) -> tuple[dict[str, dict[str, Any]], bool]:
    """Buckets as usual, of all visits that the filters keep; with their cells, if any dimension is asked for."""
    metrics = in_declared_order(tuple(name for name in query.metrics if name in METRICS))
    cells = list(breakdown.cells) if breakdown.by else []
    covered = await read_cell_coverage(pool, query, breakdown, cells, buckets)
    try:
        found, exact = await find_cells(pool, query, breakdown, metrics, buckets.edges_s)
    except CellRefusal as refusal:
        if refusal.note is not CellNote.GROUPS:
            raise
        told = await find_week_cells(pool, query, breakdown, metrics, buckets, later=refusal.since)
        rows = [
            [(cell, figures, one.bucket) for cell, figures in here] for here, one in zip(told, covered, strict=True)
        ]
        return _shape_cells(query, metrics, buckets, rows, covered), True
    nobody = _nobody(metrics)
    rows = [
        [
            (cell, found.get(number, {}).get(breakdown.number_of(cell), nobody), of_cell)
            for cell, of_cell in zip(cells, coverage.cells, strict=True)
        ]
        if breakdown.by
        else [((), figures, {}) for figures in found.get(number, {}).values()]
        for number, coverage in enumerate(covered, start=1)
    ]
    return _shape_cells(query, metrics, buckets, rows, covered), exact and not query.grid


def _shape_cells(
    query: Query, metrics: tuple[str, ...], buckets: Buckets, rows: list[list[CellRow]], covered: list[CellCoverage]
) -> dict[str, dict[str, Any]]:
    """A bucket is the sum of its cells."""
    shape = shape_of(metrics)
    by = query.breakdown.by if query.breakdown else ()

    def shape_all(figures: tuple[int, ...], coverage: dict[str, Any]) -> dict[str, Any]:
        values: dict[str, Any] = shape((0, *figures))
        values |= {name: SHAPES[name](one) for name, one in coverage.items()}
        return {name: values[name] for name in query.metrics}

    entities = {}
    for key, here, coverage in zip(buckets.keys, rows, covered, strict=True):
        total = add_up([figures for _, figures, _ in here], count=len(_nobody(metrics)))
        entities[key] = shape_all(total, coverage.bucket)
        if by:
            entities[key][CELLS] = [
                {BY: dict(zip(by, cell, strict=True))} | shape_all(figures, of_cell) for cell, figures, of_cell in here
            ]
    return entities


def _nobody(metrics: tuple[str, ...]) -> tuple[int, ...]:
    return (0,) * sum(len(METRICS[name].figures) for name in metrics)


async def count_between(pool: Pool, query: Query, edges_s: Sequence[float]) -> tuple[dict[str, list[int]], bool]:
    """Metrics that are plain counts, as lists, and whether they are exact. For thousands of buckets at once."""
    found = await _find(pool, query, edges_s)
    exact = _pop_note(found, query)
    pieces = {name: piece.start for name, piece in pieces_of(query.metrics)}
    nobody = (0,) * (1 + len(pieces))
    rows = [found.get(number, nobody) for number in range(1, len(edges_s))]
    return {name: [row[place] for row in rows] for name, place in pieces.items()}, exact


async def figures_between(
    pool: Pool, query: Query, edges_s: Sequence[float], *, with_blocks: bool = False
) -> tuple[dict[str, list[Figures]], bool]:
    """The figures that each metric is computed from, bucket by bucket, and whether they are exact."""
    found = await _find(pool, query, edges_s, with_blocks=with_blocks)
    exact = _pop_note(found, query)
    pieces = dict(pieces_of(query.metrics))
    nobody = (0,) * (1 + sum(piece.stop - piece.start for piece in pieces.values()))
    rows = [found.get(number, nobody) for number in range(1, len(edges_s))]
    return {name: [row[piece] for row in rows] for name, piece in pieces.items()}, exact


@dataclass(frozen=True)
class BlockFigures:
    """What a block tells, by metric; of counts it tells nothing."""

    from_s: int
    to_s: int
    figures: dict[str, Figures]


async def blocks_between(pool: Pool, query: Query) -> list[BlockFigures]:
    """The blocks of a query's range one by one, in order."""
    metrics = in_declared_order(tuple(name for name in query.metrics if METRICS[name].unit is not Unit.PEOPLE))
    if not metrics:
        return []
    values = {"stream_id": query.stream_id, "from_at": query.from_at, "to_at": query.to_at}
    async with pool.connection() as connection:
        cursor = connection.cursor(row_factory=tuple_row)
        await cursor.execute(compile_block_reading(metrics), values, prepare=True)
        rows = await cursor.fetchall()
    pieces = pieces_of(metrics)
    return [BlockFigures(row[0], row[1], {name: row[1:][piece] for name, piece in pieces}) for row in rows]


async def _find(pool: Pool, query: Query, edges_s: Sequence[float], *, with_blocks: bool = True) -> Found:
    """In one statement, so of one moment. If the quick statement has no answer, the full one starts over."""
    if not query.metrics:
        return {}
    metrics, short = in_declared_order(query.metrics), query.time.is_short
    values = page_values(query, edges_s)
    async with pool.connection() as connection:
        # A raw cursor takes a statement as it is. Other cursors parse a statement of this length each time.
        cursor = AsyncRawCursor(connection, row_factory=tuple_row)
        if query.grid:
            statement = compile_grid_statement(metrics, short=short, with_blocks=with_blocks)
            await cursor.execute(statement, values, prepare=True)
            return _add_up(await cursor.fetchall())
        if with_blocks and is_quick(query, edges_s):
            await cursor.execute(compile_quick_statement(metrics, short=short), values, prepare=True)
            found = _add_up(await cursor.fetchall())
            if NOTE not in found:
                return found
        statement = compile_statement(metrics, short=short, with_blocks=with_blocks)
        await cursor.execute(statement, (*values, find_cut_slots(query, edges_s)), prepare=True)
        return _add_up(await cursor.fetchall())


def _pop_note(found: Found, query: Query) -> bool:
    """Whether the answer is exact."""
    return found.pop(NOTE, None) is None and not query.grid


def _add_up(rows: list[tuple[int, ...]]) -> Found:
    """One row per bucket with any people: from the roll-up, from visits that were read, and from blocks."""
    found: Found = {}
    for row in rows:
        number = row[0]
        found[number] = (number, *map(add, found[number][1:], row[1:])) if number in found else row
    return found


def _entities(metrics: tuple[str, ...], keys: tuple[str, ...], found: Found) -> dict[str, dict[str, Value]]:
    shape = shape_of(metrics)
    nobody = shape((0, *_nobody(metrics)))
    rows = (found.get(number) for number in range(1, len(keys) + 1))
    return {key: shape(row) if row else nobody for key, row in zip(keys, rows, strict=True)}


def _merge(
    metrics: tuple[str, ...], entities: dict[str, dict[str, Value]], extensions: dict[str, list[ExtensionValue]]
) -> dict[str, dict[str, Any]]:
    """Figures of visits and extension metrics together, in the order asked."""
    return {
        key: {name: values[name] if name in values else extensions[name][place] for name in metrics}
        for place, (key, values) in enumerate(entities.items())
    }
