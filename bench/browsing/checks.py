"""What a browser complains of, whom it asks, and whether a page is wider than a telephone."""

import json
from urllib.parse import urlsplit

from bench.browsing.browser import Browser
from bench.browsing.logs import read_log
from bench.browsing.shots import NARROW_PX, Settle, at_once, viewing

NETWORKED = ("http", "https", "ws", "wss")
_WIDER = """
const width = arguments[0];
if (document.documentElement.scrollWidth <= width) return [];
return [...document.body.querySelectorAll("*")]
    .filter((element) => element.getBoundingClientRect().right > width + 1)
    .map((element) => `${element.tagName.toLowerCase()}.${element.className}`)
"""


def console_errors(browser: Browser) -> list[str]:
    """Warnings and errors since the last call, such as breaches of the Content-Security-Policy.

    That a page itself answered 404 is not one: who opened it knows.
    """
    page = browser.current_url
    entries = [entry for entry in read_log(browser, "browser") if entry["level"] in ("WARNING", "SEVERE")]
    return [
        f"{entry['level']} {entry['source']} {entry['message']}"
        for entry in entries
        if not (entry["source"] == "network" and entry["message"].startswith(f"{page} "))
    ]


def requests_elsewhere(browser: Browser) -> list[str]:
    """Addresses asked since the last call that are not on the page's own host and port."""
    own = urlsplit(browser.current_url).netloc
    asked = []
    for entry in read_log(browser, "performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.append(urlsplit(message["params"]["request"]["url"]))
    return [url.geturl() for url in asked if url.scheme in NETWORKED and url.netloc != own]


def overflowing(browser: Browser, *, settle: Settle = at_once) -> list[str]:
    """Elements that make the page wider than a telephone's 360 px; none is well."""
    with viewing(browser, width_px=NARROW_PX):
        settle(browser)
        found: list[str] = browser.execute_script(_WIDER, NARROW_PX)
    return found
