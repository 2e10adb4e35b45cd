"""From a query and the edges of its buckets to one SQL statement, put together from the parts in `sql/`.

Visits that begin in one slot are counted with one row of the roll-up if the slot lies inside a bucket and all of its
visits lie inside the range. For other slots, and for marked ones, the visits themselves are read and judged over the
range. One statement sees one state of the database, so nothing is counted twice or missed between the two. What is told
about people in groups is added from blocks: neither rows nor visits of grouped slots tell it.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from math import ceil, floor
from typing import Any

from psycopg.types.numeric import Int8

from onlooker.database import load_sql_parts
from onlooker.metrics.definitions import (
    AGE_BANDS,
    AGE_KNOWN_ABOVE,
    ALL_FIGURES,
    BLOCK_FIGURES,
    EMOTIONS,
    GENDER_KNOWN_ABOVE,
    METRICS,
    SHORTEST_PRESENCE_S,
    UNKNOWN,
    UNKNOWN_FIGURES,
    WEEK_FIGURES,
    figures_of,
)
from onlooker.metrics.query import Query
from onlooker.slots import SLOT_IN_SQL, SLOT_S
from onlooker_pipeline.visits.visit import SHORTEST_LOOK_S, SHORTEST_STOP_S

NOTE = 0
"""Stands in place of a bucket's number: the answer would need visits that are deleted, or that a quick statement does
not read."""

VALUES = ("stream_id", "from_at", "to_at", "window_from", "window_to", "buckets", "edges_s", "cut_slots_s")
"""The statement's parameters, in order. Only the full statement has the last one."""

SLOT_MINUTES = SLOT_S // 60
ROUNDED = {"still_us": -6, "looking_us": -6, "balance": -7}
"""Digits of what is kept longer than visits."""

_parts = {
    name: part
    for file in ("judged_visits", "page", "rollup", "blocks", "weeks")
    for name, part in load_sql_parts("onlooker.metrics", f"sql/{file}.sql").items()
}
READ_TOLD_WEEKS = _parts["read_told_weeks"].substitute()
LIST_LAST_WEEKS = _parts["list_last_weeks"].substitute()
Clip = Callable[[str], str]
"""What counts of the intervals in a column of visits, as SQL."""
_VALUES_IN_SQL = SLOT_IN_SQL | {name: f"${number}" for number, name in enumerate(VALUES, start=1)}
_SUMS = {"told": "sum(coalesce(told, interested))"}
"""Where a slot's figure is not simply added up: rows of the release before told of all people."""


@lru_cache(maxsize=1024)
def compile_statement(metrics: tuple[str, ...], *, short: bool, with_blocks: bool = True) -> bytes:
    """Rows of a bucket's number, from 1 on, followed by the figures of each metric in their order.

    A bucket may have no row, one, or several to be added up. Without blocks it has what is told one by one. `short`
    buckets have few slots.
    """
    except_raw = _parts["except_raw"].substitute()
    names = _name_parts(metrics, short=short, with_blocks=with_blocks)
    return _compile(metrics, [*names, "judged", "inexact"], first=("page", "needed_slots"), except_raw=except_raw)


@lru_cache(maxsize=1024)
def compile_quick_statement(metrics: tuple[str, ...], *, short: bool) -> bytes:
    """The same from the roll-up alone: half the work, but no answer if visits have to be read."""
    return _compile(metrics, [*_name_parts(metrics, short=short), "unanswered"])


@lru_cache(maxsize=1024)
def compile_grid_statement(metrics: tuple[str, ...], *, short: bool, with_blocks: bool = True) -> bytes:
    """The same from the roll-up alone, as it is: for ranges on the grid, whose visits are never read."""
    return _compile(metrics, _name_parts(metrics, short=short, with_blocks=with_blocks))


def _name_parts(metrics: tuple[str, ...], *, short: bool, with_blocks: bool = True) -> list[str]:
    """The parts that add up slots, and blocks where anything about people is asked for."""
    rolled_up = "hours" if short else "days"
    if not any(column in BLOCK_FIGURES for name in metrics for column in METRICS[name].figures):
        return [rolled_up]
    return [rolled_up, f"{rolled_up}_in_groups", *([f"blocks_of_{rolled_up}"] if with_blocks else [])]


