"""Who, and how long: the section's numbers, what a click on a segment does, and how it looks in three widths."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.select import Select

from bench.journeys.dashboard.comparison import is_told, number_of, reads_as
from bench.journeys.dashboard.lines import change
from bench.journeys.dashboard.page import read_page, settle
from bench.journeys.dashboard.stage import DataSource, Stage, dashboard_path, open_source
from bench.journeys.figures import JourneyFigure
from bench.lib.browser import Browser
from bench.lib.browser.inspection import look_at

VIEWS = tuple(
    (f"{width_px}{suffix}", width_px, scheme)
    for width_px in (1440, 768, 390)
    for suffix, scheme in (("", "light"), ("-dark", "dark"))
)
DAYS = 28
SETTLE_LIMIT_S = 15
WATCHED_FROM_S = 1800
NEAR = 1e-6
HEADLINES = ("passing_by", "interested", "conversion", "stop_time", "attention_time", "satisfaction")
_READ = """
const cells = (row) => [...row.cells].map((cell) => cell.textContent.trim());
const rows = (figure) => [figure.dataset.chart, [...figure.querySelectorAll("tbody tr")].map(cells)];
const readJson = (script) => JSON.parse(script?.textContent ?? "null");
const data = readJson(document.getElementById("who-data"));
for (const script of document.querySelectorAll("#who figure.chart > script")) {
    data[script.parentElement.dataset.chart] = readJson(script);
}
return {
    data,
    tables: Object.fromEntries([...document.querySelectorAll("#who figure.chart")].map(rows)),
    chips: [...document.querySelectorAll("#who .chip strong")].map((one) => one.textContent),
    words: document.getElementById("who").innerText,
};
"""
_IS_THERE = """
const isDrawn = (figure) => ["yes", "empty"].includes(figure.dataset.drawn);
return !document.querySelector("#who-loader[hx-get], .htmx-request")
    && !!document.querySelector("#who .chart-note, #who .refusal")
    && [...document.querySelectorAll("#who figure.chart")].every(isDrawn);
