"""How heavy and how fast a dashboard is that has a year behind it."""

import statistics
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from bench.journeys.dashboard.page import read_page
from bench.journeys.dashboard.stage import Stage, dashboard_path
from bench.journeys.figures import JourneyFigure
from bench.lib.browser import Browser, first_useful_paints, load_cold

WEIGHT_TARGET_BYTES = 400_000
FIRST_PAINT_TARGET_MS = 400
PAINT_TARGET_MS = 1000
CHANGE_TARGET_MS = 300
HEADLINE = "#report [data-metric=satisfaction]"
"""The last of the headline numbers: where it is, the others are."""
YEAR_DAYS = 365
WARM_UP = 2
LINES: tuple[tuple[str, dict[str, str]], ...] = (
    ("change_to_a_number_ms", {}),
    ("change_with_ghost_and_second_ms", {"beside": "satisfaction", "ghost": "before"}),
)
"""Of this year, day by day."""

# From the click to the frame in which the new numbers and every chart of them are on the screen. Nobody clicks while
# the page still settles what came before: each begins when it is at rest.
_CHANGE = """
const [address, done] = arguments;
const before = document.getElementById("report");
const wanted = new URL(address, location.href).search;
let began;
const isThere = (report) => report && report !== before && location.search === wanted
    && report.querySelector("[data-metric]")
    && [...report.querySelectorAll("figure.chart")].every((figure) => figure.dataset.drawn === "yes");
const look = () => {
    if (isThere(document.getElementById("report"))) requestAnimationFrame(() => done(performance.now() - began));
    else requestAnimationFrame(look);
};
const begin = (act) => setTimeout(() => requestIdleCallback(() => {
    began = performance.now();
    act();
    look();
}), 100);
"""
_CLICK = _CHANGE + "begin(() => document.querySelector(`a[href$='${address}']`).click());"
_CHART = _CHANGE + "begin(() => document.getElementById('chart-stop_time').click());"
_CHOOSE = (
    _CHANGE
    + """
const form = document.querySelector("form:has([name=from])");
const parameters = new URL(address, location.href).searchParams;
form.elements.from.value = parameters.get("from");
form.elements.to.value = parameters.get("to");
begin(() => form.requestSubmit());
"""
)

# The section on who came, likewise: until every chart of it is drawn.
_WHO = """
const [wanted, done] = arguments;
const before = document.getElementById("who");
const report = document.getElementById("report");
let began;
let reported = 0;
const isDrawn = (figure) => ["yes", "empty"].includes(figure.dataset.drawn);
const isThere = (who) => who && who !== before && who.querySelector("figure.chart")
    && [...who.querySelectorAll("figure.chart")].every(isDrawn);
const look = () => {
    const shown = document.getElementById("report");
    if (!reported && shown && shown !== report) reported = performance.now() - began;
    if (isThere(document.getElementById("who"))) {
        requestAnimationFrame(() => done([performance.now() - began, reported]));
    } else requestAnimationFrame(look);
};
const begin = (act) => setTimeout(() => requestIdleCallback(() => {
    began = performance.now();
    act();
    look();
}), 100);
"""
_COME_NEAR = _WHO + "begin(() => before.scrollIntoView({block: 'start'}));"
_SELECT = _WHO + "begin(() => document.getElementById(wanted).click());"
_CHOOSE_CHART = (
    _WHO
    + """
const [name, value] = wanted;
begin(() => {
    const select = document.getElementById(`who-${name}`);
    select.value = value;
    select.dispatchEvent(new Event("change", {bubbles: true}));
});
"""
)
CHART_CHOICES = (
    ("mean", "attention_time"),
    ("across", "age,gender"),
    ("stay", "attention_band"),
    ("heat", "stop_time"),
    ("stay", "presence_band"),
    ("heat", "passing_by"),
)
"""The last two are of everybody who passed by."""
SEGMENT = "pyramid-25-34.female"


