"""The demo's last week, in which the camera was off on a Wednesday, is about the same as the week before."""

import asyncio
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from onlooker.console.dashboard.figures import Figure, make_figures
from onlooker.console.dashboard.period import parse_period
from onlooker.console.dashboard.report import make_query, read_report
from onlooker.database import open_pool
from onlooker.demo import PLACES, fill_demo
from onlooker.metrics.execution import run_query
from onlooker.metrics.query import Time
from onlooker.settings import Settings

pytest_plugins = ["migrated"]

MONDAY = datetime(2026, 11, 16, 12, tzinfo=UTC)


def test_a_wednesday_without_a_camera_is_no_fall(database: str) -> None:
    [shop] = fill_demo(database, days=20, places=PLACES[:1], now=MONDAY)
    zone = ZoneInfo(shop.place.zone)

    async def read() -> tuple[Figure, int]:
        async with open_pool(Settings(database_url=database)) as pool:
            week = parse_period({"from": "2026-11-09", "to": "2026-11-15"}, zone=zone, now=MONDAY)
            report = await read_report(pool, shop.id, week, now=MONDAY)
            before = parse_period({"from": "2026-11-02", "to": "2026-11-08"}, zone=zone, now=MONDAY)
            total = (await run_query(pool, make_query(shop.id, before, Time.GLOBAL))).entities["global"]
            return make_figures(report, reads_expression=True)[0], int(total["passing_by"]["value"] or 0)

    passing_by, before = asyncio.run(read())
    assert passing_by.metric == "passing_by"
    assert int(passing_by.value) < 0.85 * before, "the totals alone would say that many fewer came"
    assert (passing_by.change.direction, passing_by.change.words) == ("same", "about the same"), passing_by
    assert " of 168 h" in passing_by.change.compared
