"""Debian's Chromium, driven by its own driver, with a fresh profile each time."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

Browser = webdriver.Chrome

ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-dev-shm-usage",  # containers give it 64 MB
    "--ignore-certificate-errors",  # the product under test made its own authority
)
PAGE_LIMIT_S = 30


@contextmanager
def open_browser(*arguments: str) -> Iterator[Browser]:
    """A browser that knows nobody, with arguments of its own; SystemExit with a remedy where it is not installed."""
    chromium, driver = _find("chromium"), _find("chromedriver", package="chromium-driver")
    with tempfile.TemporaryDirectory(prefix="onlooker-browser-", ignore_cleanup_errors=True) as profile:
        browser = Browser(options=_options(chromium, profile, arguments), service=Service(driver))
        browser.set_page_load_timeout(PAGE_LIMIT_S)
        try:
            yield browser
        finally:
            browser.quit()


def _options(chromium: str, profile: str, arguments: tuple[str, ...]) -> Options:
    options = Options()
    options.binary_location = chromium
    for argument in (*ARGUMENTS, f"--user-data-dir={profile}", *arguments):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return options


def _find(command: str, *, package: str | None = None) -> str:
    found = shutil.which(command)
    if found is None:
        raise SystemExit(f"{command} is not installed. On Debian: apt-get install {package or command}")
    return found
