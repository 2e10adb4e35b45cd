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

# From what somebody does to the frame in which these parts of the page are replaced, and all of their charts are drawn.
# Nobody clicks while the page still settles what came before: each begins when it is at rest. Times are by part.
_MEASURE = """
const [wanted, ids, done] = arguments;
const find = (id) => document.getElementById(id);
const before = Object.fromEntries(ids.map((id) => [id, find(id)]));
const isDrawn = (figure) => ["yes", "empty"].includes(figure.dataset.drawn);
const isThere = (id) => {
    const part = find(id);
    if (!part || part === before[id]) return false;
    const figures = part.matches("figure") ? [part] : [...part.querySelectorAll("figure.chart")];
    return figures.every(isDrawn) && !!part.querySelector("[data-metric], figure.chart, .drawing");
};
const times = {};
let began;
const look = () => {
    for (const id of ids) if (!(id in times) && isThere(id)) times[id] = performance.now() - began;
    if (Object.keys(times).length < ids.length) requestAnimationFrame(look);
    else requestAnimationFrame(() => done(times));
};
const begin = (act) => setTimeout(() => requestIdleCallback(() => {
    began = performance.now();
    act();
    look();
}), 100);
"""
_CLICK = _MEASURE + "begin(() => document.querySelector(wanted).click());"
_CHOOSE_DATES = (
    _MEASURE
    + """
const form = document.querySelector("form:has([name=from])");
form.elements.from.value = wanted[0];
form.elements.to.value = wanted[1];
begin(() => form.requestSubmit());
"""
)
_COME_NEAR = _MEASURE + "begin(() => before.who.scrollIntoView({block: 'start'}));"
_CHOOSE = (
    _MEASURE
    + """
const [id, value] = wanted;
begin(() => {
    const select = find(id);
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
CHARTS = {"mean": "means", "across": "means", "stay": "stays", "heat": "heat"}
"""By what is chosen."""
SEGMENT = "#pyramid-25-34\\.female"


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


def measure(browser: Browser, script: str, wanted: object, *parts: str) -> list[float]:
    """Milliseconds until each part was there."""
    browser.set_script_timeout(60)
    times: dict[str, float] = browser.execute_async_script(script, wanted, parts)
    return [times[part] for part in parts]


def measure_changes(stage: Stage, browser: Browser) -> list[JourneyFigure]:
    """To 30 days and back to 7; to the whole year and back."""
    stage.open_dashboard(stage.world.year, period="7d")
    month, year = [], []
    today = datetime.now(UTC).date()
    whole = [f"{today - timedelta(days=YEAR_DAYS)}T00:00", f"{today}T00:00"]
    for _ in range(stage.repeats + WARM_UP):
        month += measure(browser, _CLICK, "#period-30d", "report")
        measure(browser, _CLICK, "#period-7d", "report")
    for _ in range(stage.repeats + WARM_UP):
        year += measure(browser, _CHOOSE_DATES, whole, "report")
        measure(browser, _CLICK, "#period-7d", "report")
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
    times = []
    for _ in range(stage.repeats + WARM_UP):
        times += measure(browser, _CLICK, "#chart-stop_time", "time-chart")
        measure(browser, _CLICK, "#chart-stop_time", "time-chart")
    return JourneyFigure(name, _median(times[WARM_UP:]), at_most=CHANGE_TARGET_MS)


def measure_section(stage: Stage, browser: Browser) -> list[JourneyFigure]:
    """Who came in the last year: when somebody comes near, with each choice, and with the filter of a segment."""
    shown = []
    today = datetime.now(UTC).date()
    for _ in range(stage.repeats):
        stage.open_dashboard(stage.world.year, from_=str(today - timedelta(days=YEAR_DAYS)), to=str(today))
        shown += measure(browser, _COME_NEAR, None, "who")
    choices = [measure_choice(stage, browser, name, value) for name, value in CHART_CHOICES]
    filtered = []
    for _ in range(stage.repeats + WARM_UP):
        filtered.append(measure(browser, _CLICK, SEGMENT, "headlines", "who"))
        measure(browser, _CLICK, SEGMENT, "headlines", "who")
    headlines, sections = zip(*filtered[WARM_UP:], strict=True)
    return [
        JourneyFigure("who_of_a_year_ms", _median(shown), at_most=CHANGE_TARGET_MS),
        *choices,
        JourneyFigure("filter_headlines_ms", _median(headlines), at_most=CHANGE_TARGET_MS),
        JourneyFigure("filter_section_ms", _median(sections), at_most=CHANGE_TARGET_MS),
        JourneyFigure("filter_all_ms", _median(map(max, filtered[WARM_UP:])), at_most=CHANGE_TARGET_MS),
    ]


def measure_choice(stage: Stage, browser: Browser, name: str, value: str) -> JourneyFigure:
    """To a choice and back."""
    times, figure = [], f"who-chart-{CHARTS[name]}"
    for _ in range(stage.repeats + WARM_UP):
        times += measure(browser, _CHOOSE, [f"who-{name}", value], figure)
        measure(browser, _CHOOSE, [f"who-{name}", ""], figure)
    chosen = value.replace(",", "_")
    return JourneyFigure(f"choose_{name}_{chosen}_ms", _median(times[WARM_UP:]), at_most=CHANGE_TARGET_MS)


def _median(times_ms: Iterable[float]) -> float:
    return round(statistics.median(times_ms), 1)
