"""Any number over time: by a click on it, a second one beside it, a ghost, opening hours, and today to its end."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

from selenium.webdriver.common.by import By
from selenium.webdriver.support.select import Select

from bench.journeys.dashboard.comparison import EN_DASH, PERCENT, is_told, number_of, reads_as
from bench.journeys.dashboard.page import Shown, read_page, settle
from bench.journeys.dashboard.stage import DataSource, Screen, Stage, open_source
from bench.journeys.figures import JourneyFigure
from bench.lib.browser import console_errors, print_pages

METRICS = ("passing_by", "interested", "conversion", "stop_time", "attention_time", "satisfaction", "stopped")
ASKED = ("passing_by", "interested", "stop_time", "attention_time", "satisfaction", "stopped", "emotion")
HURRIES = (
    ["chart-stop_time", "chart-attention_time"],
    ["chart-stop_time", "chart-attention_time", "chart-conversion", "period-30d"],
    ["period-30d", "period-3d"],
)
OPEN_AT, CLOSES_AT = 9, 19
HOURS = "mo-sa 09:00-19:00"
_OPEN = """
INSERT INTO streams_openinghours (stream_id, since_at, hours, time_zone) VALUES (%s, now() - interval '90 days', %s, %s)
RETURNING id"""
_SHUT = "DELETE FROM streams_openinghours WHERE stream_id = %s RETURNING id"
_PARTS = "const parts = ['report', 'time-chart', 'headlines'].map((id) => document.getElementById(id)).filter(Boolean);"
_CLICK_ALL = "for (const id of arguments[0]) document.getElementById(id).click();"
_MARK = _PARTS + "for (const part of parts) part.dataset.seen = 'yes';"
_IS_OTHER = _PARTS + "return !!parts[0]?.dataset.from && parts.some(({dataset}) => !dataset.seen);"
_DRAWN = """
const option = document.querySelector("figure[data-chart=time]").drawnOption;
const series = option.series.filter(({type, silent}) => type === "line" && !silent);
return {
    slots: option.xAxis[0].data.length,
    lines: series.map(({data, yAxisIndex}) => ({axis: yAxisIndex, values: data.map((item) => item?.value ?? null)})),
    axes: option.yAxis.filter(({show}) => show !== false).map(({name}) => name ?? ""),
};
"""


def chart_numbers(stage: Stage) -> list[JourneyFigure]:
    before = stage.compared
    source = open_source(stage.stack, stage.world.shop)
    chart_each(stage, source)
    put_beside(stage, source)
    put_behind(stage, source)
    keep_to_hours(stage, source)
    look_at_today(stage, source)
    hurry(stage)
    return [JourneyFigure("line_numbers_compared", stage.compared - before, at_least=200)]


def chart_each(stage: Stage, source: DataSource) -> None:
    """From one number to the next by clicks, then back by a click on the last."""
    stage.open_dashboard(stage.world.shop, period="30d")
    for metric in METRICS:
        shown = change(stage, lambda: stage.person.browser.find_element(By.ID, f"chart-{metric}").click())  # noqa: B023
        stage.check(f"metric={metric}" in stage.person.browser.current_url, f"{metric}: the address does not say so")
        compare_line(stage, shown, "main", told_values(source, shown, metric), f"30 days of {metric}")
    stage.look("line-stopped", alike=True)
    shown = change(stage, lambda: stage.person.browser.find_element(By.ID, "chart-stopped").click())
    stage.check("metric" not in stage.person.browser.current_url, "a second click does not lead back")
    stage.check(not shown.data["chart"]["lines"], "the usual chart has a line")
    stage.open_dashboard(stage.world.shop, period="3d", metric="satisfaction")
    stage.look("line-too-few")
    shown = read_page(stage.person.browser)
    few = [shown.charts["time"].rows[place][1] for place in shown.line("main")["few"]]
    stage.check(bool(few) and set(few) == {"too few"}, f"hours of few people are written as {set(few)}")
    sheets = print_pages(stage.person.browser, stage.pictures / "print-satisfaction.pdf")
    stage.check(sheets == 1, f"a chart of satisfaction is printed on {sheets} sheets")


def put_beside(stage: Stage, source: DataSource) -> None:
    stage.open_dashboard(stage.world.shop, period="7d", metric="stop_time")
    shown = choose(stage, "beside", "interested")
    compare_line(stage, shown, "beside", told_values(source, shown, "interested"), "interested beside stop time")
    axes = drawn(stage)["axes"]
    stage.check(axes == ["Stop time (s)", "Interested"], f"two axes are called {axes}")
    stage.look("second-number")
    museum = stage.world.museum
    shown = choose(stage, "beside", museum.client_id)
    theirs = told_values(_by_clock_of(open_source(stage.stack, museum), source), shown, "stop_time")
    compare_line(stage, shown, "beside", theirs, "another stream beside", is_watched=False)
    stage.check(len(drawn(stage)["axes"]) == 1, "the same number of another stream has an axis of its own")
    stage.look("second-stream", alike=True)


def _by_clock_of(source: DataSource, other: DataSource) -> DataSource:
    return DataSource(source.client, other.zone)


def put_behind(stage: Stage, source: DataSource) -> None:
    """The same weekdays of the weeks before: of 7 days those 7 days earlier."""
    stage.open_dashboard(stage.world.shop, period="7d", metric="attention_time")
    shown = choose(stage, "ghost", "before")
    zone = ZoneInfo(source.zone)
    begins = datetime.fromisoformat(shown.from_date).astimezone(zone).replace(tzinfo=None) - timedelta(days=7)
    ends = (at.replace(tzinfo=zone).astimezone(UTC).isoformat() for at in (begins, begins + timedelta(days=7)))
    buckets = source.ask(*ends, time="by_day", metrics=ASKED)
    compare_line(
        stage,
        shown,
        "ghost",
        [_told("attention_time", values) for values in buckets.values()],
        "ghost",
        is_watched=False,
    )
    head = shown.charts["time"].head[0]
    stage.check(f"{begins:%a} {begins.day} {begins:%b}" in head[2], f"the ghost's column is called {head[2]!r}")
    stage.look("ghost")
    shown = choose(stage, "ghost", "date")
    stage.check(bool(stage.person.browser.find_elements(By.ID, "choice-ghost-date")), "no date can be chosen")
    stage.look("ghost-of-a-date", alike=True)


def keep_to_hours(stage: Stage, source: DataSource) -> None:
    """The quarters of an hour that lie in the opening hours, added up from the data endpoint."""
    with opening_hours(stage, stage.world.shop):
        plain = stage.open_dashboard(stage.world.shop, period="7d")
        shown = change(stage, lambda: stage.person.browser.find_element(By.ID, "choice-hours").click())
        quarters = source.ask(
            shown.from_date, shown.to_date, time="by_quarter_hour", metrics=("passing_by", "interested")
        )
        inside = [values for key, values in quarters.items() if is_open(key, source.zone)]
        for metric in ("passing_by", "interested"):
            total = sum(values[metric]["value"] for values in inside)
            stage.compare(int(shown.headlines[metric].value), total, f"{metric} in opening hours")
            days = sum(point[metric] or 0 for point in shown.points)
            stage.compare(days, total, f"days of {metric} in opening hours")
        fewer = int(shown.headlines["passing_by"].value) < int(plain.headlines["passing_by"].value)
        stage.check(fewer, "nobody came outside the opening hours")
        stage.check("Opening hours only: a visit counts" in shown.words, "the page does not say that it left some out")
        stage.look("opening-hours")


def is_open(key: str, zone: str) -> bool:
    at = datetime.fromisoformat(key).astimezone(ZoneInfo(zone))
    return at.weekday() < 6 and OPEN_AT <= at.hour < CLOSES_AT


@contextmanager
def opening_hours(stage: Stage, screen: Screen) -> Iterator[None]:
    stage.stack.execute(_OPEN, screen.id, HOURS, screen.zone)
    try:
        yield
    finally:
        stage.stack.execute(_SHUT, screen.id)


def look_at_today(stage: Stage, source: DataSource) -> None:
    """The axis has all hours of the day; bars end with the hour that has begun, yesterday's line goes on."""
    shown = stage.open_dashboard(stage.world.shop, period="today")
    zone, chart = ZoneInfo(source.zone), shown.charts["time"]
    midnight = datetime.fromisoformat(shown.from_date).astimezone(zone).replace(tzinfo=None)
    before, now, after = ((midnight + timedelta(days=day)).replace(tzinfo=zone).astimezone(UTC) for day in (-1, 0, 1))
    hours = round((after - now) / timedelta(hours=1))
    stage.compare(drawn(stage)["slots"], hours, "hours of today on the axis")
    stage.compare(len(chart.rows) + len(chart.ahead), hours, "hours of today in the table")
    bars = next(series["data"] for series in chart.series if series.get("name") == "Passing by")
    stage.compare(len(bars), len(shown.points), "bars of today")
    asked = source.ask(before.isoformat(), now.isoformat(), time="by_hour", metrics=ASKED)
    if len(asked) == hours:  # else a clock was set on one of the two days
        wanted = [values["passing_by"]["value"] for values in asked.values()]
        compare_line(stage, shown, "ghost", wanted, "yesterday behind today", is_watched=False)
    stage.check(all(row[1] == EN_DASH for row in chart.ahead), f"hours to come have numbers: {chart.ahead[:2]}")
    stage.look("today-ghost")
    shown = choose(stage, "ghost", "none")
    stage.check(not shown.line("ghost"), "the ghost can't be switched off")


