"""What is told of a grouped stream by gender and age together: whole weeks, frozen, of people of whole blocks."""

import threading
import uuid
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import psycopg
import pytest

from grouped_stream import DAY, GroupedStream, slot
from onlooker.database import Pool
from onlooker.errors import Problem
from onlooker.metrics import week_release
from onlooker.metrics.block_release import forget_blocks, release_blocks
from onlooker.metrics.breakdown import parse_breakdown
from onlooker.metrics.execution import Answer, run_query
from onlooker.metrics.query import Query, Time
from onlooker.metrics.week_release import release_weeks
from onlooker_pipeline.visits.visit import Visit

pytest_plugins = ["migrated"]

DAYS_OF_WEEK = 7
MONDAY = DAY - timedelta(days=DAY.weekday() + 3 * DAYS_OF_WEEK)
FIRST = (MONDAY - DAY) // timedelta(minutes=15)
"""The slot that begins that week."""
A_DAY, A_WEEK = 96, 96 * DAYS_OF_WEEK
WEEK = timedelta(days=DAYS_OF_WEEK)
OVER = MONDAY + WEEK + timedelta(minutes=2)
SOME = ("interested", "stop_time")
SURE: dict[str, Any] = {"age_confidence": 0.9}


def crowd(stream: GroupedStream, first: int, people: str, **changes: Any) -> list[Visit]:
    """In one slot: `f2` is a woman of some 20 years, `m?` a man of unknown age."""
    return [
        stream.person(
            FIRST + first,
            {"f": "female", "m": "male"}[one[0]],
            age=None if one[1] == "?" else 10.0 * int(one[1]) + 8,
            **SURE,
            **changes,
        )
        for one in people.split()
    ]


async def release(pool: Pool, now: datetime = OVER) -> int:
    await release_blocks(pool, now)
    return await release_weeks(pool, now)


async def ask(
    stream: GroupedStream,
    pool: Pool,
    *,
    from_at: datetime = MONDAY,
    to_at: datetime = MONDAY + WEEK,
    time: Time = Time.GLOBAL,
    zone: str = "UTC",
    metrics: tuple[str, ...] = SOME,
    **asked: str,
) -> Answer:
    breakdown = parse_breakdown(asked, shown=repr)
    return await run_query(pool, Query(stream.id, metrics, from_at, to_at, ZoneInfo(zone), time, breakdown=breakdown))


async def counts(stream: GroupedStream, pool: Pool, key: str = "global", **asked: Any) -> dict[tuple[str, ...], int]:
    """Of a bucket, its cells with anybody."""
    bucket = (await ask(stream, pool, **asked)).entities[key]
    found = {tuple(cell["by"].values()): cell["interested"]["value"] for cell in bucket["cells"]}
    assert bucket["interested"]["value"] == sum(found.values())
    return {parts: people for parts, people in found.items() if people}


async def refusal(stream: GroupedStream, pool: Pool, **asked: Any) -> str:
    with pytest.raises(Problem) as caught:
        await ask(stream, pool, **asked)
    assert "tells about people in groups" in caught.value.detail
    return caught.value.detail


TWO_DAYS = {40: "f2 f2 f2 m2 m2 m2", 140: "f2 f2 m2 m2 m2 f2"}


async def write_days(stream: GroupedStream, pool: Pool, days: dict[int, str] = TWO_DAYS) -> None:
    await stream.write(pool, [one for first, people in days.items() for one in crowd(stream, first, people)])


def test_a_week_is_told_by_gender_and_age_once_it_is_over(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=3)

    async def act(pool: Pool) -> None:
        await write_days(stream, pool)
        assert await release(pool, OVER - timedelta(minutes=1)) == 0
        assert "once it is over" in await refusal(stream, pool, by="age,gender")
        assert await release(pool) == 1
        assert await release(pool) == 0
        assert await counts(stream, pool, by="age,gender") == {("25-34", "female"): 6, ("25-34", "male"): 6}
        assert await counts(stream, pool, by="gender") == {("female",): 6, ("male",): 6}
        assert await counts(stream, pool, by="age") == {("25-34",): 12}
        assert await counts(stream, pool, by="age", filter="gender:female") == {("25-34",): 6}
        answer = await ask(stream, pool, filter="gender:female", metrics=("interested", "stop_time", "emotion"))
        (bucket,) = answer.entities.values()
        assert answer.exact
        assert bucket["interested"] == {"value": 6}
        assert bucket["stop_time"] == {"value": pytest.approx(33 / 6)}
        assert bucket["emotion"]["happiness"] == 6
        assert bucket["emotion"]["?"] == 0
        assert "cells" not in bucket

    stream.run(act)