def measure_speed(stage: Stage) -> list[JourneyFigure]:
    """Cold loads with an empty cache, and clicks on periods, all of the stream with a year of visits."""
    browser, year = stage.person.browser, stage.world.year
    path = dashboard_path(year, period="30d")
    fetched = load_cold(browser, f"{stage.stack.console_url}{path}")
    read_page(browser)
    stage.check(all(one.status < 400 for one in fetched), f"speed: {fetched} has a refusal")
    weight = sum(one.sent_bytes for one in fetched)
    paints = first_useful_paints(browser, f"{stage.stack.console_url}{path}", HEADLINE, times=stage.repeats)
    changes = measure_changes(stage, browser)
    return [
        JourneyFigure("page_weight_bytes", weight, at_most=WEIGHT_TARGET_BYTES),
        JourneyFigure("page_requests", len(fetched)),
        JourneyFigure("first_paint_ms", _median(paint.first_ms for paint in paints), at_most=FIRST_PAINT_TARGET_MS),
        JourneyFigure("useful_paint_ms", _median(paint.useful_ms for paint in paints), at_most=PAINT_TARGET_MS),
        *changes,
        *measure_section(stage, browser),
    ]


def measure_changes(stage: Stage, browser: Browser) -> list[JourneyFigure]:
    """To 30 days and back to 7; to the whole year and back."""
    stage.open_dashboard(stage.world.year, period="7d")
    month, year = [], []
    today = datetime.now(UTC).date()
    whole = f"?from={today - timedelta(days=YEAR_DAYS)}T00:00&to={today}T00:00".replace(":", "%3A")
    for _ in range(stage.repeats + WARM_UP):
        month.append(browser.execute_async_script(_CLICK, "?period=30d"))
        browser.execute_async_script(_CLICK, "?period=7d")
    for _ in range(stage.repeats + WARM_UP):
        year.append(browser.execute_async_script(_CHOOSE, whole))
        browser.execute_async_script(_CLICK, "?period=7d")
    lines = [measure_line(stage, browser, number) for number in LINES]
    return [
        JourneyFigure("change_to_30_days_ms", _median(month[WARM_UP:]), at_most=CHANGE_TARGET_MS),
        JourneyFigure("change_to_a_year_ms", _median(year[WARM_UP:]), at_most=CHANGE_TARGET_MS),
        *lines,
    ]


def measure_line(stage: Stage, browser: Browser, number: tuple[str, dict[str, str]]) -> JourneyFigure:
    """Of the last year: to a number with all that can stand beside and behind it, and back."""
    name, more = number
    stage.open_dashboard(stage.world.year, period="year", by="day", **more)
    back = browser.current_url.partition("?")[2]
    there = f"{back}&metric=stop_time"
    times = []
    for _ in range(stage.repeats + WARM_UP):
        times.append(browser.execute_async_script(_CHART, f"?{there}"))
        browser.execute_async_script(_CHART, f"?{back}")
    return JourneyFigure(name, _median(times[WARM_UP:]), at_most=CHANGE_TARGET_MS)


def measure_section(stage: Stage, browser: Browser) -> list[JourneyFigure]:
    """Who came in the last year: when somebody comes near, with each choice, and with the filter of a segment."""
    shown = []
    today = datetime.now(UTC).date()
    for _ in range(stage.repeats):
        stage.open_dashboard(stage.world.year, from_=str(today - timedelta(days=YEAR_DAYS)), to=str(today))
        shown.append(browser.execute_async_script(_COME_NEAR, "")[0])
    choices = [measure_choice(stage, browser, name, value) for name, value in CHART_CHOICES]
    filtered = []
    for _ in range(stage.repeats + WARM_UP):
        filtered.append(browser.execute_async_script(_SELECT, SEGMENT))
        browser.execute_async_script(_SELECT, SEGMENT)
    return [
        JourneyFigure("who_of_a_year_ms", _median(shown), at_most=CHANGE_TARGET_MS),
        *choices,
        JourneyFigure(
            "filter_headlines_ms", _median(report_ms for _, report_ms in filtered[WARM_UP:]), at_most=CHANGE_TARGET_MS
        ),
        JourneyFigure("filter_all_ms", _median(all_ms for all_ms, _ in filtered[WARM_UP:]), at_most=CHANGE_TARGET_MS),
    ]


def measure_choice(stage: Stage, browser: Browser, name: str, value: str) -> JourneyFigure:
    """To a choice and back."""
    times = []
    for _ in range(stage.repeats + WARM_UP):
        times.append(browser.execute_async_script(_CHOOSE_CHART, [name, value])[0])
        browser.execute_async_script(_CHOOSE_CHART, [name, ""])
    chosen = value.replace(",", "_")
    return JourneyFigure(f"choose_{name}_{chosen}_ms", _median(times[WARM_UP:]), at_most=CHANGE_TARGET_MS)


def _median(times_ms: Iterable[float]) -> float:
    return round(statistics.median(times_ms), 1)
