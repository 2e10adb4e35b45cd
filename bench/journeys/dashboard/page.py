"""What a dashboard shows: its numbers as words and as values, its tables, and the series that its charts drew."""

from dataclasses import dataclass
from typing import Any

from bench.lib.browser import Browser

SETTLE_LIMIT_S = 15
_READ = """
const report = document.getElementById("report");
if (!report?.dataset.from) return null;
const readJson = (selector) => JSON.parse(document.querySelector(selector)?.textContent ?? "null");
const cells = (row) => [...row.cells].map((cell) => cell.innerText.trim() || cell.textContent.trim());
const tallest = (figure, mark) => Math.max(0, ...[...figure.querySelectorAll(`.plot path[fill="var(--${mark})"]`)]
    .map((path) => path.getBBox().height));
const charts = Object.fromEntries([...report.querySelectorAll("figure.chart")].map((figure) => [
    figure.dataset.chart,
    {
        drawn: figure.dataset.drawn === "yes",
        series: JSON.parse(JSON.stringify(figure.drawnOption?.series ?? null)),
        tallest: {passing_by: tallest(figure, "passing-by"), interested: tallest(figure, "interested")},
        rows: [...figure.querySelectorAll("tbody tr:not(.ahead)")].map(cells),
        ahead: [...figure.querySelectorAll("tbody tr.ahead")].map(cells),
        head: [...figure.querySelectorAll("thead tr")].map(cells),
        words: figure.innerText,
    },
]));
const numbers = Object.fromEntries([...report.querySelectorAll("[data-metric]")].map((element) => [
    element.dataset.metric,
    {
        value: element.dataset.value,
        text: element.innerText,
        change: element.closest(".figure")?.querySelector("[data-change]")?.dataset.change ?? "",
        change_text: element.closest(".figure")?.querySelector(".change")?.innerText ?? "",
    },
]));
return {
    from: report.dataset.from,
    to: report.dataset.to,
    time: report.dataset.time,
    read_at: report.dataset.readAt,
    numbers,
    charts,
    data: {...readJson("#report-data"), ...readJson("#time-chart > script")},
    words: report.innerText,
};
"""
_SETTLE = """
const done = arguments[arguments.length - 1];
const until = performance.now() + arguments[0] * 1000;
const isDrawn = (figure) => ["yes", "empty"].includes(figure.dataset.drawn) || !figure.querySelector(".drawing");
const look = () => {
    const waiting = [...document.querySelectorAll("#report figure.chart")].filter((figure) => !isDrawn(figure));
    const isAsking = document.querySelector(".htmx-request");
    if (!waiting.length && !isAsking) requestAnimationFrame(() => requestAnimationFrame(() => done([])));
    else if (performance.now() > until) {
        const names = waiting.map(({dataset, chart}) => `${dataset.chart} (${dataset.drawn}, ${chart?.getWidth()} px)`);
        done(isAsking ? [...names, `what #${isAsking.id} asked for`] : names);
    }
    else requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""


@dataclass(frozen=True)
class Chart:
    """A chart as it was drawn, and as a table."""

    is_drawn: bool
    series: list[dict[str, Any]]
    tallest_px: dict[str, float]
    """How high the highest shape of each count is painted."""
    head: list[list[str]]
    rows: list[list[str]]
    ahead: list[list[str]]
    """Rows of what is still to come today."""
    words: str


@dataclass(frozen=True)
class Headline:
    """One number: what it is exactly, and what somebody reads."""

    value: str
    text: str
    change: str
    """Now, before, size and interval of its change, as JSON; empty where there is none."""
    change_text: str


@dataclass(frozen=True)
class Shown:
    """A report as it stands on the page."""

    from_date: str
    to_date: str
    time: str
    read_at: str
    headlines: dict[str, Headline]
    charts: dict[str, Chart]
    data: dict[str, Any]
    words: str

    @property
    def points(self) -> list[dict[str, Any]]:
        return list(self.data["points"])

    def line(self, role: str) -> dict[str, Any]:
        """Of the time chart: `main`, `beside` or `ghost`; empty where there is none."""
        return next((dict(line) for line in self.data["chart"]["lines"] if line["role"] == role), {})


def read_page(browser: Browser) -> Shown:
    """Once all of its charts are drawn."""
    settle(browser)
    found = browser.execute_script(_READ)
    if found is None:
        raise RuntimeError(f"There is no report at {browser.current_url}: {browser.title}")
    charts = {
        name: Chart(
            chart["drawn"],
            chart["series"] or [],
            chart["tallest"],
            chart["head"],
            chart["rows"],
            chart["ahead"],
            chart["words"],
        )
        for name, chart in found["charts"].items()
    }
    headlines = {
        name: Headline(number["value"], number["text"], number["change"], number["change_text"])
        for name, number in found["numbers"].items()
    }
    dates = (found["from"], found["to"], found["time"], found["read_at"])
    return Shown(*dates, headlines, charts, found["data"], found["words"])


def settle(browser: Browser) -> None:
    """Wait until nothing is asked for, and every chart there is was drawn."""
    browser.set_script_timeout(2 * SETTLE_LIMIT_S)
    waiting = browser.execute_async_script(_SETTLE, SETTLE_LIMIT_S)
    if waiting:
        raise RuntimeError(f"Not drawn within {SETTLE_LIMIT_S} s at {browser.current_url}: {', '.join(waiting)}")