"""
_AWAIT = f"""
const [done] = arguments;
const isThere = () => {{if (!document.getElementById("who")) return true; {_IS_THERE}}};
const look = () => (isThere() ? requestAnimationFrame(done) : requestAnimationFrame(look));
look();
"""
_SCROLL = "document.getElementById('who').scrollIntoView({block: 'start'});"
# Where a segment is painted, from the middle of its drawing, as a pointer that is moved there counts.
_PLACE = """
const [name, at] = arguments;
const figure = document.querySelector(`#who figure[data-chart=${name}]`);
const plot = figure.querySelector(".plot");
plot.scrollIntoView({block: "center"});
const [x, y] = figure.chart.convertToPixel({xAxisIndex: 0, yAxisIndex: 0}, at);
return [plot, Math.round(x - plot.clientWidth / 2), Math.round(y - plot.clientHeight / 2)];
"""
_HURRY = """
document.querySelector(arguments[0]).click();
const select = document.getElementById("who-mean");
select.value = arguments[1];
select.dispatchEvent(new Event("change", {bubbles: true}));
"""
_GROUPED = "UPDATE streams_stream SET groups_of = %s WHERE id = %s RETURNING id"


@dataclass(frozen=True)
class ShownSection:
    """The section as it stands on the page."""

    data: dict[str, Any]
    """Of the charts."""
    tables: dict[str, list[list[str]]]
    chips: list[str]
    words: str


def look_who_came(stage: Stage) -> list[JourneyFigure]:
    before = stage.compared
    shop = stage.world.shop
    source = open_source(stage.stack, shop)
    stage.open_dashboard(shop, **weeks())
    compare_section(stage, source, "28 days")
    look(stage, "who")
    filter_by_click(stage, source)
    filter_by_keyboard(stage, source)
    choose_each(stage, source)
    hurry(stage)
    refuse(stage)
    return [JourneyFigure("breakdown_numbers_compared", stage.compared - before, at_least=300)]


def hurry(stage: Stage) -> None:
    """What is chosen for a chart while the section is on its way is in it when it comes."""
    browser = stage.person.browser
    stage.open_dashboard(stage.world.shop, **weeks())
    read_section(stage)
    browser.execute_script(_HURRY, "#pyramid-female", "attention_time")
    stage.person.wait(lambda: "Attention time on average" in read_section(stage).words, "another number in the section")
    shown, asked = read_section(stage), parse_qs(urlsplit(browser.current_url).query)
    stage.check(asked.get("filter") == ["gender:female"], f"a filter and a choice at once lead to {asked}")
    stage.check(asked.get("mean") == ["attention_time"], f"a filter and a choice at once lead to {asked}")
    stage.compare(shown.chips, ["Women"], "the filter of a section with another choice")


def weeks() -> dict[str, str]:
    """Whole days until yesterday."""
    today = datetime.now(UTC).date()
    return {"from_": str(today - timedelta(days=DAYS)), "to": str(today - timedelta(days=1))}


def read_section(stage: Stage) -> ShownSection:
    """It is fetched once somebody comes near."""
    browser = stage.person.browser
    browser.execute_script(_SCROLL)
    stage.person.wait(lambda: bool(browser.execute_script(_IS_THERE)), "the section on who came")
    return ShownSection(**browser.execute_script(_READ))


def look(stage: Stage, name: str) -> None:
    """In three widths, light and dark."""
    stage.person.pages.append(name)
    stage.faults += look_at(stage.person.browser, stage.pictures, name, views=VIEWS, checked=VIEWS, settle=settle_all)


def settle_all(browser: Browser) -> None:
    """The report, and the section where there is one."""
    settle(browser)
    settle_section(browser)


def settle_section(browser: Browser) -> None:
    """Go near it, so that it is fetched, and wait until it is drawn; a page without it is settled."""
    if browser.execute_script("return !!document.getElementById('who')"):
        browser.execute_script(_SCROLL)
        browser.set_script_timeout(SETTLE_LIMIT_S)
        browser.execute_async_script(_AWAIT)


def compare_section(stage: Stage, source: DataSource, where: str, *, kept: str = "") -> ShownSection:
    """Every number of the usual choice against the data endpoint's."""
    report, shown = read_page(stage.person.browser), read_section(stage)
    same = SameVisits(source, report.from_date, report.to_date, kept)
    compare_pyramid(stage, shown, same, where)
    compare_means(stage, shown, same, where)
    compare_stays(stage, shown, same, where)
    compare_heat(stage, shown, same, where)
    for name in HEADLINES:
        found = same.whole()
        value = number_of(name, found) if is_told(name, found) else None
        headline = report.headlines[name].value
        stage.compare(float(headline) if headline else None, value, f"{where} {name}")
    return shown


@dataclass(frozen=True)
class SameVisits:
    """What a program asks about the same visits."""

    source: DataSource
    from_date: str
    to_date: str
    kept: str

    def whole(self) -> dict[str, Any]:
        return self.source.totals(self.from_date, self.to_date, **self._filter)

    def cells(self, *by: str) -> dict[tuple[str, ...], dict[str, Any]]:
        bucket = self.source.totals(self.from_date, self.to_date, by=",".join(by), **self._filter)
        return {tuple(cell["by"].values()): cell for cell in bucket["cells"]}

    def rates(self, metric: str) -> dict[tuple[int, int], float]:
        """People for each watched hour, by weekday and hour; of hours that were watched for at least half of it."""
        asked = self.source.ask(
            self.from_date, self.to_date, time="by_hour", metrics=(metric, "watched"), **self._filter
        )
        sums: dict[tuple[int, int], list[float]] = {}
        for key, values in asked.items():
            if values["watched"]["value"] >= WATCHED_FROM_S:
                begins = datetime.fromisoformat(key)
                found = sums.setdefault((begins.weekday(), begins.hour), [0.0, 0.0])
                found[0] += values[metric]["value"]
                found[1] += values["watched"]["value"]
        return {place: 3600 * people / watched_s for place, (people, watched_s) in sums.items()}

    @property
    def _filter(self) -> dict[str, str]:
        return {"filter": self.kept} if self.kept else {}


