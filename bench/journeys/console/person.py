"""Who takes part in the journey, and what they have in common: the product, its mails, a place for pictures."""

import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.expected_conditions import staleness_of
from selenium.webdriver.support.wait import WebDriverWait

from bench.lib.browser import Browser, console_errors, requests_elsewhere
from bench.lib.browser.inspection import look_at
from bench.lib.browser.steps import BROWSER_ERRORS, describe_error
from testkit import Stack
from testkit.mailbox import Mailbox

PASSWORD = "a long password nobody guesses"
NEW_PASSWORD = "another one that nobody guesses"
OWNER, VIEWER, STAFF = "owner@example.org", "viewer@example.org", "staff@example.org"
PORTRAIT = Path(__file__).parents[3] / "docs" / "pictures" / "portrait.jpg"


@dataclass
class JourneySetup:
    """The running product, and what was learnt on the way."""

    stack: Stack
    mailbox: Mailbox
    pictures: Path
    known: dict[str, str] = field(default_factory=dict)

    def client(self, base_url: str, **values: Any) -> httpx2.Client:
        trust = ssl.create_default_context(cafile=self.stack.ca_file)
        return httpx2.Client(base_url=base_url, verify=trust, timeout=60, **values)

    def send_frame(self, access_token: str) -> int:
        """What a device does, with a real picture; the answer's status."""
        meta = b'{"image": "attachment://picture", "async": false}'
        parts: dict[str, tuple[str | None, bytes, str]] = {
            "meta": (None, meta, "application/json"),
            "attachment://picture": ("picture.jpg", PORTRAIT.read_bytes(), "image/jpeg"),
        }
        with self.client(self.stack.url, auth=(self.known["login"], access_token)) as client:
            return client.post("/services/scene_analysis/1/jobs", files=parts).status_code

    def ask_token(self, username: str, access_token: str) -> int:
        """What a program does that wants a JWT; the answer's status."""
        body = {"username": username, "client_id": self.known["login"], "access_token": access_token}
        with self.client(self.stack.console_url) as client:
            answer = client.post("/api-token-authstream/", json=body)
        assert (answer.status_code == 200) == ("token" in answer.json()), answer.text
        return answer.status_code


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
            self.wait(partial(self._says, text), f"{text!r} on the page")

    def _says(self, text: str) -> bool:
        return text in self.text("body")

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
