"""What is told about people of a grouped stream comes in whole blocks of at least so many, whatever is asked."""

import itertools
import uuid
from datetime import UTC, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import msgspec
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grouped_stream import ABOUT, DAY, NEXT_DAY, OVER, GroupedStream, slot
from onlooker.database import Pool
from onlooker.metrics.block_release import forget_blocks, release_blocks
from onlooker.metrics.blocks import BlockSlot, divide_day, end_of_day
from onlooker.metrics.execution import run_query
from onlooker.metrics.query import Query, Time
from onlooker.slots import SLOT
from onlooker.visits.retention import delete_expired_visits

pytest_plugins = ["migrated"]

NOBODY_TOLD = (0, 0, 0, 0, 0, 0)
ROW = "SELECT told, still_us, looking_us, balance, gender_female, young_female FROM metrics_slot ORDER BY slot_at"


def slots_with(counts: list[int]) -> list[BlockSlot]:
    return [BlockSlot(slot(place), {"told": count}, slot(place + 1)) for place, count in enumerate(counts)]


@given(st.lists(st.integers(0, 7), max_size=40), st.integers(1, 20), st.booleans())
def test_blocks_have_enough_people_and_what_is_released_early_is_what_the_whole_day_has(
    counts: list[int], least: int, is_over: bool
) -> None:
    whole = divide_day(slots_with(counts), least=least, is_over=True)
    assert all(block.figures["told"] >= least for block in whole)
    told = sum(block.figures["told"] for block in whole)
    assert told == (sum(counts) if sum(counts) >= least else 0)
    assert all(one.ends_at <= other.begins_at for one, other in itertools.pairwise(whole))
    assert all(block.slots[0].people and block.slots[-1].people for block in whole)
    for length in range(len(counts)):
        early = divide_day(slots_with(counts[:length]), least=least, is_over=False)
        assert [block.begins_at for block in early] == [block.begins_at for block in whole][: len(early)]
        assert all(one.slots == other.slots for one, other in zip(early, whole, strict=False))


@pytest.mark.parametrize(
    ("zone", "slot_at", "ends_at"),
    [
        ("UTC", "2026-03-28T23:45Z", "2026-03-29T00:00Z"),
        ("Europe/Paris", "2026-03-28T23:00Z", "2026-03-29T22:00Z"),
        ("Asia/Kathmandu", "2026-03-28T18:15Z", "2026-03-29T18:15Z"),
        ("Africa/Monrovia", "1970-06-01T00:30Z", "1970-06-01T00:45Z"),
    ],
)
def test_a_slot_belongs_to_the_local_day_in_which_it_begins(zone: str, slot_at: str, ends_at: str) -> None:
    begin, end = map(datetime.fromisoformat, (slot_at, ends_at))
    assert end_of_day(begin, ZoneInfo(zone)) == end


def test_neither_rows_nor_visits_of_a_grouped_slot_tell_about_anybody(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=5)

    async def act(pool: Pool) -> None:
        await stream.write(pool, stream.people({40: 9}), fill=False)
        unfilled = (await stream.ask(pool)).entities
        await stream.write(pool, [])
        assert (await stream.ask(pool)).entities == unfilled
        told = unfilled["global"]
        assert told["interested"] == {"value": 9}
        assert told["stop_time"] == told["satisfaction"] == {"value": None}
        assert told["gender"] == {"?": 9, "female": 0, "male": 0}
        assert set(told["category"].values()) == {0}
        assert (told["age"]["?"], told["emotion"]["?"]) == (9, 9)
        cut = (
            await stream.ask(pool, slot(40) + timedelta(minutes=5), slot(40) + timedelta(minutes=5, seconds=4))
        ).entities
        assert cut["global"]["interested"] == {"value": 9}
        assert cut["global"]["gender"]["?"] == 9

    stream.run(act)
    assert stream.read(ROW) == [NOBODY_TOLD]


