"""Every number of a page against the data endpoint's for the same range: words, values, tables and drawings."""

import csv
import io
import math
import re
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from bench.journeys.dashboard.changes import FEWEST_PEOPLE, compare_changes
from bench.journeys.dashboard.page import Chart, Shown
from bench.journeys.dashboard.stage import DataSource, Screen, Stage, dashboard_path, open_source
from bench.journeys.figures import JourneyFigure
from bench.lib.clients import ENTITIES_CSV
from onlooker.metrics.definitions import METRICS

PAINTED_WITHIN = 0.02
COUNTS = ("passing_by", "interested")
PERCENT = {"conversion": 100, "satisfaction": 100}
HEADLINES = ("passing_by", "interested", "conversion", "stop_time", "attention_time", "satisfaction")
NAMES = {
    "?": "Unknown",
    "female": "Women",
    "male": "Men",
    "young_female": "Young women",
    "young_male": "Young men",
    "senior_female": "Senior women",
    "senior_male": "Senior men",
}
EN_DASH = "\N{EN DASH}"
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def compare_report(stage: Stage, shown: Shown, source: DataSource, where: str) -> None:
    """Of a range that nothing is written into meanwhile."""
    totals = source.totals(shown.from_date, shown.to_date)
    for name in HEADLINES:
        value = number_of(name, totals) if is_told(name, totals) else None
        compare_headline(stage, shown, name, value, f"{where} {name}")
    compare_time(stage, shown, source, where)
    for name in ("gender", "category", "age", "emotion"):
        compare_breakdown(stage, shown, totals[name], name, where)
    compare_week(stage, shown, where)


def is_told(name: str, totals: dict[str, dict[str, Any]]) -> bool:
    """Pages tell no mean and no share of fewer than ten people."""
    people = {"passing_by": None, "interested": None, "conversion": totals["passing_by"]["value"]}
    if name == "satisfaction":
        people[name] = sum(count for part, count in totals["emotion"].items() if part != "?")
    counted = people.get(name, totals["interested"]["value"])
    return counted is None or counted >= FEWEST_PEOPLE


def number_of(name: str, totals: dict[str, dict[str, Any]]) -> float | None:
    if name == "conversion":
        passing_by = totals["passing_by"]["value"]
        return totals["interested"]["value"] / passing_by if passing_by else None
    value: float | None = totals[name]["value"]
    return value


def compare_headline(stage: Stage, shown: Shown, name: str, value: float | None, where: str) -> None:
    """Its exact value, and what is written there for people: no zero where nothing was watched."""
    headline = shown.headlines.get(name)
    if headline is None:
        stage.faults.append(f"{where}: there is no such number")
        return
    stage.compare(float(headline.value) if headline.value else None, value, where)
    is_gap = all(point["gap"] for point in shown.points)
    right = reads_as(headline.text, None if is_gap else value, PERCENT.get(name, 1))
    stage.check(right, f"{where}: {value} is written as {headline.text!r}")


def reads_as(text: str, value: float | None, scale: int = 1) -> bool:
    """Whether a text says this number, to the last digit that it has; no number where there is none."""
    found = _NUMBER.search(text)
    if value is None or found is None:
        return value is None and found is None
    written = found.group().replace(",", "")
    half = 0.5 * 10.0 ** -len(written.partition(".")[2])
    return abs(float(written) - scale * value) <= half * (1 + 1e-9)


def compare_time(stage: Stage, shown: Shown, source: DataSource, where: str) -> None:
    buckets = source.ask(shown.from_date, shown.to_date, time=shown.time, metrics=COUNTS)
    chart = shown.charts["time"]
    stage.compare([point["key"] for point in shown.points], list(buckets), f"{where} buckets")
    stage.compare(len(chart.rows), len(buckets), f"{where} rows of the time chart's table")
    for name, number in zip(COUNTS, (1, 2), strict=True):
        asked = [bucket[name]["value"] for bucket in buckets.values()]
        points = [point[name] for point in shown.points]
        gaps = [bool(point["gap"]) for point in shown.points]
        expected = [None if gap else value for gap, value in zip(gaps, asked, strict=True)]
        stage.check(not any(value for gap, value in zip(gaps, asked, strict=True) if gap), f"{where}: a gap has people")
        stage.compare(points, expected, f"{where} points of {name}")
        stage.compare(drawn_bars(chart, name), expected, f"{where} drawn {name}")
        rows = [reads_as(row[number], value) for row, value in zip(chart.rows, expected, strict=False)]
        stage.check(all(rows), f"{where}: rows of {name} in the time chart's table differ: {chart.rows[:3]}")
        stage.compared += len(asked) * 3
    compare_painted(stage, shown, where)


def compare_painted(stage: Stage, shown: Shown, where: str) -> None:
    """What is on the screen, not what a script meant to draw: bars as high against each other as their counts."""
    highest = {name: max((point[name] or 0 for point in shown.points), default=0) for name in COUNTS}
    painted = shown.charts["time"].tallest_px
    if highest["passing_by"]:
        expected = highest["interested"] / highest["passing_by"]
        found = painted["interested"] / painted["passing_by"] if painted["passing_by"] else math.nan
        stage.check(abs(found - expected) <= PAINTED_WITHIN, f"{where}: {highest} are painted {painted} px high")


def drawn_bars(chart: Chart, name: str) -> list[Any]:
    wanted = name.replace("_", " ").capitalize()
    return next((list(series["data"]) for series in chart.series if series.get("name") == wanted), [])


