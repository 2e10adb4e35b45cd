"""The headline numbers of a dashboard, each with its change since the period before. Pure."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from onlooker.console.dashboard.report import Report
from onlooker.metrics.definitions import METRICS, Number, Unit, Value


@dataclass(frozen=True)
class PeriodChange:
    """How a number differs from the same number of the period before."""

    direction: str
    """`up`, `down`, `same`, or `none` where there is no comparison."""
    words: str


@dataclass(frozen=True)
class Figure:
    """A headline number as the page shows it."""

    metric: str
    name: str
    meaning: str
    value: str
    """As the data endpoint's JSON; empty for null."""
    shown: str
    unit: str
    change: PeriodChange
    before: str
    """The number it is compared with, formatted."""


@dataclass(frozen=True)
class _FigureKind:
    name: str
    meaning: str
    show: Callable[[float], str]
    unit: str
    is_share: bool = False


def _format_count(value: float) -> str:
    return f"{value:,}"


def _format_seconds(value: float) -> str:
    return f"{value:,.1f}"


def _format_percent(value: float) -> str:
    return f"{100 * value:.1f}"


_UNITS: dict[Unit, tuple[Callable[[float], str], str]] = {
    Unit.PEOPLE: (_format_count, ""),
    Unit.SECONDS: (_format_seconds, "s"),
    Unit.SHARE: (_format_percent, "%"),
}
_MEANINGS = {
    "satisfaction": "How happy interested people look, on average: 0 % is unhappy, 50 % neutral, 100 % happy.",
}
"""Where the page shows another scale than the data endpoint."""


def _declared_figures() -> dict[str, _FigureKind]:
    """Every metric that is one number, as it is declared; after the two that it is computed from, conversion."""
    figures: dict[str, _FigureKind] = {}
    for name, metric in METRICS.items():
        if metric.unit in _UNITS:
            show, sign = _UNITS[metric.unit]
            meaning = _MEANINGS.get(name, metric.meaning)
            figures[name] = _FigureKind(metric.title, meaning, show, sign, metric.unit is Unit.SHARE)
        if name == "interested":
            meaning = "The share of people passing by who are interested."
            figures["conversion"] = _FigureKind("Conversion", meaning, _format_percent, "%", is_share=True)
    return figures


_FIGURES = _declared_figures()
NO_VALUE = "\N{EN DASH}"
WATCHED_ALIKE = 0.5
"""A period that was watched less than half as much is not compared with."""
LEAST_CHANGE = 0.0005
"""A smaller change would be shown as 0.0."""
MANY_TIMES = 10
"""Larger growth is shown as a factor, not as a percentage."""
_NO_COMPARISON = PeriodChange("none", "no comparison")
_NOT_WATCHED = PeriodChange("none", "not watched")
_NOT_CREATED = PeriodChange("none", "the stream did not exist yet")
_NOT_READ = PeriodChange("none", "expression is switched off for this stream")


def make_figures(report: Report, *, reads_expression: bool) -> list[Figure]:
    """A period that was not watched, and had nobody, is not compared, and nothing is compared with it."""
    befores = report.before if _is_comparable(report) else None
    figures = [
        make_figure(metric, number_of(metric, report.values), number_of(metric, befores) if befores else None)
        for metric in _FIGURES
    ]
    if not report.is_watched:
        why = _NOT_CREATED if report.is_before_stream else _NOT_WATCHED
        return [replace(figure, shown=NO_VALUE, unit="", change=why) for figure in figures]
    return [
        replace(figure, change=_NOT_READ)
        if figure.metric == "satisfaction" and not reads_expression and not figure.value
        else figure
        for figure in figures
    ]


def _is_comparable(report: Report) -> bool:
    """Whether the period before was watched, and not for much less time."""
    now, before = report.share, report.share_before
    if now is None or before is None:  # no longer known
        return report.watched_before.covered_s > 0 or bool(report.before["passing_by"]["value"])
    return before > 0 and before >= WATCHED_ALIKE * now


def number_of(metric: str, values: dict[str, Value]) -> Number:
    if metric == "conversion":
        passing_by, interested = values["passing_by"]["value"], values["interested"]["value"]
        return interested / passing_by if passing_by and interested is not None else None
    return values[metric]["value"]


def make_figure(metric: str, now: Number, before: Number) -> Figure:
    """`before` is None where there is nothing to compare with."""
    kind = _FIGURES[metric]
    return Figure(
        metric=metric,
        name=kind.name,
        meaning=kind.meaning,
        value="" if now is None else as_json(now),
        shown=NO_VALUE if now is None else kind.show(now),
        unit="" if now is None else kind.unit,
        change=_NO_COMPARISON if now is None or before is None else _compare(now, before, kind),
        before="" if before is None else f"{kind.show(before)} {kind.unit}".strip(),
    )


def _compare(now: float, before: float, kind: _FigureKind) -> PeriodChange:
    direction, more = ("up", "more") if now > before else ("down", "less")
    if now == before:
        return PeriodChange("same", "no change")
    if not before and not kind.is_share:
        return PeriodChange(direction, "up from 0")
    change = abs(now - before) / (1 if kind.is_share else before)
    if change < LEAST_CHANGE:
        return PeriodChange("same", "about the same")
    if kind.is_share:
        return PeriodChange(direction, f"{100 * change:.1f} points {more}")
    if now >= MANY_TIMES * before:
        return PeriodChange(direction, f"{now / before:,.0f} times as much")
    return PeriodChange(direction, f"{100 * change:.{0 if change >= 0.1 else 1}f} % {more}")


def as_json(value: Any) -> str:
    """Exactly as the data endpoint writes it."""
    return msgspec.json.encode(value).decode()
