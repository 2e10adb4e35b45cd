"""What a journey says of a step that failed: why, which pages were open, and a picture of each."""

import re
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selenium.common.exceptions import WebDriverException
from urllib3.exceptions import HTTPError

from bench.lib.browser.browser import Browser
from bench.lib.browser.pictures import picture_of

BROWSER_ERRORS = (WebDriverException, HTTPError, OSError)
"""What a browser raises that has died or hangs."""


@dataclass(frozen=True)
class OpenPage:
    """What one browser showed at that moment."""

    browser: str
    url: str
    title: str
    picture: str | None
    """File name; None where the browser gave no picture any more."""


@dataclass(frozen=True)
class Failure:
    """A step that was not taken to its end."""

    step: str
    reason: str
    pages: tuple[OpenPage, ...]

    def as_members(self) -> dict[str, Any]:
        """Members of the one JSON object that a command ends with."""
        pages = [{"browser": page.browser, "url": page.url, "title": page.title} for page in self.pages]
        pictures = [page.picture for page in self.pages if page.picture]
        return {"failed_step": self.step, "reason": self.reason, "failed_pages": pages, "failed_pictures": pictures}


def keep_failure(step: str, error: BaseException, *, browsers: Mapping[str, Browser], folder: Path) -> Failure:
    """Photograph what is open in each browser, print where the error came from, and put it all into one value."""
    traceback.print_exception(error, file=sys.stderr)
    pages = tuple(_keep_page(name, browser, step=step, folder=folder) for name, browser in browsers.items())
    failure = Failure(step, describe_error(error), pages)
    for line in (f"FAILED: {step}: {failure.reason}", *(f"  {page}" for page in pages)):
        print(line, file=sys.stderr, flush=True)
    return failure


def describe_error(error: BaseException) -> str:
    """Its type and what it says; of a driver's, without the versions and addresses that follow."""
    said = str(error).strip()
    if isinstance(error, WebDriverException):
        said = (error.msg or "").partition("\n")[0]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _keep_page(name: str, browser: Browser, *, step: str, folder: Path) -> OpenPage:
    try:
        url, title = browser.current_url, browser.title
    except BROWSER_ERRORS as error:
        return OpenPage(name, f"the browser does not answer ({type(error).__name__})", "", None)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"failed-{re.sub(r'[^a-z0-9]+', '-', step.lower()).strip('-')}-{name}.png"
        path.write_bytes(picture_of(browser))
    except BROWSER_ERRORS:
        return OpenPage(name, url, title, None)
    return OpenPage(name, url, title, path.name)


Step = tuple[str, Callable[[], object]]


@dataclass(frozen=True)
class Travelled:
    """How far a journey came."""

    taken: list[str]
    """Names of the steps that were taken to their end."""
    failure: Failure | None


def travel(steps: Sequence[Step], *, browsers: Mapping[str, Browser], folder: Path) -> Travelled:
    """Pictures of a failure go into the folder. A journey that is told to stop has failed too."""
    taken: list[str] = []
    for name, step in steps:
        started = time.monotonic()
        try:
            step()
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 (the edge of this process: told at its end)
            return Travelled(taken, keep_failure(name, error, browsers=browsers, folder=folder))
        taken.append(name)
        print(f"{name}: {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)
    return Travelled(taken, None)
