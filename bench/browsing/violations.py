"""Faults of accessibility that axe-core finds in a page, light and dark, wide and narrow."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bench.browsing.browser import Browser
from bench.browsing.shots import VIEWS, Settle, View, at_once, viewing

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
GRAVE = ("serious", "critical")
TIME_LIMIT_S = 60
_RUN = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ["violations"]})
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
