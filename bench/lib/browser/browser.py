"""Debian's Chromium, driven by its own driver, with a fresh profile each time."""

import base64
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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
)
TRUSTS_ALL = "--ignore-certificate-errors"
"""The product under test made its own authority."""
PAGE_LIMIT_S = 30


@contextmanager
def open_browser(*arguments: str, authority: Path | None = None) -> Iterator[Browser]:
    """A browser that knows nobody, with arguments of its own; SystemExit with a remedy where it is not installed.

    With an authority it trusts that one too, as if somebody had imported it; without one it trusts everybody.
    """
    chromium, driver = _find("chromium"), _find("chromedriver", package="chromium-driver")
    with tempfile.TemporaryDirectory(prefix="onlooker-browser-", ignore_cleanup_errors=True) as folder:
        profile = Path(folder)
        if authority:
            _trust(authority, home=profile)
        else:
            arguments = (TRUSTS_ALL, *arguments)
        service = Service(driver, env=os.environ | ({"HOME": folder} if authority else {}))
        browser = Browser(options=_options(chromium, profile / "profile", arguments), service=service)
        browser.set_page_load_timeout(PAGE_LIMIT_S)
        try:
            yield browser
        finally:
            browser.quit()


def _trust(authority: Path, *, home: Path) -> None:
    """In the NSS database that Chromium on Linux reads beside its own roots."""
    certutil = _find("certutil", package="libnss3-tools")
    database = home / ".pki" / "nssdb"
    database.mkdir(parents=True)
    make = ["-N", "--empty-password"]
    add = ["-A", "-t", "C,,", "-n", "authority under test", "-i", str(authority)]
    for command in (make, add):
        subprocess.run([certutil, "-d", f"sql:{database}", *command], check=True, capture_output=True, timeout=30)


def _options(chromium: str, profile: Path, arguments: tuple[str, ...]) -> Options:
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


def read_log(browser: Browser, name: str) -> list[dict[str, Any]]:
    """`browser` or `performance`; what was read once is not read again."""
    entries: list[dict[str, Any]] = browser.get_log(name)  # type: ignore[no-untyped-call]
    return entries


PERMISSIONS = ["clipboardReadWrite", "clipboardSanitizedWrite"]
"""To grant one is to deny all others, writing too."""
_READ = "const done = arguments[0]; navigator.clipboard.readText().then(done, (fault) => done(`fault: ${fault}`));"


def copied(browser: Browser) -> str:
    """The clipboard's text; the browser lets a page read it only after somebody allowed it."""
    browser.execute_cdp_cmd("Browser.grantPermissions", {"permissions": PERMISSIONS})
    text: str = browser.execute_async_script(_READ)
    return text


A4_INCHES = {"paperWidth": 210 / 25.4, "paperHeight": 297 / 25.4}
MARGINS_INCHES = {f"margin{side}": 10 / 25.4 for side in ("Top", "Bottom", "Left", "Right")}
_PAGE = re.compile(rb"/Type\s*/Page\b")


def print_pages(browser: Browser, path: Path) -> int:
    """Print what is open as A4 upright to a PDF file; how many sheets that takes."""
    options = {**A4_INCHES, **MARGINS_INCHES, "printBackground": False, "preferCSSPageSize": True}
    document = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", options)["data"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(document)
    return len(_PAGE.findall(document))
