"""Someone who finds answers in the console, with every click counted."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.select import Select

from bench.journeys.console.person import Person
from bench.journeys.dashboard.breakdowns import VIEWS, ShownSection, change_section, read_section, settle_all
from bench.journeys.dashboard.comparison import reads_as
from bench.journeys.dashboard.lines import change
from bench.journeys.dashboard.page import Shown, read_page
from bench.journeys.dashboard.stage import DataSource, Screen, Stage, open_source
from bench.lib.browser.checks import requests_elsewhere
from bench.lib.browser.inspection import look_at

LANDING = "/streams/"
"""Where someone is who has just signed in. Every question begins there."""
_SCREEN = 'th a[href$="/{client_id}/dashboard/"]'
FILE_LIMIT_S = 60
CHECKED = tuple(view for view in VIEWS if view[2] == "light" or view[0] == "1440-dark")
"""Colours do not depend on the width."""


@dataclass
class Analyst:
    """A click counts, a choice of a list, and a text or a date that is typed. Scrolling does not."""

    stage: Stage
    clicks: int = 0
    asked_elsewhere: int = 0
    """Requests to other hosts."""

    @property
    def person(self) -> Person:
        return self.stage.person

    def begin(self) -> None:
        self.person.open(LANDING)
        self.clicks = 0

    def follow(self, css: str) -> None:
        """A link or a button that leads to another page."""
        page = self.find("html")
        self._click(css)
        self.person.wait(lambda: self.find("html") != page and self._is_loaded(), f"the page that {css} leads to")

    def open_dashboard(self, screen: Screen) -> Shown:
        self.follow(_SCREEN.format(client_id=screen.client_id))
        return self.read()

    def tick(self, css: str) -> None:
        self._click(css)

    def swap(self, css: str) -> Shown:
        """A link that changes the report, and the page no further."""
        return self._change(lambda: self._click(css))

    def swap_at(self, plot: WebElement, right_px: int, down_px: int) -> Shown:
        """A place of a drawing, from its middle."""
        self.clicks += 1
        moved = ActionChains(self.person.browser).move_to_element_with_offset(plot, right_px, down_px)
        return self._change(lambda: moved.click().perform())

    def choose(self, css: str, value: str) -> None:
        self.clicks += 1
        Select(self.find(css)).select_by_value(value)

    def swap_choice(self, css: str, value: str) -> Shown:
        return self._change(lambda: self.choose(css, value))

    def choose_chart(self, css: str, value: str) -> ShownSection:
        """Of the section on who came, which alone changes."""
        return change_section(self.stage, lambda: self.choose(css, value))

    def write(self, css: str, text: str) -> None:
        self.clicks += 1
        self.find(css).send_keys(text)

    def unfold(self, chart: str) -> list[list[str]]:
        """The table below a chart, as it is read."""
        self._click(f"#table-{chart} > summary")
        rows = self.person.browser.find_elements(By.CSS_SELECTOR, f"#table-{chart} tbody tr:not(.ahead)")
        return [[cell.text for cell in row.find_elements(By.CSS_SELECTOR, "th, td")] for row in rows]

    def download(self, css: str, folder: Path) -> Path:
        """The file that a link sends."""
        self.person.browser.execute_cdp_cmd(
            "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)}
        )
        before = set(folder.iterdir())
        self._click(css)
        give_up_at = time.monotonic() + FILE_LIMIT_S
        while time.monotonic() < give_up_at:
            new = set(folder.iterdir()) - before
            if new and not any(file.suffix == ".crdownload" for file in new):
                return new.pop()
            time.sleep(0.1)
        raise TimeoutError(f"{css} sent no file within {FILE_LIMIT_S} s")

    def find(self, css: str) -> WebElement:
        return self.person.browser.find_element(By.CSS_SELECTOR, css)

    def text(self, css: str) -> str:
        return self.find(css).text

    def read(self) -> Shown:
        return read_page(self.person.browser)

    def source(self, screen: Screen) -> DataSource:
        return open_source(self.stage.stack, screen)

    def hold(self, text: str, value: float | None, what: str, *, scale: int = 1) -> None:
        """What is read on the page against what the data endpoint says."""
        self.stage.compared += 1
        self.stage.check(reads_as(text, value, scale), f"{what}: {value} is written as {text!r}")

    def look(self, name: str, person: Person | None = None) -> None:
        """In three widths, light and dark, and checked."""
        browser = (person or self.person).browser
        if browser.find_elements(By.ID, "who"):
            read_section(self.stage)  # it is fetched once somebody comes near
        elsewhere = requests_elsewhere(browser)
        self.asked_elsewhere += len(elsewhere)
        self.stage.faults += [f"{name}: asks {url}" for url in elsewhere]
        self.person.pages.append(name)
        folder = self.stage.pictures / "questions"
        self.stage.faults += look_at(browser, folder, name, views=VIEWS, checked=CHECKED, settle=settle_all)

    def _click(self, css: str) -> None:
        self.clicks += 1
        self.person.wait(lambda: self.find(css).is_displayed(), f"{css} on the page")
        element = self.find(css)
        self.person.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def _change(self, act: Callable[[], None]) -> Shown:
        return change(self.stage, act)

    def _is_loaded(self) -> bool:
        return bool(self.person.browser.execute_script("return document.readyState === 'complete'"))
