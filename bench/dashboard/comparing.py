"""Every number of a page against the data endpoint's for the same range: words, values, tables and drawings."""

import math
import re
from typing import Any

from bench.dashboard.asked import Source
from bench.dashboard.shown import Chart, Shown
from bench.dashboard.stage import Stage

PAINTED_WITHIN = 0.02
COUNTS = ("passing_by", "interested")
PERCENT = {"conversion": 100, "satisfaction": 100}
HEADLINES = ("passing_by", "interested", "conversion", "stop_time", "attention_time", "satisfaction")
NAMES = {
    "?": "Not known",
    "female": "Women",
    "male": "Men",
    "young_female": "Young women",
    "young_male": "Young men",
    "senior_female": "Senior women",
    "senior_male": "Senior men",
}
EN_DASH = "\N{EN DASH}"
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def compare_report(stage: Stage, shown: Shown, source: Source, where: str) -> None:
    """Of a range that nothing is written into meanwhile."""
    totals = source.totals(shown.from_date, shown.to_date)
    for name in HEADLINES:
        value = number_of(name, totals)
        compare_headline(stage, shown, name, value, f"{where} {name}")
    compare_time(stage, shown, source, where)
    for name in ("gender", "category", "age", "emotion"):
        compare_breakdown(stage, shown, totals[name], name, where)
    compare_week(stage, shown, where)


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


def compare_before(stage: Stage, shown: Shown, source: Source, before: tuple[str, str], where: str) -> None:
    """The numbers of the time before that changes are told from, as far as they are written there."""
    totals = source.totals(*before)
    for name, headline in shown.headlines.items():
        if headline.before:
            value = number_of(name, totals)
            stage.compared += 1
            right = reads_as(headline.before, value, PERCENT.get(name, 1))
            stage.check(right, f"{where} {name} before: {value} is written as {headline.before!r}")


def reads_as(text: str, value: float | None, scale: int = 1) -> bool:
    """Whether a text says this number, to the last digit that it has; no number where there is none."""
    found = _NUMBER.search(text)
    if value is None or found is None:
        return value is None and found is None
    written = found.group().replace(",", "")
    half = 0.5 * 10.0 ** -len(written.partition(".")[2])
    return abs(float(written) - scale * value) <= half * (1 + 1e-9)


def compare_time(stage: Stage, shown: Shown, source: Source, where: str) -> None:
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