def test_parts_with_too_few_people_are_told_together(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=3)

    async def act(pool: Pool) -> None:
        await write_days(stream, pool, {40: "f2 f2 f3 m3 f2 m2", 140: "f2 f2 m2 m2 f3 m2"})
        await release(pool)
        assert await counts(stream, pool, by="gender,age") == {("female", "25-34|35-44"): 7, ("male", "25-34|35-44"): 5}
        detail = await refusal(stream, pool, by="gender", filter="age:25-34")
        assert "age 25-34|35-44 is told only together" in detail
        kept = await counts(stream, pool, by="gender", filter="age:35-44,age:25-34")
        assert kept == {("female",): 7, ("male",): 5}

    stream.run(act)


def test_weeks_of_one_bucket_are_joined_to_parts_that_all_of_them_tell(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=3)
    other = {40 + A_WEEK: "f2 f2 f3 f3 f3 f2", 140 + A_WEEK: "f2 f3 f2 f2 f3 f3"}
    joined = {40: "f2 f2 f3 f2 f2 f2"}

    async def act(pool: Pool) -> None:
        await write_days(stream, pool, joined | other)
        assert await release(pool, OVER + WEEK) == 2
        both: dict[str, Any] = {"to_at": MONDAY + 2 * WEEK}
        assert await counts(stream, pool, by="age", **both) == {("25-34|35-44",): 18}
        weeks = await ask(stream, pool, by="age", time=Time.BY_WEEK, **both)
        told = [
            {cell["by"]["age"]: cell["interested"]["value"] for cell in week["cells"] if cell["interested"]["value"]}
            for week in weeks.entities.values()
        ]
        assert told == [{"25-34|35-44": 6}, {"25-34": 6, "35-44": 6}]
        assert "told only together of 20" in await refusal(stream, pool, filter="age:25-34", time=Time.BY_WEEK, **both)

    stream.run(act)


def test_what_else_is_asked_is_refused_with_what_can_be(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=3, time_zone="Europe/Paris")
    local = datetime(MONDAY.year, MONDAY.month, MONDAY.day, tzinfo=ZoneInfo("Europe/Paris"))
    whole: dict[str, Any] = {"from_at": local.astimezone(MONDAY.tzinfo), "zone": "Europe/Paris", "by": "age"}
    whole["to_at"] = datetime.fromtimestamp((local + WEEK).timestamp(), MONDAY.tzinfo)

    async def act(pool: Pool) -> None:
        await write_days(stream, pool)
        assert "No week of it is told yet" in await refusal(stream, pool, **whole)
        await release(pool)
        assert await counts(stream, pool, **whole) == {("25-34",): 12}
        remedy = f"from_date={local.isoformat()}"
        assert remedy in await refusal(stream, pool, **whole | {"zone": "UTC"})
        assert remedy in await refusal(stream, pool, **whole | {"time": Time.BY_DAY})
        assert remedy in await refusal(stream, pool, **whole | {"to_at": whole["to_at"] + timedelta(days=1)})
        assert remedy in await refusal(stream, pool, **whole | {"to_at": whole["to_at"] - timedelta(milliseconds=1)})
        assert remedy in await refusal(stream, pool, **whole | {"to_at": whole["to_at"] + WEEK})
        assert "only gender and age" in await refusal(stream, pool, **whole | {"by": "weekday"})
        assert "only gender and age" in await refusal(stream, pool, **whole | {"filter": "emotion:anger"})
        assert "category can't be" in await refusal(stream, pool, **whole | {"metrics": ("interested", "category")})
        week_before = datetime.fromtimestamp((local - WEEK).timestamp(), MONDAY.tzinfo)
        before = whole | {"from_at": week_before, "to_at": whole["from_at"]}
        assert "nothing can be told of these weeks" in await refusal(stream, pool, **before)
        stream.set("grid", True)
        with pytest.raises(Problem, match="on the grid"):
            await ask(stream, pool, **whole)

    stream.run(act)


def test_people_of_blocks_to_which_others_came_late_are_left_out(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=3)

    async def act(pool: Pool) -> None:
        await write_days(stream, pool)
        await release_blocks(pool, OVER)
        await stream.write(pool, crowd(stream, 40, "f2"))
        assert await release(pool) == 1
        assert await counts(stream, pool, by="gender") == {("female",): 3, ("male",): 3}

    stream.run(act)