def test_a_block_is_released_when_the_next_is_complete_and_the_last_one_with_the_day(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=5)

    async def act(pool: Pool) -> None:
        await stream.write(pool, stream.people({40: 2, 42: 4, 44: 5, 46: 3}))
        assert await release_blocks(pool, slot(43)) == 0
        assert await release_blocks(pool, slot(45) + timedelta(minutes=1)) == 0  # still on its way
        assert await release_blocks(pool, slot(45) + timedelta(minutes=2)) == 1
        assert stream.blocks() == [(slot(40), slot(43), 6)]
        assert stream.blocked_until() == slot(43)
        assert await release_blocks(pool, NEXT_DAY) == 0
        assert await release_blocks(pool, OVER) == 1
        assert await release_blocks(pool, OVER) == 0
        assert await stream.genders(pool) == (0, 10, 4)

    stream.run(act)
    assert stream.blocks() == [(slot(40), slot(43), 6), (slot(44), slot(47), 8)]
    assert stream.blocked_until() == NEXT_DAY


def test_a_day_with_fewer_people_stays_unknown_and_days_are_not_joined(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=5)

    async def act(pool: Pool) -> None:
        await stream.write(pool, stream.people({90: 4, 100: 3, 101: 2, 200: 1}))
        assert await release_blocks(pool, OVER + timedelta(days=1)) == 1
        assert await stream.genders(pool) == (4, 0, 0)
        assert await stream.genders(pool, DAY, DAY + timedelta(days=3)) == (5, 3, 2)

    stream.run(act)
    assert stream.blocks() == [(slot(100), slot(102), 5)]


def test_days_are_those_of_the_streams_time_zone(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=5, time_zone="Asia/Tokyo")  # midnight there is slot 60

    async def act(pool: Pool) -> None:
        await stream.write(pool, stream.people({58: 3, 59: 2, 60: 5}))
        assert await release_blocks(pool, slot(60) + timedelta(minutes=2)) == 1
        assert await release_blocks(pool, OVER) == 0
        assert await release_blocks(pool, slot(156) + timedelta(minutes=2)) == 1

    stream.run(act)
    assert stream.blocks() == [(slot(58), slot(60), 5), (slot(60), slot(61), 5)]


def test_an_answer_holds_a_block_only_where_range_and_bucket_hold_all_of_it(url: str) -> None:
    """The last of its people stays until the slot after next."""
    stream = GroupedStream.create(url, groups_of=5)

    async def act(pool: Pool) -> None:
        lasting = stream.person(42, "male", lasts_s=20 * 60)
        await stream.write(pool, [*stream.people({40: 2, 41: 2}), lasting])
        assert await release_blocks(pool, OVER) == 1
        assert stream.read("SELECT begins_at, ends_at, reaches_at FROM metrics_block") == [
            (slot(40), slot(43), slot(44))
        ]
        whole, minute = (0, 3, 2), timedelta(minutes=1)
        assert await stream.genders(pool, slot(40), slot(44)) == whole
        assert await stream.genders(pool, slot(40) + minute, slot(44)) == (5, 0, 0)
        assert await stream.genders(pool, slot(40) + timedelta(minutes=6), slot(44)) == (3, 0, 0)
        assert await stream.genders(pool, slot(40), slot(44) - minute) == (5, 0, 0)
        assert await stream.genders(pool, slot(40), slot(43)) == (5, 0, 0)
        by_hour = (await stream.ask(pool, time=Time.BY_HOUR)).entities
        assert list(by_hour.values())[10]["gender"] == {"?": 0, "female": 3, "male": 2}
        cut = (await stream.ask(pool, slot(38), slot(60), time=Time.BY_DAY)).entities
        assert [bucket["gender"]["?"] for bucket in cut.values()] == [0]

    stream.run(act)


def test_a_block_across_an_edge_of_buckets_is_in_none_of_them_and_in_their_sum(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=5)

    async def act(pool: Pool) -> None:
        await stream.write(pool, stream.people({43: 3, 44: 2}))
        await release_blocks(pool, OVER)
        by_hour = list((await stream.ask(pool, time=Time.BY_HOUR)).entities.values())
        assert [by_hour[hour]["gender"]["?"] for hour in (10, 11)] == [3, 2]
        assert [by_hour[hour]["stop_time"]["value"] for hour in (10, 11)] == [None, None]
        assert sum(bucket["interested"]["value"] for bucket in by_hour) == 5
        assert await stream.genders(pool) == (0, 4, 1)

    stream.run(act)