def compare_pyramid(stage: Stage, shown: ShownSection, same: SameVisits, where: str) -> None:
    data, cells = shown.data["pyramid"], same.cells("age", "gender")
    for (age, _), row, written in zip(data["ages"], data["counts"], shown.tables["pyramid"], strict=True):
        for (gender, _), count, text in zip(data["genders"], row, written[1:], strict=False):
            asked = cells[age, gender]["interested"]["value"]
            stage.compare(count, asked, f"{where}, {age} {gender}")
            stage.check(reads_as(text, asked), f"{where}: {age} {gender} is written as {text!r}")


def compare_means(stage: Stage, shown: ShownSection, same: SameVisits, where: str) -> None:
    metric = "attention_time" if "Attention" in shown.data["means"]["name"] else "stop_time"
    rows = shown.data["means"]["rows"]
    dimensions = _dimensions_of([row["key"] for row in rows])
    cells = same.cells(*dimensions)
    table = shown.tables["means"] or [[""] * 2] * len(rows)  # where all are too few, a sentence says so
    for row, written in zip(rows, table, strict=True):
        cell = cells[tuple(row["key"].split("."))]
        asked = number_of(metric, cell) if is_told(metric, cell) else None
        stage.compare(row["value"], asked, f"{where}, {metric} of {row['key']}")
        stage.check(reads_as(written[1], asked), f"{where}: {metric} of {row['key']} is written as {written[1]!r}")
        if row["interval"]:
            low, high = row["interval"]
            stage.check(low <= row["value"] <= high, f"{where}: {row['value']} is not in its interval {low} to {high}")


def _dimensions_of(keys: Sequence[str]) -> tuple[str, ...]:
    if keys[0].isdigit():
        return ("hour_of_day",)
    if "." in keys[0]:
        return "age", "gender"
    return ("gender",) if {"female", "male"} & set(keys) else ("age",)


def compare_stays(stage: Stage, shown: ShownSection, same: SameVisits, where: str) -> None:
    cells = same.cells("stop_band")
    for (band, _, count, _), written in zip(shown.data["stays"]["bands"], shown.tables["stays"], strict=True):
        asked = cells[(band,)]["interested"]["value"]
        stage.compare(count, asked, f"{where}, stops of {band} s")
        stage.check(reads_as(written[1], asked), f"{where}: stops of {band} s are written as {written[1]!r}")


def compare_heat(stage: Stage, shown: ShownSection, same: SameVisits, where: str) -> None:
    """Interested people for each watched hour."""
    rates = same.rates("interested")
    for day, hours in enumerate(shown.data["heat"]["values"]):
        for hour, value in enumerate(hours):
            right = rates.get((day, hour))
            near = value is right if value is None or right is None else abs(value - right) < NEAR * max(right, 1)
            stage.compared += 1
            stage.check(near, f"{where}, day {day} {hour}:00: {value} an hour, the data endpoint has {right}")


def filter_by_click(stage: Stage, source: DataSource) -> None:
    """On a bar, where it is painted; then back by its chip."""
    browser = stage.person.browser
    plot, right_px, down_px = place_of_segment(stage, "female", "25-34")
    click = ActionChains(browser).move_to_element_with_offset(plot, right_px, down_px).click
    change(stage, lambda: click().perform())
    wanted = "filter=gender:female,age:25-34"
    stage.check(wanted in browser.current_url, f"a click on women of 25 to 34 leads to {browser.current_url}")
    shown = compare_section(stage, source, "women of 25 to 34", kept="gender:female,age:25-34")
    stage.compare(shown.chips, ["Women", "25\N{EN DASH}34"], "chips of a click")
    look(stage, "who-filtered")
    browser.refresh()
    compare_section(stage, source, "the same after a reload", kept="gender:female,age:25-34")
    change(stage, lambda: browser.find_element(By.ID, "who-filter-gender").click())
    compare_section(stage, source, "people of 25 to 34", kept="age:25-34")
    change(stage, lambda: browser.find_element(By.ID, "filter-age").click())
    stage.check("filter" not in browser.current_url, "a removed chip is still in the address")
    compare_section(stage, source, "28 days again")


