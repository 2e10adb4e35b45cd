"""The roll-up holds what its visits add up to, no matter who writes and fills at the same time."""

import asyncio
import random
import time
from typing import Any

import psycopg
import pytest

from onlooker.database import Pool
from onlooker.metrics import rollup
from onlooker.metrics.rollup import OtherDefinitions, fill_slots, restart_rollup
from onlooker.settings import Settings
from onlooker.visits import counters
from onlooker.visits.partitions import Partitions
from onlooker.visits.writer import VisitWriter
from onlooker_pipeline.visits.visit import Visit
from recorder_process import create_stream, later, visit, with_pool

pytest_plugins = ["migrated"]

SLOT_MS = 900_000
NOON_MS = int(time.time() * 1000) // 86_400_000 * 86_400_000 - 43_200_000
"""Of yesterday."""


def read(url: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(query).fetchall()


def marks(url: str) -> int:
    return int(read(url, "SELECT count(*) FROM visits_mark")[0][0])


def stopped(stream_id: int, *, began_ms: int = NOON_MS, age: float | None = 33.5) -> Visit:
    """Somebody who is interested."""
    part = [(began_ms, began_ms + 5000)]
    return visit(stream_id, began_ms=began_ms, revision=5, still=part, looking=part, age=age)


def test_visits_mark_their_slot_until_it_is_filled(url: str) -> None:
    stream_id = create_stream(url)

    async def act(pool: Pool) -> None:
        writer = VisitWriter(pool, Partitions(pool))
        await writer.write([stopped(stream_id), stopped(stream_id), stopped(stream_id, began_ms=NOON_MS + SLOT_MS)])
        assert marks(url) == 2
        assert await fill_slots(pool, due_s=0) == 2
        assert await fill_slots(pool, due_s=0) == 0

    with_pool(url, act)
    assert marks(url) == 0
    assert read(url, "SELECT passing_by, interested, still_us FROM metrics_slot ORDER BY slot_at") == [
        (2, 2, 10_000_000),
        (1, 1, 5_000_000),
    ]


def test_a_slot_is_filled_when_its_mark_is_old_enough(url: str) -> None:
    stream_id = create_stream(url)

    async def act(pool: Pool) -> None:
        await VisitWriter(pool, Partitions(pool)).write([stopped(stream_id)])
        assert await fill_slots(pool, due_s=30) == 0
        read(url, "UPDATE visits_mark SET marked_at = now() - interval '31 s' RETURNING 1")
        await VisitWriter(pool, Partitions(pool)).write([stopped(stream_id)])  # marked again, not any later
        assert await fill_slots(pool, due_s=30) == 1

    with_pool(url, act)


def test_what_changes_nothing_marks_nothing(url: str) -> None:
    one = stopped(create_stream(url))

    async def act(pool: Pool) -> None:
        writer = VisitWriter(pool, Partitions(pool))
        await writer.write([one])
        await fill_slots(pool, due_s=0)
        await writer.write([one])
        assert marks(url) == 0
        await writer.write([later(one, 9)])
        assert marks(url) == 1

    with_pool(url, act)


def test_who_dies_while_filling_leaves_the_marks(url: str) -> None:
    stream_id = create_stream(url)

    async def act(pool: Pool) -> None:
        await VisitWriter(pool, Partitions(pool)).write([stopped(stream_id)])
        async with pool.connection() as connection, connection.transaction():
            await connection.execute("LOCK TABLE metrics_slot IN EXCLUSIVE MODE")
            filling = asyncio.create_task(fill_slots(pool, due_s=0))
            await asyncio.sleep(0.3)
            filling.cancel()
            await asyncio.gather(filling, return_exceptions=True)
        assert marks(url) == 1
        assert await fill_slots(pool, due_s=0) == 1

    with_pool(url, act)
    assert read(url, "SELECT passing_by FROM metrics_slot") == [(1,)]


@pytest.mark.parametrize("seed", range(3))
def test_writers_and_fillers_at_once_leave_a_right_roll_up(url: str, seed: int) -> None:
    draw = random.Random(seed)
    streams = [create_stream(url) for _ in range(2)]
    people = [stopped(draw.choice(streams), began_ms=NOON_MS + draw.randrange(4 * SLOT_MS)) for _ in range(60)]
    written = [later(one, revision) for one in people for revision in (5, 6, 7, 8)]
    draw.shuffle(written)
    batches = [written[first : first + 12] for first in range(0, len(written), 12)]

    async def act(pool: Pool) -> None:
        async def write(mine: list[list[Visit]]) -> None:
            writer = VisitWriter(pool, Partitions(pool))
            for batch in mine:
                assert await writer.write(batch) == []

        async def fill() -> None:
            while True:
                await fill_slots(pool, due_s=0, limit=3)
                await asyncio.sleep(0)

        fillers = [asyncio.create_task(fill()) for _ in range(2)]
        await asyncio.gather(write(batches[::2]), write(batches[1::2]))
        for one in fillers:
            one.cancel()
        await asyncio.gather(*fillers, return_exceptions=True)
        while await fill_slots(pool, due_s=0):
            pass

    with_pool(url, act)
    assert marks(url) == 0
    truth = """SELECT stream_id, date_bin('15 minutes', began_at, 'epoch'), count(*), max(upper(present))
               FROM visits_visit GROUP BY 1, 2 ORDER BY 1, 2"""
    assert read(url, truth) == read(
        url, "SELECT stream_id, slot_at, passing_by, reaches_at FROM metrics_slot ORDER BY 1, 2"
    )


def test_the_filler_fills_what_is_due_and_says_how_much_waits(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollup, "DUE_S", 0.0)
    stream_id = create_stream(url)

    async def act(pool: Pool) -> None:
        await VisitWriter(pool, Partitions(pool)).write([stopped(stream_id)])
        counters.slots_marked.set(-1)
        filling = asyncio.create_task(rollup.keep_rollup_filled(pool, Settings(database_url=url)))
        while counters.slots_marked._value.get() < 0:
            await asyncio.sleep(0.05)
        filling.cancel()
        await asyncio.gather(filling, return_exceptions=True)

    with_pool(url, act)
    assert (marks(url), counters.slots_marked._value.get()) == (0, 0)
    assert read(url, "SELECT passing_by FROM metrics_slot") == [(1,)]


def test_another_release_fills_nothing(url: str) -> None:
    stream_id = create_stream(url)

    async def act(pool: Pool) -> None:
        await restart_rollup(pool, senior_age=50)
        await VisitWriter(pool, Partitions(pool)).write([stopped(stream_id)])
        read(url, "UPDATE metrics_state SET definitions = 'of tomorrow' RETURNING 1")
        with pytest.raises(OtherDefinitions):
            await fill_slots(pool, due_s=0)
        assert marks(url) == 1
        await restart_rollup(pool, senior_age=50)
        assert await fill_slots(pool, due_s=0) == 1

    with_pool(url, act)


def test_another_age_of_seniors_fills_all_slots_anew(url: str) -> None:
    stream_id = create_stream(url)
    categories = "SELECT young_female, senior_female FROM metrics_slot"

    async def act(pool: Pool) -> None:
        await restart_rollup(pool, senior_age=50)
        await VisitWriter(pool, Partitions(pool)).write([stopped(stream_id, age=45), stopped(stream_id, age=55)])
        await fill_slots(pool, due_s=0)
        assert read(url, categories) == [(1, 1)]
        await restart_rollup(pool, senior_age=50)
        assert marks(url) == 0
        await restart_rollup(pool, senior_age=40)
        assert marks(url) == 1
        await fill_slots(pool, due_s=0)

    with_pool(url, act)
    assert read(url, categories) == [(0, 2)]