def _compile(
    metrics: tuple[str, ...], names: list[str], *, first: tuple[str, ...] = ("page",), except_raw: str = ""
) -> bytes:
    figures = figures_of(metrics)
    asked = [column for name in metrics for column in METRICS[name].figures]
    about = {column for column in asked if column in BLOCK_FIGURES}
    counts = dict.fromkeys(("interested", *(column for column in figures if column not in about)))
    is_grouped = _parts["is_grouped"].substitute(_VALUES_IN_SQL)
    parts = {
        **_needed_parts(),
        "is_grouped": is_grouped,
        "if_singly": f"WHERE NOT {is_grouped}" if about else "",
        "and_singly": f"AND NOT {is_grouped}" if about else "",
        "counts": ", ".join(f"sum({column})::bigint AS {column}" for column in counts),
        "asked_of_counts": ", ".join(map(_figure_of_group, asked)),
        "asked": ", ".join(asked),
        "whole": ", ".join(f"{_sum(column)}::bigint AS {column}" for column in figures),
        "summed": ", ".join(f"{_sum(column)}::bigint" for column in asked),
        "asked_in_blocks": ", ".join(column if column in about else "0::bigint" for column in asked),
        "blocks": ", ".join(f"sum({column})::bigint AS {column}" for column in figures if column in about),
        "each_block": ", ".join(column if column in about else "0" for column in asked),
        "judged": ", ".join(f"({figures[column]})::bigint" for column in asked),
        "judged_visits": judge_visits(
            _parts["raw_visits"].substitute(_VALUES_IN_SQL), clip=clip_to_range(_VALUES_IN_SQL)
        ),
        "except_raw": except_raw,
        "note": str(NOTE),
        "no_figures": ", ".join("NULL" for _ in asked),
    }
    union = " UNION ALL ".join(_parts[name].substitute(parts) for name in names)
    begin = "".join(_parts[name].substitute(parts) for name in first)
    return f"{begin} {union}".encode()


def _needed_parts() -> dict[str, str]:
    """Of the slots whose visits have to be read."""
    parts = {**_VALUES_IN_SQL, "slots_across": find_slots_across(_VALUES_IN_SQL)}
    return parts | {name: _parts[name].substitute(parts) for name in ("across_ends", "marked")}


def find_slots_across(values: Mapping[str, str]) -> str:
    """The slots that begin before one of some `ends` and have visits beyond it, with a name for each value."""
    return _parts["slots_across"].substitute(values)


def _figure_of_group(column: str) -> str:
    """Of a grouped slot, from its counts: all people are unknown."""
    if column in BLOCK_FIGURES:
        return "interested" if column in UNKNOWN_FIGURES else "0::bigint"
    return column


def _sum(column: str) -> str:
    """Of a slot's figure over slots."""
    return _SUMS.get(column, f"sum({column})")


def compile_filling() -> str:
    """The statement that fills slots of the roll-up with all figures."""
    return _parts["fill_slots"].substitute(
        columns=", ".join(ALL_FIGURES),
        figures=", ".join(f"{made} AS {column}" for column, made in ALL_FIGURES.items()),
        judged_visits=judge_visits(_parts["visits_of_slots"].substitute(_VALUES_IN_SQL)),
        updates=", ".join(f"{column} = excluded.{column}" for column in ALL_FIGURES),
    )


def compile_block_slots() -> str:
    """The statement that reads what each slot of a range tells about people, whether or not it is grouped."""
    return _parts["read_block_slots"].substitute(
        figures=", ".join(f"{ALL_FIGURES[column]} AS {column}" for column in BLOCK_FIGURES),
        judged_visits=judge_visits(_parts["visits_of_range"].substitute(_VALUES_IN_SQL)),
        **SLOT_IN_SQL,
    )


def compile_block_insertion() -> str:
    """The statement that keeps a block: sums are rounded like those of slots whose visits are gone."""
    known = [column for column in BLOCK_FIGURES if column not in UNKNOWN_FIGURES]
    return _parts["insert_block"].substitute(
        columns=", ".join((*known, *UNKNOWN_FIGURES)),
        figures=", ".join(
            (
                *(f"round(%({column})s::bigint, {ROUNDED.get(column, 0)})" for column in known),
                *(f"-({' + '.join(f'%({part})s::integer' for part in parts)})" for parts in UNKNOWN_FIGURES.values()),
            )
        ),
    )


def compile_week_people() -> str:
    """The statement that reads what the visits of some blocks tell now."""
    return _parts["read_week_people"].substitute(
        figures=", ".join(f"{ALL_FIGURES[column]} AS {column}" for column in BLOCK_FIGURES),
        judged_visits=judge_visits(_parts["visits_of_range"].substitute(_VALUES_IN_SQL)),
    )


def compile_week_insertion() -> str:
    """The statement that keeps a cell of a week, rounded like a block."""
    return _parts["insert_week_cell"].substitute(
        columns=", ".join(WEEK_FIGURES),
        figures=", ".join(f"round(%({column})s::bigint, {ROUNDED.get(column, 0)})" for column in WEEK_FIGURES),
    )


def compile_week_reading() -> str:
    """The statement that reads the cells of the weeks of a range."""
    return _parts["read_weeks"].substitute(columns=", ".join(WEEK_FIGURES))


