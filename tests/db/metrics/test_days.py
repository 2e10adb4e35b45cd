"""A day is the sum of its slots and blocks, whatever writes, rounds, erases or moves them."""

import asyncio
import random
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest

from grouped_stream import DAY, OVER, GroupedStream
from onlooker.database import Pool, open_pool
from onlooker.metrics.block_release import release_blocks
from onlooker.metrics.days import DAY_FIGURES, fill_days, find_wrong_days
from onlooker.metrics.rollup import fill_slots
from onlooker.settings import Settings
from onlooker.visits.partitions import Partitions
from onlooker.visits.retention import delete_expired_visits
from onlooker.visits.writer import VisitWriter
from onlooker_pipeline.visits.visit import Visit
from recorder_process import create_stream, later, visit, with_pool
from testkit.day_oracle import COUNTED, TOLD, count_days

pytest_plugins = ["migrated"]

SLOT = timedelta(minutes=15)
NOON = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=3)
ZONES = ("UTC", "Asia/Kolkata", "America/New_York", "Pacific/Chatham", "Australia/Lord_Howe")
ADD_COVERAGE = """INSERT INTO streams_coverage AS known (stream_id, slot_at, video_s)
SELECT %s, * FROM unnest(%s::timestamptz[], %s::float8[]) ORDER BY 2
ON CONFLICT (stream_id, slot_at) DO UPDATE SET video_s = known.video_s + excluded.video_s"""
ADD_BLINDNESS = (
    ADD_COVERAGE.replace("streams_coverage", "streams_blindness")
    .replace(
        "(stream_id, slot_at, video_s)\nSELECT %s, *", "(stream_id, slot_at, video_s, fault)\nSELECT %s, *, 'black'"
    )
    .replace("ON CONFLICT (stream_id, slot_at)", "ON CONFLICT (stream_id, slot_at, fault)")
)


def read(url: str, query: str, *values: object) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(query.encode(), values)
        return cursor.fetchall() if cursor.description else []


def wrong_days(url: str) -> list[tuple[int, int]]:
    with psycopg.connect(url, autocommit=True) as connection:
        return list(find_wrong_days(connection))


def days_of(url: str, stream_id: int, *columns: str) -> dict[date, tuple[Any, ...]]:
    names = ", ".join(columns)
    rows = read(url, f"SELECT day, {names} FROM metrics_day WHERE stream_id = %s ORDER BY 1", stream_id)
    return {row[0]: row[1:] for row in rows}


def person(stream_id: int, at: datetime, *, lasts_s: float = 5, **changes: Any) -> Visit:
    start = round(at.timestamp() * 1000)
    part = [(start, start + round(lasts_s * 1000))]
    return visit(stream_id, began_ms=start, revision=5, present=part, still=part, looking=part, **changes)


async def write(pool: Pool, *visits: Visit) -> None:
    assert await VisitWriter(pool, Partitions(pool)).write(visits) == []
    while await fill_slots(pool, due_s=0):
        pass


def set_stream(url: str, stream_id: int, **columns: object) -> None:
    for name, value in columns.items():
        read(url, f"UPDATE streams_stream SET {name} = %s WHERE id = %s", value, stream_id)


def test_a_day_has_every_figure_of_a_slot(url: str) -> None:
    columns = {
        name for (name,) in read(url, "SELECT attname FROM pg_attribute WHERE attrelid = 'metrics_day'::regclass")
    }
    assert set(DAY_FIGURES) <= columns


def test_a_visit_counts_on_the_local_day_on_which_its_slot_begins(url: str) -> None:
    stream_id = create_stream(url)
    set_stream(url, stream_id, time_zone="Asia/Tokyo")
    midnight = datetime(2026, 11, 10, tzinfo=ZoneInfo("Asia/Tokyo"))

    async def act(pool: Pool) -> None:
        await write(pool, person(stream_id, midnight - timedelta(seconds=2)), person(stream_id, midnight))

    with_pool(url, act)
    assert days_of(url, stream_id, "passing_by", "interested", "slots") == {
        date(2026, 11, 9): (1, 1, 1),
        date(2026, 11, 10): (1, 1, 1),
    }


