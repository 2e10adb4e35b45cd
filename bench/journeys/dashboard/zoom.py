"""From days to hours and back: by a click into the drawing, by the keyboard in its table, by the browser itself."""

from typing import Any

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from bench.journeys.dashboard.comparison import compare_report
from bench.journeys.dashboard.page import Shown, read_page, settle
from bench.journeys.dashboard.stage import Stage, open_source
from bench.journeys.figures import JourneyFigure

DAY = 20
"""Of the 30 days, one in the middle."""
# Where a bucket is, from the middle of the drawing, as a pointer that is moved there counts.
_PLACE = """
const figure = document.querySelector("figure[data-chart=time]");
const plot = figure.querySelector(".plot");
plot.scrollIntoView({block: "center"});
const [x] = figure.chart.convertToPixel({gridIndex: 0}, [arguments[0], 0]);
return [plot, Math.round(x - plot.clientWidth / 2), 0];
"""


def zoom_in_and_out(stage: Stage) -> list[JourneyFigure]:
    person, browser = stage.person, stage.person.browser
    days = stage.open_dashboard(stage.world.shop, period="30d")
    source = open_source(stage.stack, stage.world.shop)
    plot, right_px, down_px = browser.execute_script(_PLACE, DAY)
    ActionChains(browser).move_to_element_with_offset(plot, right_px, down_px).click().perform()
    hours = _await_hours(stage, days, DAY)
    compare_report(stage, hours, source, "zoomed")
    stage.look("zoomed", alike=True)
    browser.back()
    person.wait(lambda: _time(stage) == days.time, "the days again")
    again = read_page(browser)
    stage.check(again.from_date == days.from_date, f"zoom: back leads to {again.from_date}, not {days.from_date}")
    compare_report(stage, again, source, "zoomed out")
    browser.execute_script("document.querySelector('figure[data-chart=time] details').open = true")
    links = browser.find_elements(By.CSS_SELECTOR, "figure[data-chart=time] tbody a")
    stage.check(len(links) == len(days.points), f"zoom: the table has {len(links)} links for {len(days.points)} days")
    links[DAY].send_keys(Keys.ENTER)
    _await_hours(stage, days, DAY)
    _go_back_with_another_number(stage, days)
    return [JourneyFigure("zoomed_to_hours", len(hours.points), at_least=23, at_most=25)]


def _await_hours(stage: Stage, days: Shown, number: int) -> Shown:
    """Of that very day, at an address of its own."""
    stage.person.wait(lambda: _time(stage) == "by_hour", "the hours of a day")
    shown = read_page(stage.person.browser)
    key = days.points[number]["key"]
    stage.check(shown.from_date == key, f"zoom: a click on {key} leads to {shown.from_date}")
    stage.check(f"from={key[:10]}" in stage.person.path, f"zoom: the address is {stage.person.path}")
    return shown


def _go_back_with_another_number(stage: Stage, days: Shown) -> None:
    """What was chosen meanwhile stays."""
    person, browser = stage.person, stage.person.browser
    Select(browser.find_element(By.ID, "choice-metric")).select_by_value("stop_time")
    person.wait(lambda: "metric=stop_time" in person.path, "the address of another number")
    settle(browser)
    browser.find_element(By.CSS_SELECTOR, "#time-chart a.back").click()
    person.wait(lambda: _time(stage) == days.time, "the days again")
    kept = "period=30d" in person.path and "metric=stop_time" in person.path
    stage.check(kept, f"zoom: the way back leads to {person.path}")


def _time(stage: Stage) -> Any:
    return stage.person.browser.execute_script("return document.getElementById('report')?.dataset.time")