def test_a_quarter_hour_tells_a_block_of_one_slot_and_a_week_and_a_month_tell_all(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=5)

    async def act(pool: Pool) -> None:
        await stream.write(pool, stream.people({40: 6, 43: 3, 44: 3}))
        assert await release_blocks(pool, OVER) == 2
        quarters = list((await stream.ask(pool, time=Time.BY_QUARTER_HOUR)).entities.values())
        assert {slot: quarters[slot]["gender"]["?"] for slot in (40, 43, 44)} == {40: 0, 43: 3, 44: 3}
        assert [quarters[slot]["stop_time"]["value"] for slot in (43, 44)] == [None, None]
        for time in (Time.BY_WEEK, Time.BY_MONTH):
            [whole] = (await stream.ask(pool, time=time)).entities.values()
            assert whole == (await stream.ask(pool)).entities["global"]
            assert whole["gender"]["?"] == 0

    stream.run(act)


def test_a_page_from_the_middle_has_its_blocks(url: str) -> None:
    """It is answered from roll-up and blocks alone."""
    stream = GroupedStream.create(url, groups_of=5)

    async def act(pool: Pool) -> None:
        await stream.write(pool, stream.people(dict.fromkeys(range(0, 90, 4), 6)))
        await release_blocks(pool, OVER)
        days = timedelta(days=3)
        query = Query(stream.id, ABOUT, DAY - days, NEXT_DAY + days, ZoneInfo("UTC"), Time.BY_DAY)
        [(key, told)] = (await run_query(pool, query, 4, size=1)).entities.items()
        assert (key, told["gender"]) == (DAY.isoformat(), {"?": 0, "female": 92, "male": 46})
        assert await stream.genders(pool) == (0, 92, 46)

    stream.run(act)


def test_a_visit_that_goes_on_holds_its_slot_back_for_a_month_at_most(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=5)

    async def act(pool: Pool) -> None:
        open_visit = stream.person(40, ended=False)
        await stream.write(pool, [open_visit, *stream.people({40: 5, 41: 5, 42: 5})])
        assert await release_blocks(pool, OVER) == 0
        ended = msgspec.structs.replace(open_visit, revision=6, ended=True)
        assert await release_blocks(pool, slot(41) + timedelta(days=31, minutes=-1)) == 0
        assert await release_blocks(pool, slot(41) + timedelta(days=31)) == 3
        await stream.write(pool, [ended])

    stream.run(act)
    assert [block[2] for block in stream.blocks()] == [6, 5, 5]


def test_who_comes_later_counts_and_stays_unknown(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=5)
    people = stream.people({40: 5, 44: 5})

    async def act(pool: Pool) -> None:
        await stream.write(pool, people)
        await release_blocks(pool, OVER)
        await stream.write(pool, [stream.person(40, "male"), stream.person(60, "male")])
        assert await release_blocks(pool, OVER) == 0
        assert await stream.genders(pool) == (2, 7, 3)
        turned = [msgspec.structs.replace(one, revision=6, gender="male") for one in people]
        await stream.write(pool, turned)
        assert await stream.genders(pool) == (2, 7, 3)
        gone = [msgspec.structs.replace(one, revision=7, still=[]) for one in people]
        await stream.write(pool, gone)
        assert await stream.genders(pool) == (0, 7, 3)
        assert (await stream.ask(pool)).entities["global"]["interested"] == {"value": 2}

    stream.run(act)


def test_a_block_is_rounded_and_outlives_its_visits(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=5, retention_days=1)

    async def act(pool: Pool) -> None:
        await stream.write(pool, stream.people({40: 5}))
        assert await release_blocks(pool) == 1
        before = (await stream.ask(pool)).entities
        assert before["global"]["stop_time"] == {"value": 5.6}  # 27.5 seconds are 28
        await delete_expired_visits(pool, now=datetime.now(UTC).timestamp())
        assert stream.read("SELECT count(*) FROM visits_visit") == [(0,)]
        assert (await stream.ask(pool)).entities == before

    stream.run(act)
    assert stream.read("SELECT still_us, looking_us, balance FROM metrics_block") == [
        (28_000_000, 28_000_000, 5_000_000_000)
    ]


