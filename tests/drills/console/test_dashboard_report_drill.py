"""Every number of a report is the data endpoint's, whatever the world, the zone and the range."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from onlooker.console.dashboard.period import GRAINS, Period
from onlooker.console.dashboard.report import Report, all_buckets, draw_week, find_gap, make_query, read_report
from onlooker.database import Pool
from onlooker.metrics.changes import sum_figures
from onlooker.metrics.coverage import BucketCoverage, read_coverage
from onlooker.metrics.definitions import METRICS, Unit
from onlooker.metrics.execution import run_query
from onlooker.metrics.query import Query, Time
from onlooker.visits.writer import VisitWriter
from testkit.worlds.clocks import Era, moment_at
from testkit.worlds.player import Player
from testkit.worlds.search import running_player
from testkit.worlds.strategies import worlds
from testkit.worlds.world import Question, World

pytest_plugins = ["migrated"]

WORLDS = 15
SEED = 20261115
SLOT = timedelta(minutes=15)
LEAST = {
    "by_hour": timedelta(hours=5),
    "by_day": timedelta(days=4),
    "by_week": timedelta(days=17),
    "by_month": timedelta(days=70),
}
"""How long a range is at least for these buckets to be drawn."""
Slots = dict[int, float]
"""Seconds that were covered, by how many slots after the beginning of the range."""


@pytest.fixture(scope="module")
def played(database: str) -> Iterator[tuple[asyncio.Runner, Player]]:
    with asyncio.Runner() as runner, running_player(runner, database) as player:
        yield runner, player


def period_of(question: Question, zone: str) -> Period:
    from_at, to_at = (moment_at(at_us) for at_us in (question.from_us, question.to_us))
    to_at = max(to_at, from_at + LEAST.get(question.time, timedelta()))
    begins, ends = (at.replace(tzinfo=None) for at in (from_at, to_at))
    before = from_at - (to_at - from_at)
    by = next((grain.name for grain in GRAINS if grain.time == question.time), "")
    return Period("", from_at, to_at, before, from_at, ZoneInfo(zone), begins, ends, is_moving=False, by=by)


async def write(player: Player, world: World) -> list[int]:
    """All of its visits, and of their slots as many filled as the world says."""
    streams = await player.reader.make_streams(world.zones, retention_days=3650)
    writer = VisitWriter(player.reader.pool, player.partitions)
    for arrival in world.arrivals:
        await writer.write(
            [msgspec.structs.replace(one, stream_id=streams[one.stream_id].id) for one in arrival.visits]
        )
        await player.fill(arrival.fills)
    return [stream.id for stream in streams]


async def cover(pool: Pool, stream_id: int, from_at: datetime, slots: Slots) -> None:
    first = from_at - (from_at - datetime(1970, 1, 1, tzinfo=UTC)) % SLOT
    rows = [(stream_id, first + number * SLOT, video_s) for number, video_s in slots.items()]
    async with pool.connection() as connection, connection.cursor() as cursor:
        await cursor.execute("DELETE FROM streams_coverage WHERE stream_id = %s", [stream_id])
        await cursor.executemany("INSERT INTO streams_coverage (stream_id, slot_at, video_s) VALUES (%s, %s, %s)", rows)


async def entities(pool: Pool, query: Query) -> dict[str, dict[str, Any]]:
    return (await run_query(pool, query, size=100_000)).entities


async def check(pool: Pool, stream_id: int, period: Period, now: datetime) -> Report:
    report = await read_report(pool, stream_id, period, now=now)
    whole = make_query(stream_id, period, Time.GLOBAL)
    assert report.values == (await entities(pool, whole))["global"]
    sums = {name: METRICS[name].shape(sum_figures(rows)) for name, rows in report.comparison.clusters.items()}
    assert sums == {name: report.values[name] for name in sums}
    assert sorted(sums) == sorted(name for name, metric in METRICS.items() if metric.unit is not Unit.PARTS)
    by_time = replace(whole, time=period.time)
    await check_points(pool, report, by_time, now)
    by_hour = replace(whole, time=Time.BY_HOUR)
    hours = await read_coverage(pool, by_hour, all_buckets(by_hour), now=now)
    found = await entities(pool, by_hour)
    people = [values["passing_by"]["value"] for values in found.values()]
    begins = map(datetime.fromisoformat, found)
    of_week = [24 * moment.weekday() + moment.hour for moment in begins]
    expected = draw_week(of_week, people, [one.covered_s for one in hours])
    assert report.week == tuple(pytest.approx(day) for day in expected)
    return report


async def check_points(pool: Pool, report: Report, query: Query, now: datetime) -> None:
    found, covered = await entities(pool, query), await read_coverage(pool, query, all_buckets(query), now=now)
    assert [point.key for point in report.points] == list(found)
    for point, values, watched in zip(report.points, found.values(), covered, strict=True):
        counts = (values["passing_by"]["value"], values["interested"]["value"])
        is_gap = not any(counts) and find_gap(watched) is not None
        assert (point.passing_by, point.interested) == ((None, None) if is_gap else counts)
        assert point.gap == (find_gap(watched) if is_gap else None)
        assert_same(point.watched, watched)
    [whole] = await read_coverage(
        pool, replace(query, time=Time.GLOBAL), all_buckets(replace(query, time=Time.GLOBAL)), now=now
    )
    assert_same(report.watched, whole)


def assert_same(one: BucketCoverage, other: BucketCoverage) -> None:
    assert (one.length_s, one.covered_s) == pytest.approx((other.length_s, other.covered_s))
    assert one.missing == pytest.approx(other.missing, abs=1e-5)


def now_of(era: Era) -> datetime:
    return datetime.fromtimestamp(era.ends_s, UTC) + timedelta(days=100)


stretches = st.tuples(st.integers(0, 300), st.integers(1, 40), st.sampled_from((1.0, 450.0, 900.0, 2000.0)))
slots = st.lists(stretches, max_size=5).map(
    lambda drawn: {first + number: video_s for first, count, video_s in drawn for number in range(count)}
)


def test_every_number_of_random_worlds_is_the_data_endpoints(played: tuple[asyncio.Runner, Player]) -> None:
    runner, player = played
    seen = {**{grain.time.value: 0 for grain in GRAINS}, "gaps": 0, "people": 0, "week": 0}

    async def play(world: World, covered: Slots) -> None:
        pool = player.reader.pool
        streams = await write(player, world)
        for question in world.arrivals[-1].questions:
            stream_id, zone = streams[question.stream], question.tz or world.zones[question.stream]
            period = period_of(question, zone)
            await cover(pool, stream_id, period.from_at, covered)
            report = await check(pool, stream_id, period, now_of(world.era))
            seen[period.time.value] += 1
            seen["gaps"] += any(point.gap for point in report.points)
            seen["people"] += bool(report.values["passing_by"]["value"])
            seen["week"] += any(mean is not None for day in report.week for mean in day)

    @seed(SEED)
    @settings(
        max_examples=WORLDS,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(worlds(), slots)
    def play_all(world: World, covered: Slots) -> None:
        runner.run(play(world, covered))

    play_all()
    assert all(seen.values()), seen