def place_of_segment(stage: Stage, gender: str, age: str) -> tuple[WebElement, int, int]:
    """The middle of the bar of women or men of an age: its drawing, and how far from the middle of that."""
    pyramid = read_section(stage).data["pyramid"]
    row = [key for key, _ in pyramid["ages"]].index(age)
    column = [key for key, _ in pyramid["genders"]].index(gender)
    middle = pyramid["counts"][row][column] / 2
    at = [-middle if gender == "female" else middle, row]
    plot, right_px, down_px = stage.person.browser.execute_script(_PLACE, "pyramid", at)
    return plot, right_px, down_px


def filter_by_keyboard(stage: Stage, source: DataSource) -> None:
    """By the link of a cell in the table, then by weekends."""
    browser = stage.person.browser
    read_section(stage)
    browser.execute_script("document.getElementById('table-heat').open = true")
    link = browser.find_element(By.ID, "heat-sat.15")
    change(stage, lambda: link.send_keys(Keys.ENTER))
    compare_section(stage, source, "Saturdays at three", kept="weekday:sat,hour_of_day:15")
    stage.check(
        bool(browser.execute_script("return document.getElementById('table-heat').open")), "an open table was closed"
    )
    change(stage, lambda: browser.find_element(By.ID, "who-filter-all").click())
    read_section(stage)
    change(stage, lambda: browser.find_element(By.ID, "who-days-2").click())
    compare_section(stage, source, "weekends", kept="weekday:sat,weekday:sun")


def choose_each(stage: Stage, source: DataSource) -> None:
    """Each choice changes its chart."""
    stage.open_dashboard(stage.world.shop, **weeks())
    read_section(stage)
    for name, value in (("mean", "attention_time"), ("across", "age,gender")):
        choose(stage, name, value)
    compare_section(stage, source, "attention by age and gender")
    choose(stage, "heat", "conversion")
    choose(stage, "stay", "presence_band")
    look(stage, "who-age-gender")
    choose(stage, "across", "hour_of_day")
    choose(stage, "heat", "stop_time")
    choose(stage, "stay", "attention_band")
    shown = read_section(stage)
    report = read_page(stage.person.browser)
    compare_means(stage, shown, SameVisits(source, report.from_date, report.to_date, ""), "attention by hour")
    look(stage, "who-hours")
    change(stage, lambda: stage.person.browser.find_element(By.ID, "period-30d").click())
    stage.check("heat=stop_time" in stage.person.browser.current_url, "another period has lost what was chosen")


def choose(stage: Stage, name: str, value: str) -> None:
    """The chart alone is fetched, and the page's address has the choice."""
    read_section(stage)
    browser = stage.person.browser
    select = Select(browser.find_element(By.ID, f"who-{name}"))
    change_section(stage, lambda: select.select_by_value(value))
    said = parse_qs(urlsplit(browser.current_url).query)
    stage.check(said.get(name) == [value], f"{name} is {value}, and the address is {browser.current_url}")


def change_section(stage: Stage, act: Callable[[], None]) -> ShownSection:
    """What it shows once it shows something else."""
    browser = stage.person.browser
    browser.execute_script(
        "document.querySelectorAll('#who, #who figure').forEach(({dataset}) => dataset.seen = 'yes')"
    )
    act()
    changed = "return !!document.querySelector('#who:not([data-seen]), #who figure:not([data-seen])')"
    stage.person.wait(lambda: bool(browser.execute_script(changed)), "another section")
    return read_section(stage)


def refuse(stage: Stage) -> None:
    """A stream that tells about people in groups."""
    empty = stage.world.empty
    stage.stack.execute(_GROUPED, 5, empty.id)
    try:
        stage.person.open(dashboard_path(empty, **weeks(), filter="gender:female"))
        words = read_section(stage).words
        stage.check("in groups of at least 5" in words, f"of groups the section says {words!r}")
        stage.check("these numbers are of everybody" in stage.person.text("#report"), "a filter is said to be applied")
        look(stage, "who-groups")
    finally:
        stage.stack.execute(_GROUPED, 1, empty.id)
