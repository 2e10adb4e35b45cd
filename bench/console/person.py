"""Somebody at a browser: reads labels, fills in fields, presses buttons, and has every page looked at."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

from bench.browsing import Browser, console_errors, requests_elsewhere
from bench.browsing.look import look_at

PATIENCE_S = 20
_TEXT = "translate(normalize-space(.), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')"
_LABEL = f"//label[contains({_TEXT}, {{}})]"
_BUTTON = f"//button[contains({_TEXT}, {{}})]"
_LINK = f"//a[contains({_TEXT}, {{}})]"


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
        try:
            WebDriverWait(self.browser, limit_s, ignored_exceptions=[Exception]).until(lambda _: right())
        except Exception as error:
            shown = self.text("body")[:600]
            raise AssertionError(f"Waited for {what} at {self.browser.current_url}; it shows:\n{shown}") from error

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
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()
