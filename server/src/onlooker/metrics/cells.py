"""Numbers that are broken down or filtered: one statement over the visits of a page, which are judged over the range.

Rows of the roll-up can't answer that, since they don't tell who was there together. So only visits that are kept can be
broken down, and never those of a stream that tells about people in groups, or is on the grid.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum
from functools import lru_cache
from operator import add
from typing import Any

from psycopg import AsyncRawCursor
from psycopg.rows import tuple_row

from onlooker.database import Pool, load_sql_parts
from onlooker.errors import Code, Problem
from onlooker.metrics.breakdown import CellQuery
from onlooker.metrics.buckets import WEEK_S, offsets_around
from onlooker.metrics.definitions import METRICS, figures_of
from onlooker.metrics.dimensions import DIMENSIONS
from onlooker.metrics.query import Query
from onlooker.metrics.statements import (
    NOTE,
    VALUES,
    as_array,
    find_slots_across,
    judge_visits,
    measure_by_ends,
    page_values,
)
from onlooker.slots import SLOT_IN_SQL
from onlooker_pipeline.visits.visit import SHORTEST_LOOK_S, SHORTEST_STOP_S

MOST_VISITS = 300_000
"""Of one page. Judging so many takes some seconds."""
_VALUES = (*VALUES[:-1], "changes_s", "offsets_s", "most_visits")
"""The statement's parameters, in order; the parts that each filter keeps come after them."""
_parts = load_sql_parts("onlooker.metrics", "sql/cells.sql")

Cells = dict[int, dict[int, tuple[int, ...]]]
"""Figures by the number of a bucket and the number of a cell; nobody is in others."""


class CellNote(IntEnum):
    """What a statement says instead of figures, or beside them."""

    GRID = 1
    GROUPS = 2
    DELETED = 3
    TOO_MANY = 4
    INEXACT = 5
    """Visits that reach into the range from before it are deleted."""


@dataclass
class CellRefusal(Problem):
    """Nothing is broken down; pages say why in their own words."""

    note: CellNote = CellNote.TOO_MANY
    since: datetime | None = None
    """From when on it can be asked, by the query's clock; None where no later range helps."""


async def find_cells(
    pool: Pool, query: Query, breakdown: CellQuery, metrics: tuple[str, ...], edges_s: Sequence[float]
) -> tuple[Cells, bool]:
    """The figures of metrics in their declared order, and whether they are exact. Raises a Problem."""
    if not metrics:
        return {}, True
    names = tuple(name for name, _ in breakdown.filters)
    statement = compile_cells(metrics, breakdown.by, names)
    async with pool.connection() as connection:
        cursor = AsyncRawCursor(connection, row_factory=tuple_row)
        await cursor.execute(statement, _values_of(query, breakdown, edges_s), prepare=True)
        rows = await cursor.fetchall()
    cells: Cells = {}
    is_exact = True
    for number, cell, *figures in rows:
        if number != NOTE:
            cells.setdefault(number, {})[cell] = tuple(figures)
        elif cell == CellNote.INEXACT:
            is_exact = False
        else:
            raise _refuse(CellNote(cell), query, until_s=figures[0])
    return cells, is_exact


def add_up(cells: Sequence[tuple[int, ...]], *, count: int) -> tuple[int, ...]:
    """The figures of several cells together; `count` is how many figures there are."""
    total: tuple[int, ...] = (0,) * count
    for figures in cells:
        total = tuple(map(add, total, figures))
    return total


def _refuse(note: CellNote, query: Query, *, until_s: int | None) -> CellRefusal:
    since = datetime.fromtimestamp(until_s, UTC).astimezone(query.zone) if until_s is not None else None
    said = since.isoformat() if since else ""
    details = {
        CellNote.GRID: "This stream is on the grid, which tells of whole quarter hours alone: leave `by` and `filter` "
        "out.",
        CellNote.GROUPS: "This stream tells about people in groups, and a breakdown or a filter would tell of fewer "
        f"people: leave `by` and `filter` out{f', or ask for a later range than {said}' if said else ''}.",
        CellNote.DELETED: f"Visits that began before {said} were deleted after the stream's retention, and only visits "
        "can be broken down or filtered. Ask from then on, or leave `by` and `filter` out.",
        CellNote.TOO_MANY: f"More than {MOST_VISITS} people passed by in this range: too many to break down or filter "
        "at once. Ask for a shorter range.",
    }
    return CellRefusal(Code.BAD_REQUEST, details[note], note=note, since=since)


@lru_cache(maxsize=1024)
def compile_cells(metrics: tuple[str, ...], by: tuple[str, ...], filters: tuple[str, ...]) -> bytes:
    """Rows of a bucket's number, from 1 on, a cell's number, from 0 on, and the figures of each metric."""
    figures = figures_of(metrics)
    asked = [column for name in metrics for column in METRICS[name].figures]
    values = {**SLOT_IN_SQL, **{name: f"${number}" for number, name in enumerate(_VALUES, start=1)}}
    conditions = [
        f"({DIMENSIONS[name].place}) = ANY (${number}::integer[])"
        for number, name in enumerate(filters, start=len(_VALUES) + 1)
    ]
    parts = {**values, "slots_across": find_slots_across(values)}
    parts["visits_from_before"] = _parts["visits_from_before"].substitute(parts)
    limits = {"shortest_stop_s": SHORTEST_STOP_S, "shortest_look_s": SHORTEST_LOOK_S}
    only_interested = _parts["only_interested"].substitute(limits)
    statement = _parts["cells"].substitute(
        parts,
        only_interested=f" {only_interested}" if all(METRICS[name].is_of_interested for name in metrics) else "",
        cell=_number_cell(by),
        figures=", ".join(f"({figures[column]})::bigint" for column in asked),
        no_more_figures="".join(", NULL::bigint" for _ in asked[1:]),
        filters=f"WHERE {' AND '.join(conditions)}" if conditions else "",
        judged_visits=judge_visits(
            _parts["visits_of_page"].substitute(parts), measured=measure_by_ends(values), more=", present_for"
        ),
        note=str(NOTE),
        week_s=str(WEEK_S),
        **{note.name.lower(): str(note.value) for note in CellNote},
    )
    return statement.encode()


def _number_cell(by: tuple[str, ...]) -> str:
    """As `CellQuery.number_of` does."""
    number = "0"
    for dimension in map(DIMENSIONS.__getitem__, by):
        number = f"({number} * {len(dimension.parts)} + {dimension.place})"
    return number


def _values_of(query: Query, breakdown: CellQuery, edges_s: Sequence[float]) -> tuple[Any, ...]:
    changes = offsets_around(query.zone, int(query.from_at.timestamp()), int(query.to_at.timestamp()) + 1)
    return (
        *page_values(query, edges_s),
        as_array(change.at_s for change in changes),
        as_array(change.offset_s for change in changes),
        MOST_VISITS,
        *(as_array(DIMENSIONS[name].parts.index(part) for part in parts) for name, parts in breakdown.filters),
    )
