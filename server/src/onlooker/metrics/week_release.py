"""Releasing weeks: what is told of a grouped stream by gender and age together, once a week's blocks are released."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from onlooker.database import Pool, load_queries
from onlooker.metrics.block_release import read_watermark
from onlooker.metrics.buckets import Week, week_around
from onlooker.metrics.definitions import AGE_BANDS, BLOCK_FIGURES, UNKNOWN, UNKNOWN_FIGURES, WEEK_FIGURES
from onlooker.metrics.statements import ROUNDED, compile_week_insertion, compile_week_people
from onlooker.metrics.week_parts import Traits, WeekParts, choose_parts, join_name
from onlooker.slots import slot_of
from onlooker.visits import counters

_KNOWN = tuple(column for column in BLOCK_FIGURES if column not in UNKNOWN_FIGURES)
_BANDS = (UNKNOWN, *AGE_BANDS)
"""By the number that a statement gives them."""
_block_queries = load_queries("onlooker.metrics", "sql/block_release.sql")
_queries = load_queries("onlooker.metrics", "sql/week_release.sql")
_READ_PEOPLE = compile_week_people()
_INSERT_CELL = compile_week_insertion()

Figures = Counter[str]


@dataclass
class BlockPeople:
    """What the visits of a block tell now, by gender and age."""

    figures: dict[Traits, Figures] = field(default_factory=dict)

    def is_as_released(self, row: Mapping[str, Any]) -> bool:
        """Whether they still add up to what the block told: nobody came late, and nobody was told of differently."""
        now = sum(self.figures.values(), Figures())
        return all(_rounded(column, now[column]) == row[column] for column in _KNOWN)

    def count(self) -> dict[Traits, int]:
        return {traits: figures["told"] for traits, figures in self.figures.items()}


async def release_weeks(pool: Pool, now: datetime | None = None) -> int:
    """Release the weeks that are over, of all streams, and say how many that were. Several processes may do so at once.

    What is released of a week is one transaction, and a stream's weeks are released one after another.
    """
    now = now or datetime.now(UTC)
    released = 0
    async with pool.connection() as connection:
        streams = await (await connection.execute(_block_queries["list_grouped"])).fetchall()
        for stream in streams:
            is_more = True
            while is_more:
                async with connection.transaction():
                    is_told, is_more = await _release_next(connection, stream["id"], now)
                released += is_told
    counters.weeks_released.inc(released)
    return released


async def _release_next(connection: AsyncConnection[DictRow], stream_id: int, now: datetime) -> tuple[bool, bool]:
    """Whether the next week with a block was told, and whether there may be more."""
    whose: dict[str, Any] = {"stream_id": stream_id}
    await connection.execute(_block_queries["lock_progress"], whose)
    stream = await (await connection.execute(_queries["read_week_progress"], whose)).fetchone()
    if stream is None:
        return False, False
    zone, weeks_until = ZoneInfo(stream["time_zone"]), stream["weeks_until"]
    complete_at = await read_watermark(connection, stream_id, stream["compute"], now)
    if stream["first_at"]:
        complete_at = min(complete_at, slot_of(stream["first_at"].astimezone(UTC)))
    over_at = week_around(complete_at, zone)[0]
    range_ = whose | {"from_at": weeks_until, "to_at": over_at}
    block = await (await connection.execute(_queries["find_next_block"], range_)).fetchone()
    if block is None or block["begins_at"] is None:
        await connection.execute(_queries["note_weeks"], whose | {"weeks_until": over_at})
        return False, False
    week = week_around(block["begins_at"].astimezone(UTC), zone)
    is_all_there = not stream["kept_since"] or stream["kept_since"] <= week[0]
    is_told = False
    if is_all_there and (weeks_until is None or weeks_until <= week[0]):
        is_told = await _release_week(connection, stream_id, week, least=stream["groups_of"])
    await connection.execute(_queries["note_weeks"], whose | {"weeks_until": week[1]})
    return is_told, True


async def _release_week(connection: AsyncConnection[DictRow], stream_id: int, week: Week, *, least: int) -> bool:
    """Whether anything is told of it."""
    values = {"stream_id": stream_id, "from_at": week[0], "to_at": week[1]}
    rows = await (await connection.execute(_queries["list_week_blocks"], values)).fetchall()
    people = await _read_people(connection, stream_id, rows)
    blocks = [people[row["begins_at"]] for row in rows if people[row["begins_at"]].is_as_released(row)]
    # Seconds of arithmetic for some weeks: the recorder writes visits meanwhile.
    parts = await asyncio.to_thread(choose_parts, [block.count() for block in blocks], least=least)
    if parts is None:
        return False
    week_row = {"stream_id": stream_id, "begins_at": week[0], "ends_at": week[1]}
    names = {"genders": list(map(join_name, parts.genders)), "ages": list(map(join_name, parts.ages))}
    await connection.execute(_queries["insert_week"], week_row | names)
    for (gender, age), figures in _add_cells(blocks, parts).items():
        cell = {"stream_id": stream_id, "begins_at": week[0], "gender": gender, "age": age}
        await connection.execute(_INSERT_CELL, cell | {column: figures[column] for column in WEEK_FIGURES})
    return True


async def _read_people(
    connection: AsyncConnection[DictRow], stream_id: int, blocks: Sequence[DictRow]
) -> dict[datetime, BlockPeople]:
    """By the beginning of each block, in one statement: visits that are written meanwhile count for all or none."""
    begins_at, ends_at = [row["begins_at"] for row in blocks], [row["ends_at"] for row in blocks]
    values = {"stream_id": stream_id, "from_at": min(begins_at), "to_at": max(ends_at)}
    cursor = await connection.execute(_READ_PEOPLE, values | {"begins_at": begins_at, "ends_at": ends_at})
    found: dict[datetime, BlockPeople] = defaultdict(BlockPeople)
    for row in await cursor.fetchall():
        traits = row["gender"], _BANDS[row["band"]]
        found[row["block_at"]].figures[traits] = Figures({column: row[column] for column in BLOCK_FIGURES})
    return found


def _add_cells(blocks: Sequence[BlockPeople], parts: WeekParts) -> dict[Traits, Figures]:
    cells: dict[Traits, Figures] = defaultdict(Figures)
    for block in blocks:
        for traits, figures in block.figures.items():
            cells[parts.cell_of(traits)].update(figures)
    return cells


def _rounded(column: str, amount: int) -> int:
    """As blocks are: half a unit goes up."""
    unit = 10 ** -ROUNDED.get(column, 0)
    return int((amount + unit // 2) // unit * unit)