def test_a_deleted_range_takes_every_block_with_it_that_it_touches(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=5)

    async def act(pool: Pool) -> None:
        await stream.write(pool, [*stream.people({40: 5, 44: 5, 48: 4}), stream.person(48, lasts_s=1200)])
        assert await release_blocks(pool, OVER) == 3
        with psycopg.connect(url, autocommit=True) as connection:
            forget_blocks(connection, stream.id, slot(41), slot(44))
            assert len(stream.blocks()) == 3
            forget_blocks(connection, stream.id, slot(44) + timedelta(minutes=14), slot(45))
            assert len(stream.blocks()) == 2
            forget_blocks(connection, stream.id, slot(49) + timedelta(minutes=1), slot(60))
        assert [block[0] for block in stream.blocks()] == [slot(40)]
        assert await release_blocks(pool, OVER) == 0
        assert (await stream.genders(pool))[0] == 10

    stream.run(act)


def told_by_device(
    stream: GroupedStream, number: int, *, device: int = 1, whole: bool = True, late: timedelta = SLOT
) -> None:
    """What it watched of a slot, a little into it or later."""
    stream.read(
        """INSERT INTO streams_devicecoverage
           (stream_id, slot_at, device, revision, watched_s, counted_s, sums, first_at, last_at, whole_at)
           VALUES (%s, %s, %s, 1, 900, 900, '{}', %s, %s, %s)""",
        *(stream.id, slot(number), uuid.UUID(int=device), *[slot(number) + late] * 2),
        slot(number) + late if whole else None,
    )


def test_a_device_is_waited_for_until_it_has_handed_over_what_it_had(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=5, compute="device")

    async def act(pool: Pool) -> None:
        await stream.write(pool, stream.people({40: 5, 41: 5, 42: 5}))
        assert await release_blocks(pool, OVER) == 0
        told_by_device(stream, 42, whole=False)
        assert await release_blocks(pool, OVER) == 0
        told_by_device(stream, 41)
        assert await release_blocks(pool, OVER) == 0  # the next run is not delivered
        told_by_device(stream, 43, late=timedelta(days=1))
        assert await release_blocks(pool, OVER) == 0
        late = slot(43) + timedelta(days=1, minutes=2)
        assert await release_blocks(pool, late) == 2
        assert stream.blocks()[-1][:2] == (slot(41), slot(42))
        told_by_device(stream, 97, late=timedelta(days=2))
        told_by_device(stream, 10, device=2)  # was replaced
        assert await release_blocks(pool, NEXT_DAY + timedelta(days=3)) == 1

    stream.run(act)


@pytest.mark.parametrize("seed", range(4))
def test_any_answer_is_a_sum_of_whole_blocks(url: str, seed: int) -> None:
    """Whatever range is asked for: times of people make every sum of some of them unlike every other."""
    draw = Random(seed)
    stream = GroupedStream.create(url, groups_of=draw.randrange(2, 9))
    people = [stream.person(draw.randrange(96), lasts_s=3 + 2**place) for place in range(11)]

    async def act(pool: Pool) -> None:
        await stream.write(pool, people)
        await release_blocks(pool, OVER)
        blocks = stream.read("SELECT told, looking_us / 1000000 FROM metrics_block")
        sums = {(0, 0)}
        for told, seconds in blocks:
            sums |= {(told + other_told, seconds + other) for other_told, other in sums}
        for _ in range(60):
            begin, end = sorted(DAY + timedelta(seconds=draw.randrange(86_400)) for _ in range(2))
            found = (await stream.ask(pool, begin, end + SLOT)).entities["global"]
            known = found["gender"]["female"]
            assert (known, round((found["stop_time"]["value"] or 0) * known)) in sums

    stream.run(act)