def hurry(stage: Stage) -> None:
    """Clicks that do not wait for what came of the one before: the page shows what its address says."""
    for clicks in HURRIES:
        stage.open_dashboard(stage.world.shop, period="7d")
        stage.person.browser.execute_script(_CLICK_ALL, clicks)
        settle(stage.person.browser)
        asked = parse_qs(urlsplit(stage.person.browser.current_url).query)
        shown, said = read_page(stage.person.browser), " then ".join(clicks)
        again = stage.open_dashboard(stage.world.shop, **{name: value for name, [value] in asked.items()})
        stage.compare((shown.from_date[:10], shown.time), (again.from_date[:10], again.time), said)
        stage.compare(shown.data["chart"], again.data["chart"], f"{said}, the chart")
        stage.faults += [f"{said}: {one}" for one in console_errors(stage.person.browser)]
        last = clicks[-1].rpartition("-")[2]
        stage.check(last in (*asked.get("metric", []), *asked["period"]), f"{said} leads to {asked}")


def choose(stage: Stage, name: str, value: str) -> Shown:
    """In the control below the chart."""
    select = Select(stage.person.browser.find_element(By.ID, f"choice-{name}"))
    return change(stage, lambda: select.select_by_value(value))


def change(stage: Stage, act: Callable[[], None]) -> Shown:
    """What the page shows once it or a part of it shows something else."""
    browser = stage.person.browser
    browser.execute_script(_MARK)
    act()
    stage.person.wait(lambda: bool(browser.execute_script(_IS_OTHER)), "another report")
    settle(browser)
    return read_page(browser)


