"""The daily roll-up: triggers of the database keep it. Here it is compared with its slots, and added up again."""

from collections.abc import Iterator
from typing import Any

import psycopg

from onlooker.database import load_sql_parts
from onlooker.metrics.definitions import ALL_FIGURES, BLOCK_FIGURES
from onlooker.slots import SLOT_IN_SQL

DAY_FIGURES = tuple(ALL_FIGURES)
"""Columns of a day: those of a slot, over the slots and blocks that begin on it."""

_parts = load_sql_parts("onlooker.metrics", "sql/days.sql")
_NEXT, _FILL = (_parts[name].substitute() for name in ("next_stream", "fill_days"))


def compile_day_check() -> str:
    """The statement that counts the days of a stream that are wrong."""
    of_slots = {"told": "coalesce(told, interested) AS told"}
    return _parts["count_wrong_days"].substitute(
        columns=", ".join(DAY_FIGURES),
        summed=", ".join(f"sum({column}) AS {column}" for column in DAY_FIGURES),
        of_slots=", ".join(of_slots.get(column, column) for column in DAY_FIGURES),
        of_blocks=", ".join(column if column in BLOCK_FIGURES else "0" for column in DAY_FIGURES),
        **SLOT_IN_SQL,
    )


_CHECK = compile_day_check()


def find_wrong_days(connection: psycopg.Connection[Any]) -> Iterator[tuple[int, int]]:
    """Each stream with wrong days, and how many. Each is read in one statement, while others write."""
    for stream_id in _walk_streams(connection):
        row = connection.execute(_CHECK, {"stream_id": stream_id}).fetchone()
        if row and row[0]:
            yield stream_id, row[0]


def fill_days(connection: psycopg.Connection[Any]) -> int:
    """Add up the days of all streams again, one stream a transaction, and say how many streams that were."""
    streams = 0
    for stream_id in _walk_streams(connection):
        connection.execute(_FILL, {"stream_id": stream_id})
        streams += 1
    return streams


def _walk_streams(connection: psycopg.Connection[Any]) -> Iterator[int]:
    """One after another: no list of all streams is kept."""
    after = 0
    while (row := connection.execute(_NEXT, {"after": after}).fetchone()) and row[0] is not None:
        after = row[0]
        yield after
