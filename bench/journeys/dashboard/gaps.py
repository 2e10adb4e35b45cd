"""Times that nobody watched are gaps with a reason, never zeros; days on which clocks are set have all their hours."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from bench.journeys.dashboard.comparison import compare_report, drawn_bars
from bench.journeys.dashboard.page import Shown
from bench.journeys.dashboard.stage import Screen, Stage, open_source
from bench.journeys.figures import JourneyFigure
from onlooker.demo import PLACES, Place
from onlooker.demo.days import Gap, find_gaps

WORDS = {"offline": "offline", "disabled": "disabled", "quota": "monthly limit reached", "refused": "refused"}
SHORT_DAY_HOURS, USUAL_DAY_HOURS, LONG_DAY_HOURS = 23, 24, 25


def check_gaps(stage: Stage) -> list[JourneyFigure]:
    """Each lapse of the demo, hour by hour; then days that were missed altogether."""
    hours = 0
    now = datetime.now(UTC)
    for screen, place in zip((stage.world.shop, stage.world.museum), PLACES, strict=True):
        for gap in find_gaps(place, now=now):
            days = _local_days(gap, place)
            shown = stage.open_dashboard(screen, from_=str(days[0]), to=str(days[-1]))
            hours += check_hours(stage, shown, gap, f"{screen.name} {gap.why} {days[0]}")
            stage.look(f"gap-{gap.why}-{screen.name.split()[0].lower()}-{days[0]}", alike=True)
    shown = stage.open_dashboard(stage.world.shop, period="30d")
    missed = check_days(stage, shown)
    return [
        JourneyFigure("gap_hours_checked", hours, at_least=1),
        JourneyFigure("gap_days_checked", missed, at_least=1),
    ]


def _local_days(gap: Gap, place: Place) -> tuple[date, date]:
    zone = ZoneInfo(place.zone)
    last = (gap.to_at - timedelta(seconds=1)).astimezone(zone).date()
    first = gap.from_at.astimezone(zone).date()
    return first, min(last, first + timedelta(days=2))  # more are drawn as days


def check_hours(stage: Stage, shown: Shown, gap: Gap, where: str) -> int:
    """Every hour that lies inside the gap, in the data, the drawing and the table; how many there are."""
    chart = shown.charts["time"]
    bands: list[Any] = next((series["data"] for series in chart.series if series.get("name") == "Not watched"), [])
    inside = [
        number
        for number, point in enumerate(shown.points)
        if gap.from_at <= datetime.fromisoformat(point["key"]) and datetime.fromisoformat(point["to"]) <= gap.to_at
    ]
    stage.check(bool(inside), f"{where}: no hour lies inside it")
    for number in inside:
        point, row = shown.points[number], chart.rows[number]
        stage.check(point["gap"] == gap.why, f"{where}: {point['key']} is {point['gap']!r}")
        for name in ("passing_by", "interested"):
            stage.check(point[name] is None, f"{where}: {point['key']} has {name} {point[name]}")
            stage.check(drawn_bars(chart, name)[number] is None, f"{where}: {point['key']} is drawn as {name}")
        stage.check(bool(bands) and bands[number] is not None, f"{where}: {point['key']} has no hatched band")
        stage.check(WORDS[gap.why] in " ".join(row).lower(), f"{where}: the table's row is {row}")
        stage.check(WORDS[gap.why] in point["words"].lower(), f"{where}: its words are {point['words']!r}")
    labels = [band["label"] for number in inside if (band := bands[number]) and band.get("label")] if bands else []
    stage.check(bool(labels) or len(inside) < 2, f"{where}: no reason is written into the drawing")
    return len(inside)


def check_days(stage: Stage, shown: Shown) -> int:
    missed = [point for point in shown.points if point["gap"]]
    for point in missed:
        stage.check(point["passing_by"] is None and bool(point["words"]), f"30 days: the gap {point} is not one")
    return len(missed)


def check_clock_changes(stage: Stage) -> list[JourneyFigure]:
    """The last day of 25 hours and the last of 23 in the stream with a year behind it."""
    screen = stage.world.year
    source = open_source(stage.stack, screen)
    counted = []
    for hours in (LONG_DAY_HOURS, SHORT_DAY_HOURS):
        day = last_day_of(hours, screen)
        shown = stage.open_dashboard(screen, from_=str(day), to=str(day))
        compare_report(stage, shown, source, f"{day} with {hours} hours")
        labels = [point["label"] for point in shown.points]
        stage.check(len(set(labels)) == len(labels), f"{day}: two hours have one name: {labels}")
        stage.compare(len(shown.charts["time"].rows), hours, f"{day}, rows")
        stage.look(f"day-of-{hours}-hours", alike=True)
        counted.append(JourneyFigure(f"hours_of_day_of_{hours}", len(shown.points), at_least=hours, at_most=hours))
    return counted


def last_day_of(hours: int, screen: Screen) -> date:
    zone = ZoneInfo(screen.zone)
    day = datetime.now(zone).date()
    while True:
        day -= timedelta(days=1)
        ends = _midnight(day + timedelta(days=1), zone)
        if ends - _midnight(day, zone) == timedelta(hours=hours):
            return day


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)
