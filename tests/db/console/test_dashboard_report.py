"""Every number of a report is the data endpoint's, whatever the world, the zone and the range."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from onlooker.console.dashboard.period import Period
from onlooker.console.dashboard.report import Report, all_buckets, draw_week, find_gap, make_query, read_report
from onlooker.database import Pool
from onlooker.metrics.changes import sum_figures
from onlooker.metrics.coverage import BucketCoverage, read_coverage
from onlooker.metrics.definitions import METRICS, Unit
from onlooker.metrics.execution import run_query
from onlooker.metrics.query import Query, Time
from testkit.worlds.player import Player
from testkit.worlds.search import running_player

pytest_plugins = ["migrated"]


@pytest.fixture(scope="module")
def played(database: str) -> Iterator[tuple[asyncio.Runner, Player]]:
    with asyncio.Runner() as runner, running_player(runner, database) as player:
        yield runner, player


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


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2025-10-26", 25)])
def test_the_day_on_which_clocks_change_has_the_hours_that_it_has(
    played: tuple[asyncio.Runner, Player], day: str, hours: int
) -> None:
    runner, player = played
    paris = ZoneInfo("Europe/Paris")
    begins = datetime.fromisoformat(day)
    from_at, to_at = (at.replace(tzinfo=paris).astimezone(UTC) for at in (begins, begins + timedelta(days=1)))
    period = Period("", from_at, to_at, from_at - timedelta(days=1), from_at, paris, begins, begins, is_moving=False)
    assert period.time is Time.BY_HOUR

    async def run() -> Report:
        [stream] = await player.reader.make_streams(("Europe/Paris",), retention_days=3650)
        return await check(player.reader.pool, stream.id, period, to_at + timedelta(days=1))

    report = runner.run(run())
    assert len(report.points) == hours
    assert {point.gap for point in report.points} == {"offline"}