def test_people_of_blocks_of_whom_something_else_is_known_by_now_are_left_out(url: str) -> None:
    """The block less its cells would be what one person's visit has changed by."""
    stream = GroupedStream.create(url, groups_of=3)
    late = uuid.uuid4().bytes

    async def act(pool: Pool) -> None:
        await write_days(stream, pool)
        await stream.write(pool, [stream.person(FIRST + 41, id=late, age=28.0, **SURE)])
        await release_blocks(pool, OVER)
        longer = stream.person(FIRST + 41, id=late, age=28.0, lasts_s=9.0, **SURE)
        await stream.write(pool, [msgspec.structs.replace(longer, revision=9)])
        assert await release(pool) == 1
        assert await counts(stream, pool, by="gender") == {("female",): 3, ("male",): 3}

    stream.run(act)


def test_who_deletes_a_block_deletes_its_week_and_it_is_not_told_again(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=3)
    later = {40 + A_WEEK: "f2 f2 f2"}

    async def act(pool: Pool) -> None:
        await write_days(stream, pool, TWO_DAYS | later)
        assert await release(pool, OVER + WEEK) == 2
        with psycopg.connect(url) as connection:
            forget_blocks(connection, stream.id, slot(FIRST + 40), slot(FIRST + 41))
        assert await release(pool, OVER + WEEK) == 0
        assert "nothing can be told" in await refusal(stream, pool, by="gender")
        assert await counts(stream, pool, by="gender", to_at=MONDAY + 2 * WEEK) == {("female",): 3}

    stream.run(act)
    assert stream.read("SELECT DISTINCT begins_at FROM metrics_weekcell") == [(MONDAY + WEEK,)]


def test_a_week_in_which_people_were_told_singly_is_never_told_by_parts(url: str) -> None:
    stream = GroupedStream.create(url)
    later = {40 + A_WEEK: "f2 f2 f2"}

    async def act(pool: Pool) -> None:
        await write_days(stream, pool, {40: TWO_DAYS[40]})
        stream.set("groups_of", 3)
        await write_days(stream, pool, {140: TWO_DAYS[140]} | later)
        assert await release(pool, OVER + WEEK) == 1
        assert stream.read("SELECT begins_at FROM metrics_week") == [(MONDAY + WEEK,)]

    stream.run(act)


def test_a_week_of_which_visits_were_deleted_is_not_told(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=3)

    async def act(pool: Pool) -> None:
        await write_days(stream, pool)
        since = slot(FIRST + 100)
        stream.read("DELETE FROM visits_visit WHERE began_at < %s", since)
        stream.read("INSERT INTO visits_kept (stream_id, since) VALUES (%s, %s)", stream.id, since)
        assert await release(pool) == 0

    stream.run(act)


def test_a_release_that_is_killed_leaves_nothing_and_is_repeated(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = GroupedStream.create(url, groups_of=3)

    def fail(*_: object) -> None:
        raise RuntimeError

    async def act(pool: Pool) -> None:
        await write_days(stream, pool)
        with monkeypatch.context() as patch:
            patch.setattr(week_release, "_add_cells", fail)
            with pytest.raises(RuntimeError):
                await release(pool)
        assert stream.read("SELECT FROM metrics_week") == []
        assert await release(pool) == 1
        assert await counts(stream, pool, by="gender") == {("female",): 6, ("male",): 6}

    stream.run(act)


def test_a_stream_that_tells_singly_again_still_tells_weeks_of_its_past(url: str) -> None:
    stream = GroupedStream.create(url, groups_of=3)

    async def act(pool: Pool) -> None:
        await write_days(stream, pool)
        await release(pool)
        stream.set("groups_of", 1)
        assert await counts(stream, pool, by="gender") == {("female",): 6, ("male",): 6}
        assert "Or ask for a later range than" in await refusal(stream, pool, by="weekday")

    stream.run(act)


def test_the_recorder_goes_on_while_parts_are_chosen(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may take seconds."""
    stream = GroupedStream.create(url, groups_of=3)
    threads = []

    def choose(*blocks: Any, least: int) -> None:
        threads.append(threading.current_thread())

    monkeypatch.setattr(week_release, "choose_parts", choose)

    async def act(pool: Pool) -> None:
        await write_days(stream, pool)
        assert await release(pool) == 0

    stream.run(act)
    assert len(threads) == 1
    assert threading.main_thread() not in threads
