"""A change of how many people are told about together holds at once, and what was told singly before is erased."""

import asyncio
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from grouped_stream import DAY, NEXT_DAY, OVER, GroupedStream, slot
from onlooker.database import Pool
from onlooker.metrics.block_release import release_blocks
from onlooker.metrics.rollup import fill_slots
from onlooker.visits.retention import delete_expired_visits

pytest_plugins = ["migrated"]

ROWS = "FROM metrics_slot ORDER BY slot_at"
TOLD = f"SELECT told, still_us, looking_us, balance, balance_of, gender_female, age_25_34 {ROWS}"
UNKNOWN = f"SELECT interested, gender_unknown, age_unknown, emotion_unknown {ROWS}"
NOTHING = (0,) * 7


def test_raising_puts_all_earlier_slots_into_blocks_and_erases_them(url: str) -> None:
    stream = GroupedStream.create(url)

    async def act(pool: Pool) -> None:
        await stream.write(pool, stream.people({10: 3, 20: 3, 30: 4, 40: 2, 130: 4, 230: 5}))
        singly = (await stream.ask(pool, DAY, DAY + timedelta(days=3))).entities["global"]
        assert singly["gender"] == {"?": 0, "female": 14, "male": 7}
        stream.set("groups_of", 5)
        assert stream.read(TOLD) == [NOTHING] * 6
        assert all(len(set(row)) == 1 for row in stream.read(UNKNOWN))
        told = (await stream.ask(pool, DAY, DAY + timedelta(days=3))).entities["global"]
        assert told["gender"]["?"] == 4  # the second day has too few
        assert told["interested"] == singly["interested"]
        assert await release_blocks(pool, OVER + timedelta(days=2)) == 0

    stream.run(act)
    assert stream.blocks() == [(slot(10), slot(21), 6), (slot(30), slot(41), 6), (slot(230), slot(231), 5)]
    assert stream.blocked_until() == slot(231)


def test_who_comes_after_raising_is_in_no_block_with_those_of_before(url: str) -> None:
    stream = GroupedStream.create(url)

    async def act(pool: Pool) -> None:
        await stream.write(pool, stream.people({40: 4}))
        stream.set("groups_of", 5)
        await stream.write(pool, stream.people({40: 3, 38: 3, 41: 5}))
        assert await release_blocks(pool, OVER) == 1
        assert await stream.genders(pool) == (10, 4, 1)

    stream.run(act)
    assert stream.blocks() == [(slot(41), slot(42), 5)]


def test_what_only_a_mark_tells_of_is_in_no_block_and_not_told_later(url: str) -> None:
    stream = GroupedStream.create(url)

    async def act(pool: Pool) -> None:
        await stream.write(pool, stream.people({40: 4, 41: 3}), fill=False)
        stream.set("groups_of", 5)
        assert stream.blocked_until() == slot(42)
        assert (await stream.genders(pool))[0] == 7
        await fill_slots(pool, due_s=0)
        assert await release_blocks(pool, OVER) == 0
        assert (await stream.genders(pool))[0] == 7

    stream.run(act)
    assert stream.read(TOLD) == [NOTHING] * 2


def test_slots_whose_visits_are_gone_are_put_into_blocks_too(url: str) -> None:
    stream = GroupedStream.create(url, retention_days=1)

    async def act(pool: Pool) -> None:
        await stream.write(pool, stream.people({40: 4, 41: 4}))
        await delete_expired_visits(pool, now=datetime.now(UTC).timestamp())
        stream.set("groups_of", 5)
        assert await stream.genders(pool) == (0, 6, 2)

    stream.run(act)
    assert stream.blocks() == [(slot(40), slot(42), 8)]
    assert stream.read(TOLD) == [NOTHING] * 2


def test_rows_of_the_release_before_tell_of_all_their_people(url: str) -> None:
    stream = GroupedStream.create(url)

    async def act(pool: Pool) -> None:
        await stream.write(pool, stream.people({40: 5}))
        told = (await stream.ask(pool)).entities
        stream.read("UPDATE metrics_slot SET told = NULL")
        assert (await stream.ask(pool)).entities == told
        stream.set("groups_of", 5)
        assert await stream.genders(pool) == (0, 4, 1)

    stream.run(act)