@lru_cache(maxsize=1024)
def compile_block_reading(metrics: tuple[str, ...]) -> str:
    """The statement that reads the blocks of a range one by one, with the figures of each metric in their order."""
    asked = [column for name in metrics for column in METRICS[name].figures]
    return _parts["read_blocks"].substitute(figures=", ".join(one if one in BLOCK_FIGURES else "0" for one in asked))


@lru_cache(maxsize=1)
def definitions_version() -> str:
    """A fingerprint of how visits are judged and counted: numbers with the same one count alike."""
    judged = judge_visits(_parts["visits_of_slots"].substitute(_VALUES_IN_SQL))
    declared = [(one.name, *one.figures.items(), one.scale) for one in METRICS.values()]
    return hashlib.sha256(repr((judged, declared)).encode()).hexdigest()[:16]


def clip_to_range(values: Mapping[str, str]) -> Clip:
    """Only what lies inside the range, with a name for each value."""
    return lambda intervals: _parts["clip_to_range"].substitute(values, intervals=intervals)


def measure_by_ends(values: Mapping[str, str]) -> str:
    """What `judge_visits` measures of a range, for many visits at once."""
    clip = clip_to_range(values)

    def measure(aggregate: str, intervals: str) -> str:
        parts = {"intervals": intervals, "clipped": clip(intervals), "aggregate": aggregate}
        return _parts["length_by_ends"].substitute(values, **parts)

    return _parts["measured_by_ends"].substitute(
        present=clip("present"),
        sum_of_present=measure("sum", "present"),
        sum_of_still=measure("sum", "still"),
        max_of_still=measure("max", "still"),
        sum_of_looking=measure("sum", "looking"),
    )


def judge_visits(visits: str, *, clip: Clip = "visit.{}".format, measured: str = "", more: str = "") -> str:
    """A query for judged visits.

    The arguments are SQL: a query for visits, what counts of them or how that is measured, and more columns.
    """
    clipped = {intervals: clip(intervals) for intervals in ("present", "still", "looking")}
    return _parts["judged_visits"].substitute(
        visits=visits,
        measured=measured or _parts["measured"].substitute(clipped),
        more=more,
        shortest_presence_s=SHORTEST_PRESENCE_S,
        shortest_stop_s=SHORTEST_STOP_S,
        shortest_look_s=SHORTEST_LOOK_S,
        gender_known_above=GENDER_KNOWN_ABOVE,
        age_known_above=AGE_KNOWN_ABOVE,
        unknown=UNKNOWN,
        first_ages=list(AGE_BANDS.values()),
        strongest_emotion=_name_of_largest(EMOTIONS),
    )


def _name_of_largest(columns: tuple[str, ...]) -> str:
    """The name of the largest of some columns, the first of equals; unknown if they are NULL."""
    cases = []
    for index, column in enumerate(columns[:-1]):
        cases.append(f"WHEN {column} >= greatest({', '.join(columns[index + 1 :])}) THEN '{column}'")
    return f"CASE WHEN {columns[0]} IS NULL THEN '{UNKNOWN}' {' '.join(cases)} ELSE '{columns[-1]}' END"


def is_quick(query: Query, edges_s: Sequence[float]) -> bool:
    """Whether the roll-up alone is likely to do: a page from the middle of a range, with no edge inside a slot."""
    inside = query.from_at.timestamp() < edges_s[0] and edges_s[-1] < query.to_at.timestamp()
    return inside and not any(edge_s % SLOT_S for edge_s in edges_s)


def page_values(query: Query, edges_s: Sequence[float]) -> tuple[Any, ...]:
    """In the order of VALUES, all but the last one; the last of the edges is the end of the last bucket."""
    begin_at, end_at = (datetime.fromtimestamp(edges_s[place], UTC) for place in (0, -1))
    return (
        Int8(query.stream_id),
        query.from_at,
        query.to_at,
        max(query.from_at, begin_at),
        min(query.to_at, end_at),
        len(edges_s) - 1,
        as_array(_whole_seconds(edges_s)),
    )


def find_cut_slots(query: Query, edges_s: Sequence[float]) -> str:
    """The last one: the slots inside which an edge lies that is no end of the range."""
    first, last = edges_s[0] <= query.from_at.timestamp(), edges_s[-1] >= query.to_at.timestamp()
    inside_s = _whole_seconds(edges_s)[first : len(edges_s) - last]
    return as_array([edge_s - edge_s % SLOT_S for edge_s in inside_s if edge_s % SLOT_S])


def _whole_seconds(edges_s: Sequence[float]) -> list[int]:
    return [*map(floor, edges_s[:-1]), ceil(edges_s[-1])]


def as_array(numbers: Iterable[float]) -> str:
    """As PostgreSQL reads it; its driver takes ten times as long for a list."""
    return f"{{{','.join(map(str, numbers))}}}"
