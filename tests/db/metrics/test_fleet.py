"""Numbers of many streams are the sums of their own, compared by days that were watched alike."""

import asyncio
import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import psycopg
import pytest

from onlooker.database import Pool
from onlooker.metrics.changes import ChangeDirection
from onlooker.metrics.comparison import NoComparison
from onlooker.metrics.definitions import METRICS
from onlooker.metrics.execution import run_query
from onlooker.metrics.fleet import (
    ALIKE_FROM,
    FleetNumbers,
    FleetPeriod,
    add_up,
    read_group,
    read_open_seconds,
    read_streams,
)
from onlooker.metrics.query import Query, Time
from onlooker.metrics.rollup import fill_slots
from onlooker.visits.partitions import Partitions
from onlooker.visits.writer import VisitWriter
from onlooker_pipeline.visits.visit import Visit
from recorder_process import create_stream, visit, with_pool
from testkit.day_oracle import COUNTED, TOLD, count_days

pytest_plugins = ["migrated"]

NOW = datetime.now(UTC).replace(hour=11, minute=0, second=0, microsecond=0) - timedelta(days=1)
ZONES = ("UTC", "Asia/Kolkata", "America/New_York", "Pacific/Kiritimati")
WEEK = FleetPeriod(7, NOW)
DAY = timedelta(days=1)
BY_DAY = (*COUNTED, "told", "still_us", "looking_us")


def make_stream(url: str, zone: str = "UTC", *, created_at: str = "2020-01-01T00:00:00Z") -> int:
    stream_id = create_stream(url, created_at=created_at)
    run(url, "UPDATE streams_stream SET time_zone = %s WHERE id = %s", zone, stream_id)
    return stream_id


def run(url: str, statement: str, *values: object) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode(), values)


def watch(url: str, stream_id: int, day: datetime, *, hours: float = 24.0) -> None:
    run(
        url,
        """INSERT INTO streams_coverage (stream_id, slot_at, video_s)
           SELECT %s, slot_at, 900 FROM generate_series(%s::timestamptz, %s, '15 minutes') slot_at""",
        stream_id,
        day,
        day + timedelta(hours=hours) - timedelta(minutes=15),
    )


def person(stream_id: int, at: datetime, lasts_s: float = 5.0) -> Visit:
    start = round(at.timestamp() * 1000)
    part = [(start, start + round(lasts_s * 1000))]
    return visit(stream_id, began_ms=start, revision=5, present=part, still=part, looking=part)


async def write(pool: Pool, visits: list[Visit]) -> None:
    assert await VisitWriter(pool, Partitions(pool)).write(visits) == []
    while await fill_slots(pool, due_s=0):
        pass


@pytest.mark.parametrize("seed", range(3))
def test_sums_are_those_of_the_oracle_and_of_each_streams_own_numbers(url: str, seed: int) -> None:
    draw = random.Random(seed)
    streams = {make_stream(url, zone): ZoneInfo(zone) for zone in ZONES}
    people = [
        person(
            draw.choice(list(streams)), NOW - timedelta(minutes=draw.randrange(12 * 24 * 60)), draw.choice([0.5, 2, 6])
        )
        for _ in range(150)
    ]

    async def act(pool: Pool) -> None:
        await write(pool, people)
        ids = list(streams)
        together, each = await asyncio.gather(read_group(pool, ids, WEEK), read_streams(pool, ids, WEEK))
        expected = dict.fromkeys((*COUNTED, *TOLD), 0)
        for stream_id, zone in streams.items():
            today = NOW.astimezone(zone).date()
            days = count_days((one for one in people if one.stream_id == stream_id), zone)
            inside = {day: amounts for day, amounts in days.items() if today - 7 * DAY < day <= today}
            own = {name: sum(amounts[name] for amounts in inside.values()) for name in expected}
            assert {name: each[stream_id].figures[name] for name in own} == own
            found = {day.day: {name: day.figures[name] for name in BY_DAY} for day in each[stream_id].days}
            assert found == {day: {name: amounts[name] for name in BY_DAY} for day, amounts in inside.items()}
            expected = {name: expected[name] + own[name] for name in expected}
            await compare_with_own(pool, stream_id, zone, each[stream_id])
        assert {name: together.figures[name] for name in expected} == expected
        assert together.values["passing_by"] == {"value": expected["passing_by"]}

    with_pool(url, act)


