"""The four numbers that page, data endpoint and ground truth must agree on."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields, replace
from datetime import datetime
from typing import Any

from bench.accuracy.scene_report import COUNT_ERROR, TIME_ERROR_S
from bench.journeys.figures import JourneyFigure
from bench.journeys.product.films import Film
from bench.lib.browser import Browser
from onlooker.metrics.changes import FEWEST_PEOPLE
from onlooker_client import Client

SHOWN_TO_S = 0.05
"""What rounding may change."""


@dataclass(frozen=True)
class Numbers:
    """Of some range of time; None where there is nobody to take a mean of, or nothing is shown."""

    passing_by: float | None
    interested: float | None
    stop_time: float | None
    attention_time: float | None

    def is_like(self, other: "Numbers") -> bool:
        pairs = zip(astuple(self), astuple(other), strict=True)
        return all(a == b or (a is not None and b is not None and abs(a - b) <= SHOWN_TO_S) for a, b in pairs)

    def as_on_page(self) -> "Numbers":
        """A page tells no mean of so few people."""
        if self.tells_means:
            return self
        return replace(self, stop_time=None, attention_time=None)

    @property
    def tells_means(self) -> bool:
        return (self.interested or 0) >= FEWEST_PEOPLE

    def has_counts_of(self, clip: Film) -> bool:
        return (self.passing_by, self.interested) == (clip.passing, clip.interested)


NAMES = tuple(field.name for field in fields(Numbers))


@dataclass(frozen=True)
class NumbersReading:
    """Numbers, and when they were there."""

    at_s: float
    numbers: Numbers


def ask_numbers(client: Client, from_at: datetime, to_at: datetime | None = None) -> Numbers:
    """Through the SDK, of the data endpoint."""
    (bucket,) = client.metrics(NAMES, from_at, to_at, time="global")
    return Numbers(**{name: bucket[name] for name in NAMES})


def numbers_in(said: Mapping[str, Any]) -> Numbers:
    """Of what a command printed."""
    return Numbers(**{name: said[name] for name in NAMES})


def final_since(readings: Sequence[NumbersReading]) -> float:
    """Since when it has been what it was in the end."""
    since = readings[-1].at_s
    for reading in reversed(readings):
        if not reading.numbers.is_like(readings[-1].numbers):
            break
        since = reading.at_s
    return since


def judge_numbers(found: Numbers, clip: Film, *, of: str, has_means: bool = True) -> list[JourneyFigure]:
    """Beside the truth, with the targets that scenes have."""
    figures = []
    counts = {"passing": (found.passing_by, clip.passing), "interested": (found.interested, clip.interested)}
    for name, (value, true) in counts.items():
        off = None if value is None else abs(value - true) / max(true, 1)
        figures += [JourneyFigure(f"{of}_{name}", value), JourneyFigure(f"{of}_{name}_error", off, at_most=COUNT_ERROR)]
    times = {
        "stop_time": (found.stop_time, clip.stop_time_s),
        "attention_time": (found.attention_time, clip.attention_time_s),
    }
    for name, (seconds, right) in times.items():
        figures.append(JourneyFigure(f"{of}_{name}_s", None if seconds is None else round(seconds, 2)))
        if right is not None and has_means:
            error = None if seconds is None else round(abs(seconds - right), 3)
            figures.append(JourneyFigure(f"{of}_{name}_error_s", error, at_most=TIME_ERROR_S))
    return figures


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
class DashboardReading:
    """What the page showed at a moment."""

    at_s: float
    """Unix time."""
    numbers: Numbers
    in_view: int
    is_same_page: bool
    """False after a reload."""


@dataclass
class DashboardWatch:
    """One page, from when it was opened."""

    browser: Browser
    glances: list[DashboardReading] = field(default_factory=list)

    def begin(self) -> None:
        self.browser.execute_script(_MARK, MARK)

    def look(self) -> DashboardReading:
        found = self.browser.execute_script(_READ)
        shown = {name: _number(found["numbers"].get(name)) for name in NAMES}
        self.glances.append(
            DashboardReading(time.time(), Numbers(**shown), int(found["in_view"]), found["marked"] == MARK)
        )
        return self.glances[-1]

    @property
    def is_same_page(self) -> bool:
        return all(glance.is_same_page for glance in self.glances)

    @property
    def in_view_most(self) -> int:
        return max((glance.in_view for glance in self.glances), default=0)


def _number(text: str | None) -> float | None:
    return float(text) if text else None