def compare_breakdown(stage: Stage, shown: Shown, asked: dict[str, int], name: str, where: str) -> None:
    """What is drawn leaves out parts with nobody in them, where it is a ring."""
    chart = shown.charts[name]
    if not any(asked.values()):
        stage.check(not chart.is_drawn, f"{where} {name}: a ring of nobody is drawn")
        return
    stage.compare(shown.data[name], asked, f"{where} {name}")
    written = {row[0].replace(EN_DASH, "-"): row[1] for row in chart.rows}
    for part, value in asked.items():
        stage.compared += 1
        text = written.get(NAMES.get(part, part.capitalize()), "nothing")
        stage.check(reads_as(text, value), f"{where} {name}: {part} is {value}, the table has {text!r}: {written}")
    drawn = sorted(item["value"] for series in chart.series for item in series["data"] if item["value"])
    stage.compare(drawn, sorted(value for value in asked.values() if value), f"{where} drawn {name}")


def compare_week(stage: Stage, shown: Shown, where: str) -> None:
    """Drawing and table against the page's own data; `check_week` holds that against hours."""
    week, chart = shown.data["week"], shown.charts["week"]
    cells = {(day, hour): value for day, hours in enumerate(week) for hour, value in enumerate(hours)}
    known = {place: value for place, value in cells.items() if value is not None}
    counted = [series for series in chart.series if series.get("name") != "Not in this period"]
    drawn = {(item["value"][1], item["value"][0]): item["value"][2] for series in counted for item in series["data"]}
    stage.compare(drawn, known, f"{where} drawn week")
    rows = [
        reads_as(text, value)
        for row, hours in zip(chart.rows, week, strict=False)
        for text, value in zip(row[1:], hours, strict=False)
    ]
    stage.check(len(rows) == len(cells) and all(rows), f"{where}: the week's table differs: {chart.rows[:1]}")
    stage.compared += len(rows)


WATCHED_FROM_S = 1800
"""Hours that were watched for less do not count."""
SLOT_S = 900
ROUNDED = 0.006
_COVERED = "SELECT slot_at, video_s FROM streams_coverage WHERE stream_id = %s AND slot_at >= %s AND slot_at < %s"


def check_week(stage: Stage, shown: Shown, source: DataSource, screen: Screen, where: str) -> None:
    """Of a range of whole days that are over."""
    watched_s: defaultdict[datetime, float] = defaultdict(float)
    for slot_at, video_s in stage.stack.execute(_COVERED, screen.id, shown.from_date, shown.to_date):
        watched_s[_hour_of(slot_at)] += min(video_s, SLOT_S)
    people, seconds = defaultdict[tuple[int, int], int](int), defaultdict[tuple[int, int], float](float)
    hours = source.ask(shown.from_date, shown.to_date, time="by_hour", metrics=("passing_by",))
    for key, values in hours.items():
        begins = datetime.fromisoformat(key)
        if watched_s[_hour_of(begins)] >= WATCHED_FROM_S:
            people[begins.weekday(), begins.hour] += values["passing_by"]["value"]
            seconds[begins.weekday(), begins.hour] += watched_s[_hour_of(begins)]
    for day, cells in enumerate(shown.data["week"]):
        for hour, value in enumerate(cells):
            asked = 3600 * people[day, hour] / seconds[day, hour] if seconds[day, hour] else None
            right = value is asked is None or (
                value is not None and asked is not None and abs(value - asked) <= ROUNDED
            )
            stage.compared += 1
            stage.check(right, f"{where} week, day {day} at {hour}: the page has {value}, {asked} is right")


def _hour_of(at: datetime) -> datetime:
    """Zones of the demo are whole hours apart from UTC."""
    at = at.astimezone(UTC)
    return at - timedelta(minutes=at.minute, seconds=at.second)


PERIODS = ("today", "24h", "3d", "7d", "30d")
COMPARED_AT_LEAST = 1000
_FETCH = (
    "const [url, done] = arguments; fetch(url).then((answer) => answer.text()).then(done, (fault) => done(`${fault}`))"
)


def compare_numbers(stage: Stage) -> list[JourneyFigure]:
    compared_before = stage.compared
    for screen in stage.world.filled:
        source = open_source(stage.stack, screen)
        for period in PERIODS:
            shown = stage.open_dashboard(screen, period=period)
            compare_report(stage, shown, source, f"{screen.name} {period}")
            compare_changes(stage, shown, screen, f"{screen.name} {period}")
        for from_, to in ranges_of(screen):
            shown = stage.open_dashboard(screen, from_=from_, to=to)
            compare_report(stage, shown, source, f"{screen.name} {from_} to {to}")
            compare_changes(stage, shown, screen, f"{screen.name} {from_} to {to}")
            if "T" not in from_:
                check_week(stage, shown, source, screen, f"{screen.name} {from_} to {to}")
            compare_table(stage, screen, source, (from_, to), (shown.from_date, shown.to_date, shown.time))
    return [JourneyFigure("numbers_compared", stage.compared - compared_before, at_least=COMPARED_AT_LEAST)]


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


def _without_numbers(row: dict[str, str]) -> dict[str, str]:
    """Before a stream existed the endpoint has zeros, as the interface says, and the page nothing."""
    kept = ("bucket", "exact", "watched", "gaps")
    return {name: value if name.startswith(kept) else "" for name, value in row.items()}


def compare_table(
    stage: Stage, screen: Screen, source: DataSource, period: tuple[str, str], shown: tuple[str, str, str]
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
