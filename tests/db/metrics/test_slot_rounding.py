"""A slot is rounded in the moment in which its visits count as gone, and not before."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest

from onlooker.database import Pool
from onlooker.metrics.definitions import ALL_FIGURES
from onlooker.metrics.execution import run_query
from onlooker.metrics.query import Query
from onlooker.metrics.rollup import fill_slots
from onlooker.slots import SLOT, slot_of
from onlooker.visits.partitions import Partitions
from onlooker.visits.retention import delete_expired_visits, remove_expired
from onlooker.visits.writer import VisitWriter
from onlooker_pipeline.visits.visit import Visit
from recorder_process import create_stream, visit, with_pool

pytest_plugins = ["migrated"]

MIGRATION = import_module("onlooker.metrics.migrations.0002_after_retention")
TWO_DAYS_AGO = slot_of(datetime.now(UTC) - timedelta(days=2))
SUMS = "still_us, looking_us, balance"
EXACT = (5_499_000, 2_500_000, 656_250_000)
ROUNDED = (5_000_000, 3_000_000, 660_000_000)


def execute(url: str, query: str, *values: object) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(query, values)
        return cursor.fetchall() if cursor.description else []


def left_at(slot_at: datetime) -> datetime:
    return slot_at + timedelta(minutes=16, seconds=0.001)


def seen(stream_id: int, slot_at: datetime = TWO_DAYS_AGO) -> Visit:
    """An interested person who leaves just after the next slot begins."""
    start, end = (round(at.timestamp() * 1000) for at in (slot_at + timedelta(minutes=5), left_at(slot_at)))
    return visit(
        stream_id,
        began_ms=start,
        present=[(start, end)],
        still=[(start, start + 5499)],
        looking=[(start, start + 2500)],
        expression=(0.125, 0.53125, 0.125, 0.125, 0.09375),
    )


def slots(url: str) -> list[tuple[Any, ...]]:
    return execute(url, f"SELECT reaches_at, {SUMS} FROM metrics_slot ORDER BY slot_at")


async def write_and_fill(pool: Pool, *visits: Visit) -> None:
    assert await VisitWriter(pool, Partitions(pool)).write(visits) == []
    await fill_slots(pool, due_s=0)


async def ask(pool: Pool, stream_id: int, from_at: datetime) -> tuple[float | None, bool]:
    """The seconds that somebody stood still, and whether the answer is exact."""
    to_at = TWO_DAYS_AGO + timedelta(hours=2)
    answer = await run_query(pool, Query(stream_id, ("stop_time",), from_at, to_at, ZoneInfo("UTC")))
    return answer.entities["global"]["stop_time"]["value"], answer.exact


def test_sums_and_reach_are_exact_until_visits_are_deleted_and_rounded_from_then_on(url: str) -> None:
    stream_id = create_stream(url, retention_days=1)

    async def act(pool: Pool) -> None:
        await write_and_fill(pool, seen(stream_id))
        assert slots(url) == [(left_at(TWO_DAYS_AGO), *EXACT)]
        assert await ask(pool, stream_id, TWO_DAYS_AGO) == (5.499, True)
        await delete_expired_visits(pool, now=time.time())
        assert slots(url) == [(TWO_DAYS_AGO + 2 * SLOT, *ROUNDED)]
        assert await ask(pool, stream_id, TWO_DAYS_AGO) == (5.0, True)
        later = [left_at(TWO_DAYS_AGO) - timedelta(seconds=1), left_at(TWO_DAYS_AGO) + timedelta(minutes=10)]
        assert [await ask(pool, stream_id, from_at) for from_at in later] == [(None, False)] * 2
        assert await ask(pool, stream_id, TWO_DAYS_AGO + 2 * SLOT) == (None, True)

    with_pool(url, act)


def test_slots_of_a_month_that_is_dropped_are_rounded(url: str) -> None:
    stream_id = create_stream(url, retention_days=100)
    long_ago = TWO_DAYS_AGO - timedelta(days=70)

    async def act(pool: Pool) -> None:
        await write_and_fill(pool, seen(stream_id, long_ago), seen(stream_id))
        execute(url, "UPDATE streams_stream SET retention_days = 30")
        await Partitions(pool).drop_expired(time.time())

    with_pool(url, act)
    assert slots(url) == [(long_ago + 2 * SLOT, *ROUNDED), (left_at(TWO_DAYS_AGO), *EXACT)]


def test_slots_of_visits_that_are_kept_stay_as_they_are(url: str) -> None:
    short, long = create_stream(url, retention_days=1), create_stream(url, retention_days=10)
    yesterday = TWO_DAYS_AGO + timedelta(days=1, hours=1)

    async def act(pool: Pool) -> None:
        await write_and_fill(pool, seen(short), seen(short, yesterday), seen(long))
        await remove_expired(pool, Partitions(pool), now=time.time())

    with_pool(url, act)
    exact = execute(url, "SELECT stream_id, slot_at FROM metrics_slot WHERE still_us = 5499000")
    assert sorted(exact) == sorted([(short, yesterday), (long, TWO_DAYS_AGO)])


def test_what_a_filler_is_about_to_write_is_rounded_as_well(url: str) -> None:
    stream_id = create_stream(url, retention_days=1)

    async def act(pool: Pool) -> None:
        await write_and_fill(pool, seen(stream_id))
        async with pool.connection() as connection, connection.transaction():
            await connection.execute("SELECT definitions FROM metrics_state FOR SHARE")
            deleting = asyncio.create_task(delete_expired_visits(pool, now=time.time()))
            await asyncio.sleep(0.3)
            assert not deleting.done()
            await connection.execute("UPDATE metrics_slot SET still_us = still_us + 1600")
        await deleting

    with_pool(url, act)
    assert slots(url) == [(TWO_DAYS_AGO + 2 * SLOT, 6_000_000, *ROUNDED[1:])]


def test_a_mark_that_outlives_its_visits_is_in_no_answer(url: str) -> None:
    """A visit that was being written while its slot was given up marks it; the filler drops such marks."""
    stream_id = create_stream(url, retention_days=1)
    mark = "INSERT INTO visits_mark (stream_id, slot_at, reaches_at) VALUES (%s, %s, %s)"

    async def act(pool: Pool) -> None:
        await write_and_fill(pool, seen(stream_id))
        await delete_expired_visits(pool, now=time.time())
        execute(url, mark, stream_id, TWO_DAYS_AGO, left_at(TWO_DAYS_AGO) + timedelta(hours=1))
        assert await ask(pool, stream_id, TWO_DAYS_AGO) == (5.0, True)
        assert await ask(pool, stream_id, TWO_DAYS_AGO + 3 * SLOT) == (None, True)

    with_pool(url, act)


def test_the_migration_rounds_slots_of_visits_that_were_deleted_before_it(url: str) -> None:
    stream_id = create_stream(url)
    kept = "INSERT INTO visits_kept (stream_id, since) VALUES (%s, %s)"

    async def act(pool: Pool) -> None:
        await write_and_fill(pool, seen(stream_id), seen(stream_id, TWO_DAYS_AGO + 4 * SLOT))

    with_pool(url, act)
    execute(url, MIGRATION.UNDO)
    execute(url, kept, stream_id, TWO_DAYS_AGO + 4 * SLOT)
    exact = [(left_at(TWO_DAYS_AGO), *EXACT), (left_at(TWO_DAYS_AGO + 4 * SLOT), *EXACT)]
    assert slots(url) == exact
    far = execute(url, "SELECT far FROM metrics_slot ORDER BY slot_at")
    execute(url, MIGRATION.ROUND_SLOTS)
    assert slots(url) == [(TWO_DAYS_AGO + 2 * SLOT, *ROUNDED), exact[1]]
    assert execute(url, "SELECT far FROM metrics_slot ORDER BY slot_at") == far
    execute(url, "SELECT metrics_round_slots(%s, '-infinity', 'infinity')", stream_id)
    execute(url, "SELECT metrics_round_slots(%s, '-infinity', 'infinity')", stream_id)
    assert slots(url) == [(TWO_DAYS_AGO + 2 * SLOT, *ROUNDED), (TWO_DAYS_AGO + 6 * SLOT, *ROUNDED)]


@pytest.mark.parametrize(
    ("reach", "expected"),
    [("15:00", "15:00"), ("15:00.000001", "30:00"), ("14:59.999999", "15:00"), ("00:00.001", "15:00")],
)
def test_a_reach_is_rounded_up_and_one_on_the_grid_stays(url: str, reach: str, expected: str) -> None:
    stream_id = create_stream(url, retention_days=1)

    async def act(pool: Pool) -> None:
        await write_and_fill(pool, seen(stream_id))
        execute(url, "UPDATE metrics_slot SET reaches_at = slot_at + ('00:' || %s)::interval", reach)
        await delete_expired_visits(pool, now=time.time())

    with_pool(url, act)
    assert execute(url, "SELECT reaches_at - slot_at = ('00:' || %s)::interval FROM metrics_slot", expected) == [
        (True,)
    ]


def test_every_sum_that_is_no_count_is_rounded() -> None:
    """A new one needs a line in the function `metrics_round_slots`."""
    sums = {column for column, made in ALL_FIGURES.items() if not made.startswith("count(*)")}
    assert sums == set(SUMS.split(", "))
