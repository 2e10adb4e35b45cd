"""The numbers at the head of a dashboard, each with its change against the period before. Pure."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from onlooker.console.dashboard.points import gap_of
from onlooker.console.dashboard.report import Report
from onlooker.console.dashboard.words import watched_share
from onlooker.metrics.absences import Absence
from onlooker.metrics.definitions import METRICS, Number, Value


@dataclass(frozen=True)
class Change:
    """How a number differs from the one before."""

    direction: str
    """`up`, `down`, `same`, or `none` where there is nothing to compare with."""
    words: str


@dataclass(frozen=True)
class Figure:
    """A number as the page shows it."""

    metric: str
    name: str
    meaning: str
    value: str
    """As JSON of the data endpoint; nothing for null."""
    shown: str
    unit: str
    change: Change
    before: str
    """The number that it is compared with, as it is shown."""


@dataclass(frozen=True)
class _Kind:
    name: str
    meaning: str
    show: Callable[[float], str]
    unit: str
    is_share: bool = False


def _count(value: float) -> str:
    return f"{value:,}"


def _seconds(value: float) -> str:
    return f"{value:,.1f}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


_KINDS = {
    "passing_by": _Kind("Passing by", METRICS["passing_by"].meaning, _count, ""),
    "interested": _Kind("Interested", METRICS["interested"].meaning, _count, ""),
    "conversion": _Kind("Conversion", "How many of those who pass by are interested.", _percent, "%", is_share=True),
    "stop_time": _Kind("Stop time", METRICS["stop_time"].meaning, _seconds, "s"),
    "attention_time": _Kind("Attention time", METRICS["attention_time"].meaning, _seconds, "s"),
    "satisfaction": _Kind(
        "Satisfaction",
        "How happy interested people look, on average: 0 % is unhappy, 50 % neutral, 100 % happy.",
        _percent,
        "%",
        is_share=True,
    ),
}
NOTHING = "\N{EN DASH}"
WATCHED_ALIKE = 0.5
LEAST_CHANGE = 0.0005
"""Less is shown as 0.0."""
MANY_TIMES = 10
"""From here on percentages say nothing."""
_NOTHING_BEFORE = Change("none", "no comparison")
_NOT_WATCHED = Change("none", "not watched")
_NOT_CREATED = Change("none", "the stream did not exist yet")
_NOT_READ = Change("none", "expression is switched off for this stream")


def make_figures(report: Report, *, reads_expression: bool) -> list[Figure]:
    """What was not watched, and had nobody, is nothing to compare, and nothing to compare with."""
    befores = report.before if _is_comparable(report) else None
    figures = [
        make_figure(metric, number_of(metric, report.values), number_of(metric, befores) if befores else None)
        for metric in _KINDS
    ]
    if not was_watched(report):
        why = _NOT_CREATED if is_before_stream(report) else _NOT_WATCHED
        return [replace(figure, shown=NOTHING, unit="", change=why) for figure in figures]
    satisfaction = figures[-1]
    if not reads_expression and not satisfaction.value:
        figures[-1] = replace(satisfaction, change=_NOT_READ)
    return figures


def was_watched(report: Report) -> bool:
    """Whether a zero is one, by the rule for a point of the chart."""
    somebody = report.values["passing_by"]["value"] or report.values["interested"]["value"]
    return bool(somebody) or not gap_of(report.watched)


def is_before_stream(report: Report) -> bool:
    """Whether all of it lies before the stream was created, and no film of that time was sent later."""
    return not was_watched(report) and set(report.watched.missing) == {Absence.NOT_CREATED}


def _is_comparable(report: Report) -> bool:
    """Whether the period before was watched, and not much less: a day that is held against a month says nothing."""
    now, before = watched_share(report.watched), watched_share(report.watched_before)
    if now is None or before is None:  # it is not known any more
        return report.watched_before.covered_s > 0 or bool(report.before["passing_by"]["value"])
    return before > 0 and before >= WATCHED_ALIKE * now


def number_of(metric: str, values: dict[str, Value]) -> Number:
    if metric == "conversion":
        passing_by, interested = values["passing_by"]["value"], values["interested"]["value"]
        return interested / passing_by if passing_by and interested is not None else None
    return values[metric]["value"]


def make_figure(metric: str, now: Number, before: Number) -> Figure:
    """One of them; `before` is None where nothing is known of it."""
    kind = _KINDS[metric]
    return Figure(
        metric=metric,
        name=kind.name,
        meaning=kind.meaning,
        value="" if now is None else as_json(now),
        shown=NOTHING if now is None else kind.show(now),
        unit="" if now is None else kind.unit,
        change=_NOTHING_BEFORE if now is None or before is None else _change(now, before, kind),
        before="" if before is None else f"{kind.show(before)} {kind.unit}".strip(),
    )


def _change(now: float, before: float, kind: _Kind) -> Change:
    direction, more = ("up", "more") if now > before else ("down", "less")
    if now == before:
        return Change("same", "no change")
    if not before and not kind.is_share:
        return Change(direction, "up from 0")
    change = abs(now - before) / (1 if kind.is_share else before)
    if change < LEAST_CHANGE:
        return Change("same", "about the same")
    if kind.is_share:
        return Change(direction, f"{100 * change:.1f} points {more}")
    if now >= MANY_TIMES * before:
        return Change(direction, f"{now / before:,.0f} times as much")
    return Change(direction, f"{100 * change:.{0 if change >= 0.1 else 1}f} % {more}")


def as_json(value: Any) -> str:
    """Exactly as the data endpoint writes it."""
    return msgspec.json.encode(value).decode()
