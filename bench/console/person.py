"""Somebody at a browser: reads labels, fills in fields, presses buttons, and has every page looked at."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from selenium.common.exceptions import TimeoutException
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.expected_conditions import staleness_of
from selenium.webdriver.support.wait import WebDriverWait

from bench.browsing import Browser, console_errors, requests_elsewhere
from bench.browsing.failure import BROWSER_ERRORS, describe_error
from bench.browsing.look import look_at

PATIENCE_S = 20
_TEXT = "translate(normalize-space(.), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')"
_LABEL = f"//label[contains({_TEXT}, {{}})]"
_BUTTON = f"//button[contains({_TEXT}, {{}})]"
_LINK = f"//a[contains({_TEXT}, {{}})]"
_LEADS_AWAY = """
const [element] = arguments;
const { form, href } = element;
const isSwapped = (form ?? element).closest("[hx-get], [hx-post]");
if (isSwapped || element.target || element.hasAttribute("download")) return false;
return form ? element.type === "submit" : Boolean(href) && !element.getAttribute("href").startsWith("#");
"""


@dataclass
class Person:
    """One browser, and what was found wrong with the pages it showed."""

    browser: Browser
    console_url: str
    pictures: Path
    pages: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def open(self, path: str) -> None:
        self.browser.get(path if path.startswith("http") else f"{self.console_url}{path}")

    @property
    def path(self) -> str:
        return self.browser.current_url.removeprefix(self.console_url)

    def look(self, name: str) -> None:
        """Have the page photographed and checked."""
        self.pages.append(name)
        self.faults += look_at(self.browser, self.pictures, f"{len(self.pages):02d}-{name}")

    def forget_other_hosts(self) -> None:
        """What was asked of them was asked by the person, who went there."""
        console_errors(self.browser)
        requests_elsewhere(self.browser)

    def fill(self, label: str, value: str) -> None:
        """Write into the field with this label."""
        entry = self._labelled(label)
        entry.clear()
        entry.send_keys(value)

    def choose(self, label: str) -> None:
        """Tick or pick what has this label."""
        self._click(self._labelled(label))

    def press(self, text: str) -> None:
        self._click(self._find(_BUTTON, text))

    def follow(self, text: str) -> None:
        self._click(self._find(_LINK, text))

    def text(self, css: str = "main") -> str:
        return self.browser.find_element(By.CSS_SELECTOR, css).text

    def see(self, *texts: str) -> None:
        """Wait until the page says all of this."""
        for text in texts:
            self.wait(lambda text=text: text in self.text("body"), f"{text!r} on the page")

    def wait(self, right: Callable[[], bool], what: str, *, limit_s: float = PATIENCE_S) -> None:
        """Until it is right. What is asked while a page changes may raise; the last error is told."""
        trouble: Exception | None = None

        def is_right(_: Browser) -> bool:
            nonlocal trouble
            try:
                found, trouble = right(), None
            except Exception as error:  # noqa: BLE001 (told below)
                found, trouble = False, error
            return found

        try:
            WebDriverWait(self.browser, limit_s).until(is_right)
        except TimeoutException:
            told = f"Waited {limit_s:.0f} s for {what}{f' ({describe_error(trouble)})' if trouble else ''}"
            raise AssertionError(f"{told} at {self._describe_page()}") from trouble

    def _describe_page(self) -> str:
        try:
            return f"{self.browser.current_url} ({self.browser.title!r}); it shows:\n{self.text('body')[:600]}"
        except BROWSER_ERRORS as error:
            return f"a page that can't be read: {describe_error(error)}"

    def _labelled(self, label: str) -> WebElement:
        found = self._find(_LABEL, label)
        target = found.get_attribute("for")
        return (
            self.browser.find_element(By.ID, target) if target else found.find_element(By.CSS_SELECTOR, "input,select")
        )

    def _find(self, xpath: str, text: str) -> WebElement:
        quoted = f'"{text.lower()}"'
        self.wait(lambda: bool(self._shown(xpath.format(quoted))), f"{xpath.format(quoted)}")
        return self._shown(xpath.format(quoted))[0]

    def _shown(self, xpath: str) -> list[WebElement]:
        return [found for found in self.browser.find_elements(By.XPATH, xpath) if found.is_displayed()]

    def _click(self, element: WebElement) -> None:
        """And wait for the page that it leads to: what is opened before it has come would take its place."""
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        what = element.text
        page = self.browser.find_element(By.TAG_NAME, "html") if self._leads_away(element) else None
        element.click()
        if page:
            self.wait(lambda: self._has_left(page), f"the page that {what!r} leads to")

    def _leads_away(self, element: WebElement) -> bool:
        return bool(self.browser.execute_script(_LEADS_AWAY, element))

    def _has_left(self, page: WebElement) -> bool:
        return bool(staleness_of(page)(self.browser)) and self._is_loaded()

    def _is_loaded(self) -> bool:
        return bool(self.browser.execute_script("return document.readyState === 'complete'"))
