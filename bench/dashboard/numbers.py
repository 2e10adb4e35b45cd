"""All named periods and some ranges of the streams that have a past, as pages and as tables to download."""

import csv
import io
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from bench.dashboard.asked import Source
from bench.dashboard.comparing import compare_before, compare_report
from bench.dashboard.figures import Figure
from bench.dashboard.stage import Stage, dashboard_path
from bench.dashboard.week import check_week
from bench.dashboard.world import Screen, open_source
from bench.data_client import ENTITIES_CSV
from onlooker.metrics.definitions import METRICS

PERIODS = ("today", "24h", "3d", "7d", "30d")
COMPARED_AT_LEAST = 1000
_FETCH = (
    "const [url, done] = arguments; fetch(url).then((answer) => answer.text()).then(done, (fault) => done(`${fault}`))"
)


def compare_numbers(stage: Stage) -> list[Figure]:
    compared_before = stage.compared
    for screen in stage.world.filled:
        source = open_source(stage.stack, screen)
        for period in PERIODS:
            shown = stage.open_dashboard(screen, period=period)
            compare_report(stage, shown, source, f"{screen.name} {period}")
        for from_, to in ranges_of(screen):
            shown = stage.open_dashboard(screen, from_=from_, to=to)
            compare_report(stage, shown, source, f"{screen.name} {from_} to {to}")
            if "T" not in from_:
                check_week(stage, shown, source, screen, f"{screen.name} {from_} to {to}")
                compare_before(stage, shown, source, days_before(screen, from_, to), f"{screen.name} {from_} to {to}")
            compare_table(stage, screen, source, (from_, to), (shown.from_date, shown.to_date, shown.time))
    return [Figure("numbers_compared", stage.compared - compared_before, at_least=COMPARED_AT_LEAST)]


def ranges_of(screen: Screen) -> list[tuple[str, str]]:
    """A day, part of one, some weeks with odd edges, and more than is there: so many days that bars touch."""
    today = datetime.now(UTC).astimezone(ZoneInfo(screen.zone)).date()
    before = [today - timedelta(days=days) for days in (1, 5, 20, 130)]
    return [
        (f"{before[1]}", f"{before[1]}"),
        (f"{before[1]}T09:17", f"{before[1]}T18:43"),
        (f"{before[2]}T10:30", f"{before[0]}T16:05"),
        (f"{before[3]}", f"{before[0]}"),
    ]


def days_before(screen: Screen, from_: str, to: str) -> tuple[str, str]:
    """As many whole days before some whole days, as the data endpoint is asked for them."""
    first = date.fromisoformat(from_)
    days = date.fromisoformat(to) - first + timedelta(days=1)
    zone = ZoneInfo(screen.zone)
    begins, ends = (datetime.combine(day, time(), zone).isoformat() for day in (first - days, first))
    return begins, ends


def _without_numbers(row: dict[str, str]) -> dict[str, str]:
    """Before a stream existed the endpoint has zeros, as the interface says, and the page nothing."""
    return {name: value if name in ("bucket", "exact") else "" for name, value in row.items()}


def compare_table(
    stage: Stage, screen: Screen, source: Source, period: tuple[str, str], shown: tuple[str, str, str]
) -> None:
    """Each cell that the data endpoint's table has, too."""
    path = dashboard_path(screen, from_=period[0], to=period[1]).replace("/dashboard/", "/dashboard/table.csv")
    text = stage.person.browser.execute_async_script(_FETCH, path)
    from_date, to_date, cut = shown
    wished = {"metrics": ",".join(METRICS), "time": cut, "tz": source.zone}
    asked = source.client.get(ENTITIES_CSV, params=wished | {"from_date": from_date, "to_date": to_date})
    wanted = list(csv.DictReader(io.StringIO(asked.text)))
    found = list(csv.DictReader(io.StringIO(text)))
    where = f"{screen.name} table of {period[0]} to {period[1]}"
    stage.compare(len(found), len(wanted), f"{where}, rows")
    for row, asked_row in zip(found, wanted, strict=False):
        bucket = f"{where}, {asked_row['bucket']}"
        is_before = row.get("gap") == "not_created"
        stage.check(not is_before or asked_row["passing_by"] == "0", f"{bucket}: somebody before the stream existed")
        right = _without_numbers(asked_row) if is_before else asked_row
        stage.compare({name: row.get(name) for name in right}, right, bucket)
    stage.check({"watched", "gap"} <= set(found[0] if found else ()), f"{where}: it does not say what was watched")