def drawn(stage: Stage) -> dict[str, Any]:
    found: dict[str, Any] = stage.person.browser.execute_script(_DRAWN)
    return found


def told_values(source: DataSource, shown: Shown, metric: str) -> list[float | None]:
    """Bucket by bucket, as a page tells them."""
    buckets = source.ask(shown.from_date, shown.to_date, time=shown.time, metrics=ASKED)
    return [_told(metric, values) for values in buckets.values()]


def _told(metric: str, values: Mapping[str, dict[str, Any]]) -> float | None:
    if metric == "stopped":
        return float(values[metric]["value"])
    return number_of(metric, dict(values)) if is_told(metric, dict(values)) else None


def compare_line(
    stage: Stage, shown: Shown, role: str, asked: Sequence[float | None], where: str, *, is_watched: bool = True
) -> None:
    """Its data, its drawing and its column. Of gaps of other ranges and streams nothing is known here."""
    line, chart = shown.line(role), shown.charts["time"]
    if not line:
        stage.faults.append(f"{where}: there is no such line")
        return
    gaps = [bool(point["gap"]) for point in shown.points] if is_watched else [value is None for value in line["values"]]
    wanted = [None if gap else value for gap, value in zip(gaps, asked, strict=False)]
    stage.check(is_watched or not any(value for gap, value in zip(gaps, asked, strict=False) if gap), f"{where}: a gap")
    stage.compare(line["values"][: len(wanted)], wanted, where)
    stage.compared += len(wanted)
    place = next((number for number, name in enumerate(chart.head[0]) if name.startswith(line["name"])), 0)
    stage.check(place > 0, f"{where}: no column is called {line['name']!r}: {chart.head[0]}")
    scale = PERCENT.get(line["metric"], 1)
    rows = [*chart.rows, *chart.ahead]
    for row, value in zip(rows, wanted, strict=False):
        stage.check(reads_as(row[place], value, scale), f"{where}: {value} is written as {row[place]!r}")
    if role == "main" and not line["unit"]:
        found: list[Any] = next((series["data"] for series in chart.series if series.get("name") == line["metric"]), [])
        stage.compare(found, wanted, f"{where}, drawn")
        return
    painted = [one["values"] for one in drawn(stage)["lines"]]
    expected = [None if value is None else scale * value for value in line["values"]]
    stage.check(any(_is_alike(one, expected) for one in painted), f"{where}: what is drawn differs: {painted}")


def _is_alike(one: Sequence[float | None], other: Sequence[float | None]) -> bool:
    return len(one) == len(other) and all(
        left is right if left is None or right is None else abs(left - right) < 1e-9
        for left, right in zip(one, other, strict=True)
    )