def test_streams_that_were_read_by_themselves_add_up_to_the_group(url: str) -> None:
    draw = random.Random(7)
    streams = [make_stream(url, zone) for zone in ZONES]
    people = [
        person(draw.choice(streams), NOW - timedelta(minutes=draw.randrange(14 * 24 * 60)), draw.choice([0.5, 2, 6]))
        for _ in range(150)
    ]
    for stream_id in streams:
        for ago in draw.sample(range(14), 12):
            watch(url, stream_id, NOW.replace(hour=0) - ago * DAY, hours=draw.choice([6, 23, 24]))

    async def act(pool: Pool) -> None:
        await write(pool, people)
        together, each = await asyncio.gather(read_group(pool, streams, WEEK), read_streams(pool, streams, WEEK))
        assert together.comparison.like.compared_s > 0
        assert add_up(each.values(), WEEK) == together

    with_pool(url, act)


async def compare_with_own(pool: Pool, stream_id: int, zone: ZoneInfo, numbers: FleetNumbers) -> None:
    """The data endpoint's numbers of the same local days: here no visit lies across an end of the range."""
    today = NOW.astimezone(zone).date()
    from_at, to_at = (
        datetime.combine(day, datetime.min.time(), zone).astimezone(UTC) for day in (today - 6 * DAY, today + DAY)
    )
    own = await run_query(pool, Query(stream_id, tuple(METRICS), from_at, to_at, zone, Time.GLOBAL))
    assert own.entities["global"] == numbers.values


def test_only_days_that_were_watched_alike_are_compared(url: str) -> None:
    stream_id = make_stream(url)
    midnight = NOW.replace(hour=0)
    for ago in range(14):
        watch(url, stream_id, midnight - ago * DAY, hours=11 if ago == 0 else 24 if ago != 9 else 12)
    people = [
        person(stream_id, midnight - ago * DAY + timedelta(hours=9, seconds=20 * one))
        for ago, count in [(ago, 40) for ago in range(1, 7)] + [(ago, 20) for ago in range(8, 14)]
        for one in range(count)
    ]

    async def act(pool: Pool) -> None:
        await write(pool, people)
        numbers = await read_group(pool, [stream_id], WEEK)
        like = numbers.comparison.like
        assert like.reason is None
        assert like.compared_s == 5 * 86_400  # not today, and not the day whose weekday was watched for half of it
        change = numbers.comparison.changes["passing_by"]["value"]
        assert (change.now, change.before, change.size, change.direction) == (200, 100, 2.0, ChangeDirection.UP)
        assert numbers.share == 1.0
        assert numbers.watched_s == 6 * 86_400 + 11 * 3600

    with_pool(url, act)
    assert 0.5 < ALIKE_FROM < 1


def test_there_is_no_comparison_without_days_before_or_with_too_few(url: str) -> None:
    fresh, off = make_stream(url), make_stream(url)
    watch(url, fresh, NOW.replace(hour=0) - 2 * DAY)

    async def act(pool: Pool) -> None:
        assert (await read_group(pool, [off], WEEK)).comparison.like.reason is NoComparison.NOT_WATCHED
        assert (await read_group(pool, [fresh], WEEK)).comparison.like.reason is NoComparison.NOT_WATCHED_BEFORE
        watch(url, fresh, NOW.replace(hour=0) - 9 * DAY)
        assert (await read_group(pool, [fresh], WEEK)).comparison.like.reason is NoComparison.TOO_LITTLE
        assert (await read_group(pool, [], WEEK)).values["passing_by"] == {"value": 0}

    with_pool(url, act)


def test_closed_time_and_time_before_the_stream_is_not_expected_to_be_watched(url: str) -> None:
    always, shop, new = make_stream(url), make_stream(url), make_stream(url, created_at=(NOW - DAY).isoformat())
    run(
        url,
        """INSERT INTO streams_openinghours (stream_id, since_at, hours, time_zone)
           VALUES (%s, %s, 'mo-su 09:00-17:00', 'UTC')""",
        shop,
        NOW - 100 * DAY,
    )

    async def act(pool: Pool) -> None:
        found = await read_open_seconds(pool, [always, shop, new], WEEK)
        assert found == {always: 6 * 86_400 + 11 * 3600, shop: (6 * 8 + 2) * 3600, new: 86_400}

    with_pool(url, act)


def test_blind_time_is_no_longer_than_what_was_not_watched(url: str) -> None:
    stream_id = make_stream(url)
    run(
        url,
        "INSERT INTO streams_blindness (stream_id, slot_at, fault, video_s) VALUES (%s, %s, 'black', 600)",
        stream_id,
        NOW - timedelta(hours=2),
    )

    async def act(pool: Pool) -> None:
        numbers = await read_group(pool, [stream_id], WEEK)
        assert (numbers.blind_s, numbers.watched_s) == (600, 0)

    with_pool(url, act)


def test_a_period_is_compared_with_as_few_weeks_before_as_do_not_overlap() -> None:
    assert [FleetPeriod(days, NOW).shift_days for days in (1, 7, 8, 30, 90)] == [7, 7, 14, 35, 91]