@pytest.mark.parametrize("seed", range(4))
def test_days_are_the_oracles_whatever_arrives_late_or_again(url: str, seed: int) -> None:
    draw = random.Random(seed)
    streams = {create_stream(url): zone for zone in ZONES}
    for stream_id, zone in streams.items():
        set_stream(url, stream_id, time_zone=zone)
    people = [
        person(
            draw.choice(list(streams)),
            NOON + timedelta(minutes=draw.randrange(-3000, 3000)),
            lasts_s=draw.choice([0.5, 2, 4, 1200]),
            gender_confidence=draw.choice([0.2, 0.9]),
        )
        for _ in range(60)
    ]
    revised = [later(one, 30) for one in draw.sample(people, 20)]

    async def act(pool: Pool) -> None:
        for first in range(0, len(people), 9):
            await write(pool, *people[first : first + 9])
        await write(pool, *revised)

    with_pool(url, act)
    newest = {one.id: one for one in (*people, *revised)}.values()
    for stream_id, zone in streams.items():
        expected = count_days((one for one in newest if one.stream_id == stream_id), ZoneInfo(zone))
        columns = (*COUNTED, *TOLD)
        assert days_of(url, stream_id, *columns) == {
            day: tuple(amounts[name] for name in columns) for day, amounts in expected.items()
        }
    assert wrong_days(url) == []


def test_another_time_zone_moves_all_days(url: str) -> None:
    stream_id = create_stream(url)

    async def act(pool: Pool) -> None:
        await write(pool, *(person(stream_id, NOON + timedelta(hours=hour)) for hour in range(-40, 40, 3)))

    with_pool(url, act)
    read(url, ADD_COVERAGE, stream_id, [NOON + number * SLOT for number in range(96)], [900.0] * 96)
    before = days_of(url, stream_id, "passing_by")
    set_stream(url, stream_id, time_zone="Pacific/Kiritimati")
    after = days_of(url, stream_id, "passing_by")
    assert after != before
    assert sum(count for (count,) in after.values()) == sum(count for (count,) in before.values())
    assert wrong_days(url) == []
    set_stream(url, stream_id, time_zone="UTC")
    assert days_of(url, stream_id, "passing_by") == before


def test_writers_and_a_change_of_the_time_zone_at_once_leave_right_days(url: str) -> None:
    stream_id = create_stream(url)

    async def cover(pool: Pool) -> None:
        for number in range(60):
            async with pool.connection() as connection:
                await connection.execute(ADD_COVERAGE, (stream_id, [NOON + number * SLOT], [333.3]))

    async def count(pool: Pool) -> None:
        for number in range(20):
            await write(pool, person(stream_id, NOON + number * 3 * SLOT))

    async def move(pool: Pool) -> None:
        for number in range(20):
            async with pool.connection() as connection:
                zone = ZONES[number % len(ZONES)]
                await connection.execute("UPDATE streams_stream SET time_zone = %s WHERE id = %s", (zone, stream_id))
            await asyncio.sleep(0.01)

    async def act() -> None:
        async with open_pool(Settings(database_url=url)) as pool:
            await asyncio.gather(cover(pool), count(pool), move(pool))

    asyncio.run(act())
    assert wrong_days(url) == []
    assert read(url, "SELECT sum(passing_by), (SELECT sum(slots) FROM metrics_daycoverage) FROM metrics_day") == [
        (20, 60)
    ]


def test_a_zone_that_the_database_does_not_know_counts_as_utc(url: str) -> None:
    stream_id = create_stream(url)
    set_stream(url, stream_id, time_zone="Mars/Olympus_Mons")

    async def act(pool: Pool) -> None:
        await write(pool, person(stream_id, NOON))

    with_pool(url, act)
    assert days_of(url, stream_id, "passing_by") == {NOON.date(): (1,)}


def test_watched_and_blind_time_add_up_to_the_slots_length_at_most(url: str) -> None:
    stream_id = create_stream(url)
    for amount in (0.0004, 450.25, 600.5):
        read(url, ADD_COVERAGE, stream_id, [NOON, NOON + SLOT], [amount, amount / 3])
        read(url, ADD_BLINDNESS, stream_id, [NOON], [amount / 2])
        assert wrong_days(url) == []
    kept = "SELECT slots, faults, watched_ms, blind_ms FROM metrics_daycoverage"
    assert read(url, kept) == [(2, 1, 900_000 + 350_250, 525_375)]
    read(url, "DELETE FROM streams_coverage")
    assert read(url, kept) == [(0, 1, 0, 525_375)]
    read(url, "DELETE FROM streams_blindness")
    assert read(url, kept) == []


