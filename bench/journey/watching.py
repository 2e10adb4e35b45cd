"""An open dashboard, read again and again without a reload."""

import time
from dataclasses import dataclass, field

from bench.browsing import Browser
from bench.journey.numbers import NAMES, Numbers

MARK = "journey"
_MARK = "globalThis.marked = arguments[0]"
_READ = """
const report = document.getElementById("report");
const live = document.getElementById("live");
const shown = [...(report?.querySelectorAll("[data-metric]") ?? [])];
return {
    numbers: Object.fromEntries(shown.map((element) => [element.dataset.metric, element.dataset.value])),
    in_view: Number(live?.dataset.inView || 0),
    marked: globalThis.marked ?? null,
};
"""


@dataclass(frozen=True)
class Glance:
    """What the page showed at a moment."""

    at_s: float
    """Unix time."""
    numbers: Numbers
    in_view: int
    is_same_page: bool
    """False after a reload."""


@dataclass
class Watching:
    """One page, from when it was opened."""

    browser: Browser
    glances: list[Glance] = field(default_factory=list)

    def begin(self) -> None:
        self.browser.execute_script(_MARK, MARK)

    def look(self) -> Glance:
        found = self.browser.execute_script(_READ)
        shown = {name: _number(found["numbers"].get(name)) for name in NAMES}
        self.glances.append(Glance(time.time(), Numbers(**shown), int(found["in_view"]), found["marked"] == MARK))
        return self.glances[-1]

    @property
    def is_same_page(self) -> bool:
        return all(glance.is_same_page for glance in self.glances)

    @property
    def in_view_most(self) -> int:
        return max((glance.in_view for glance in self.glances), default=0)


def _number(text: str | None) -> float | None:
    return float(text) if text else None
