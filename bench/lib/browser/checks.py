"""What a browser complains of, whom it asks, and whether a page is wider than a telephone."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.lib.browser.browser import Browser, read_log
from bench.lib.browser.pictures import NARROW_PX, VIEWS, Settle, View, at_once, viewing

NETWORKED = ("http", "https", "ws", "wss")
GIVEN_UP = ("htmx:sendAbort", "htmx:afterRequest")
"""What HTMX writes when a request is aborted. One that fails has other words besides the latter."""
_WIDER = """
const width = arguments[0];
if (document.documentElement.scrollWidth <= width) return [];
return [...document.body.querySelectorAll("*")]
    .filter((element) => element.getBoundingClientRect().right > width + 1)
    .map((element) => `${element.tagName.toLowerCase()}.${element.className}`)
"""


def console_errors(browser: Browser) -> list[str]:
    """Warnings and errors since the last call, such as breaches of the Content-Security-Policy.

    That a page itself answered 404 is not one: who opened it knows. Nor is a request that was given up for a later one.
    """
    page = browser.current_url
    entries = [entry for entry in read_log(browser, "browser") if entry["level"] in ("WARNING", "SEVERE")]
    return [
        f"{entry['level']} {entry['source']} {entry['message']}"
        for entry in entries
        if not (entry["source"] == "network" and entry["message"].startswith(f"{page} "))
        and not any(event in entry["message"] for event in GIVEN_UP)
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


AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
GRAVE = ("serious", "critical")
TIME_LIMIT_S = 60
_RUN = """
const done = arguments[arguments.length - 1];
const transitions = document.getAnimations().filter((one) => one instanceof CSSTransition);
Promise.allSettled(transitions.map((one) => one.finished))
    .then(() => axe.run(document, {resultTypes: ["violations"]}))
    .then((found) => done(found.violations), (fault) => done(String(fault)));
"""


@dataclass(frozen=True)
class Violation:
    """One rule that a page breaks, and where."""

    rule: str
    impact: str
    view: str
    targets: tuple[str, ...]
    summary: str


def violations(browser: Browser, *, views: Sequence[View] = VIEWS, settle: Settle = at_once) -> list[Violation]:
    """Serious and critical ones."""
    browser.set_script_timeout(TIME_LIMIT_S)
    found = []
    for view, width_px, scheme in views:
        with viewing(browser, width_px=width_px, scheme=scheme):
            settle(browser)
            browser.execute_script(_axe())
            answer = browser.execute_async_script(_RUN)
        if isinstance(answer, str):
            raise RuntimeError(f"axe-core failed on {browser.current_url}: {answer}")
        found += [_violation(entry, view) for entry in answer if entry["impact"] in GRAVE]
    return found


def _violation(entry: dict[str, Any], view: str) -> Violation:
    nodes = entry["nodes"]
    return Violation(
        rule=entry["id"],
        impact=entry["impact"],
        view=view,
        targets=tuple(str(node["target"]) for node in nodes),
        summary=nodes[0].get("failureSummary", entry["help"]),
    )


@cache
def _axe() -> str:
    if not AXE.exists():
        raise SystemExit("axe-core is not installed. Run: just browsing")
    return AXE.read_text()