def test_lowering_to_one_tells_singly_of_what_is_in_no_block_yet(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=5)

    async def act(pool: Pool) -> None:
        await stream.write(pool, stream.people({40: 5, 42: 5, 60: 2}))
        assert await release_blocks(pool, slot(50)) == 1
        late = [stream.person(40, "male")]
        await stream.write(pool, late)
        stream.set("groups_of", 1)
        assert (await stream.genders(pool))[0] == 1  # who came late into a block's slot
        assert await stream.genders(pool, slot(42), slot(61)) == (0, 4, 3)
        await fill_slots(pool, due_s=0)
        assert await stream.genders(pool, slot(42), slot(61)) == (0, 4, 3)
        stream.set("groups_of", 3)
        assert await stream.genders(pool, slot(42), NEXT_DAY) == (0, 4, 3)
        assert (await stream.genders(pool, slot(42), slot(61)))[0] == 0

    stream.run(act)
    assert stream.blocks() == [(slot(40), slot(41), 5), (slot(42), slot(61), 7)]
    assert stream.blocked_until() == slot(61)


def test_another_number_holds_for_slots_that_are_not_released_yet(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=5)

    async def act(pool: Pool) -> None:
        await stream.write(pool, stream.people({40: 5, 42: 5, 44: 5}))
        assert await release_blocks(pool, slot(43) + timedelta(minutes=2)) == 1
        stream.set("groups_of", 10)
        assert await release_blocks(pool, OVER) == 1

    stream.run(act)
    assert stream.blocks() == [(slot(40), slot(41), 5), (slot(42), slot(45), 10)]


def test_a_new_time_zone_holds_for_slots_that_are_not_released_yet(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=5)

    async def act(pool: Pool) -> None:
        await stream.write(pool, stream.people({58: 5, 59: 3, 60: 4, 61: 4}))
        stream.set("time_zone", "Asia/Tokyo")
        assert await release_blocks(pool, slot(156) + timedelta(minutes=2)) == 2

    stream.run(act)
    assert stream.blocks() == [(slot(58), slot(60), 8), (slot(60), slot(62), 8)]


def test_raising_waits_for_who_fills_and_for_who_writes(url: str) -> None:
    """Otherwise a filler that began before could put back what was erased."""
    stream = GroupedStream.create(url)

    async def act(pool: Pool) -> None:
        await stream.write(pool, stream.people({40: 5}))
        for lock in ("SELECT FROM metrics_state FOR SHARE", "LOCK TABLE visits_mark IN ROW EXCLUSIVE MODE"):
            async with pool.connection() as connection, connection.transaction():
                await connection.execute(lock)
                raising = asyncio.create_task(asyncio.to_thread(stream.set, "groups_of", 5))
                await asyncio.sleep(0.3)
                assert not raising.done()
            await raising
            stream.set("groups_of", 1)

    stream.run(act)


def test_a_stream_is_created_with_groups_and_goes_with_its_blocks(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=7)
    copied = "owner_id, name, gen_random_uuid(), kind, enabled, created_at"
    created = f"""INSERT INTO streams_stream (owner_id, name, client_id, kind, enabled, created_at, groups_of)
                  SELECT {copied}, 9 FROM streams_stream RETURNING grouped_until = 'infinity'"""
    assert stream.read(created) == [(True,)]

    async def act(pool: Pool) -> None:
        await stream.write(pool, stream.people({40: 7}))
        assert await release_blocks(pool, OVER) == 1

    stream.run(act)
    stream.read(f"DELETE FROM streams_stream WHERE id = {stream.id}")
    assert stream.blocks() == []
    assert stream.blocked_until() is None


@pytest.mark.parametrize("number", [0, 51])
def test_a_group_has_one_to_fifty_people(url: str, number: int) -> None:
    stream = GroupedStream.create(url)
    with pytest.raises(psycopg.errors.CheckViolation):
        stream.set("groups_of", number)