def test_what_is_rounded_after_retention_is_rounded_in_its_day(url: str) -> None:
    stream_id = create_stream(url, retention_days=1)

    async def act(pool: Pool) -> None:
        await write(pool, person(stream_id, NOON, lasts_s=5.6), person(stream_id, NOON + SLOT, lasts_s=5.6))
        assert days_of(url, stream_id, "still_us", "told")[NOON.date()] == (11_200_000, 2)
        await delete_expired_visits(pool, now=datetime.now(UTC).timestamp())

    with_pool(url, act)
    assert days_of(url, stream_id, "still_us", "told")[NOON.date()] == (12_000_000, 2)
    assert wrong_days(url) == []


def test_people_in_groups_are_told_in_whole_blocks_and_counted_all_the_same(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=5)

    async def act(pool: Pool) -> None:
        await stream.write(pool, stream.people({10: 3, 20: 3, 30: 4}))
        assert days_of(url, stream.id, "interested", "told", "gender_unknown") == {DAY.date(): (10, 0, 10)}
        await release_blocks(pool, OVER)

    stream.run(act)
    told = sum(people for _, _, people in stream.blocks())
    assert told >= 5
    day = days_of(url, stream.id, "interested", "told", "gender_unknown", "still_us", "blocks")[DAY.date()]
    assert day == (10, told, 10 - told, round(5.5 * told) * 1_000_000, len(stream.blocks()))
    assert wrong_days(url) == []


def test_grouping_and_ungrouping_leave_right_days(url: str) -> None:
    stream = GroupedStream.create(url)

    async def act(pool: Pool) -> None:
        await stream.write(pool, stream.people({10: 3, 20: 3, 30: 4, 130: 2}))
        for groups_of in (5, 7, 1):
            stream.set("groups_of", groups_of)
            assert wrong_days(url) == []
        await fill_slots(pool, due_s=0)

    stream.run(act)
    assert wrong_days(url) == []
    assert days_of(url, stream.id, "interested")[DAY.date()] == (10,)


def test_days_go_with_their_stream(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=5)

    async def act(pool: Pool) -> None:
        await stream.write(pool, stream.people({10: 6, 20: 6}))
        await release_blocks(pool, OVER)

    stream.run(act)
    read(url, "DELETE FROM notices_noticeversion")
    read(url, "DELETE FROM streams_stream WHERE id = %s", stream.id)
    assert read(url, "SELECT count(*) FROM metrics_day") == [(0,)]


def test_wrong_days_are_found_and_added_up_again(url: str) -> None:
    stream_id = create_stream(url)

    async def act(pool: Pool) -> None:
        await write(pool, person(stream_id, NOON), person(stream_id, NOON + timedelta(days=1)))

    with_pool(url, act)
    read(url, "UPDATE metrics_day SET interested = interested + 1 WHERE day = %s", NOON.date())
    read(url, "DELETE FROM metrics_day WHERE day > %s", NOON.date())
    assert wrong_days(url) == [(stream_id, 2)]
    with psycopg.connect(url, autocommit=True) as connection:
        assert fill_days(connection) == 1
    assert wrong_days(url) == []
    assert list(days_of(url, stream_id, "interested").values()) == [(1,), (1,)]


def test_two_who_wait_for_one_another_both_finish(url: str) -> None:
    """As recorders may that fill slots of the same days: PostgreSQL ends one of them."""
    stream_id, next_noon = create_stream(url), NOON + timedelta(days=1)
    days = NOON.date(), next_noon.date()
    touch = "UPDATE metrics_day SET slots = slots WHERE stream_id = %s AND day = %s"

    async def meet(pool: Pool) -> None:
        await write(pool, person(stream_id, NOON), person(stream_id, next_noon))
        more = [person(stream_id, noon + timedelta(minutes=1)) for noon in (NOON, next_noon)]
        assert await VisitWriter(pool, Partitions(pool)).write(more) == []
        async with await psycopg.AsyncConnection.connect(url) as other:
            await other.execute("SET deadlock_timeout = '1min'")
            await other.execute(touch.encode(), (stream_id, days[1]))
            filling = asyncio.create_task(fill_slots(pool, due_s=0))
            await until_waiting(pool)
            await other.execute(touch.encode(), (stream_id, days[0]))
            await other.commit()
        assert await filling == 2

    with_pool(url, meet)
    assert days_of(url, stream_id, "interested") == dict.fromkeys(days, (2,))
    assert wrong_days(url) == []


async def until_waiting(pool: Pool) -> None:
    """For a lock that another has."""
    waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    async with asyncio.timeout(10), pool.connection() as connection:
        await connection.set_autocommit(True)
        while not await (await connection.execute(waiting)).fetchone():
            await asyncio.sleep(0.01)
        await connection.set_autocommit(False)
