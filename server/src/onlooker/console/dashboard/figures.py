"""The headline numbers of a dashboard, each with its interval and its change in words. Pure."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from onlooker.console.dashboard.report import Report
from onlooker.metrics.changes import (
    FEWEST_PEOPLE,
    Change,
    ChangeDirection,
    ChangeKind,
    compare_shares,
    conversion_interval,
    metric_interval,
    sum_figures,
)
from onlooker.metrics.comparison import Comparison, LikeTime, NoComparison
from onlooker.metrics.coverage import Absence, BucketCoverage
from onlooker.metrics.definitions import METRICS, Number, Unit, Value
from onlooker.metrics.intervals import Interval

LEAST_CHANGE = 0.0005
"""A smaller change would be shown as 0.0."""
MANY_TIMES = 10
"""Larger growth is shown as a factor, not as a percentage."""
WHOLE_HOURS_FROM = 10
ABOUT_THE_SAME = "about the same"
_WHY_NOT = {
    NoComparison.NO_COMMON_TIME: "no comparison: the periods have no weekday and time of day in common",
    NoComparison.NOT_WATCHED: "no comparison: not watched",
    NoComparison.NOT_WATCHED_BEFORE: "no comparison: the earlier period was not watched",
}
_NOT_CREATED_BEFORE = "no comparison: the stream did not exist in the earlier period"
_UNKNOWN_BEFORE = "no comparison: it is no longer known when the camera watched in the earlier period"
_TOO_LITTLE = "no comparison: only {} were watched in both periods"
TOO_FEW = "fewer than 10 people"
_TOO_FEW_COMPARED = "no comparison: fewer than 10 people"
_NOT_KNOWN = "no comparison: too few people"


@dataclass(frozen=True)
class PeriodChange:
    """How a number differs from the same number of the earlier period."""

    direction: str
    """`up`, `down`, `same`, or `none` where there is no comparison."""
    words: str
    chance: str = ""
    """What chance alone would do."""
    compared: str = ""
    """Over which time."""
    numbers: str = ""
    """Now, before, size and interval, as JSON; null where there is none, or no limit."""


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
    interval: str
    """Between which numbers a mean or a share lies, apart from chance; empty for counts."""
    change: PeriodChange
    compared: str
    """The numbers of the compared time: now, and in the earlier period."""


@dataclass(frozen=True)
class FigureKind:
    """How a number is called and written."""

    name: str
    meaning: str
    show: Callable[[float], str]
    unit: str


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


def _declared_figures() -> dict[str, FigureKind]:
    """Every metric that is one number, as it is declared; after the two that it is computed from, conversion."""
    figures: dict[str, FigureKind] = {}
    for name, metric in METRICS.items():
        if metric.unit in _UNITS:
            show, sign = _UNITS[metric.unit]
            meaning = _MEANINGS.get(name, metric.meaning)
            figures[name] = FigureKind(metric.title, meaning, show, sign)
        if name == "interested":
            meaning = "The share of people passing by who are interested."
            figures["conversion"] = FigureKind("Conversion", meaning, _format_percent, "%")
    return figures


FIGURE_KINDS = _declared_figures()
HEADLINES = tuple(FIGURE_KINDS)
COUNTED = tuple(name for name, metric in METRICS.items() if metric.unit is Unit.PEOPLE)
OF_FACES = ("interested", "conversion", "stop_time", "attention_time", "satisfaction")
"""Nothing is known of these where no face is looked for."""
NO_VALUE = "\N{EN DASH}"
_NOT_WATCHED = PeriodChange("none", "not watched")
_CLOSED = PeriodChange("none", "closed")
_NOT_CREATED = PeriodChange("none", "the stream did not exist yet")
_NOT_READ = PeriodChange("none", "expression is switched off for this stream")
_NO_FACES = PeriodChange("none", "this stream only counts: no face is looked for")
_TOO_FEW = PeriodChange("none", TOO_FEW)
_NOTHING = PeriodChange("none", "")


def make_figures(
    report: Report, *, reads_expression: bool, reads_faces: bool = True, groups_of: int = 1
) -> list[Figure]:
    """A period that was not watched, and had nobody, is not compared, and nothing is compared with it."""
    comparison = report.comparison
    none = explain_no_comparison(comparison.like, report.watched_before) if comparison.like.reason else None
    figures = [make_figure(metric, number_of(metric, report.values), comparison, none=none) for metric in FIGURE_KINDS]
    if not report.is_watched:
        otherwise = _CLOSED if report.watched.is_closed else _NOT_WATCHED
        why = _NOT_CREATED if report.is_before_stream else otherwise
        return [replace(figure, shown=NO_VALUE, unit="", interval="", change=why, compared="") for figure in figures]
    if not reads_faces and not report.values["interested"]["value"]:  # what was read before is still shown
        return hide_faces(figures)
    if untold := describe_untold(report, groups_of):
        why = PeriodChange("none", untold)
        figures = [replace(figure, change=why) if figure.change == _TOO_FEW else figure for figure in figures]
    return [
        replace(figure, change=_NOT_READ)
        if figure.metric == "satisfaction" and not reads_expression and report.values["satisfaction"]["value"] is None
        else figure
        for figure in figures
    ]


def describe_untold(report: Report, groups_of: int) -> str:
    """How many interested people nothing is told about, though they were counted; empty where there are none."""
    untold = int(report.values["interested"]["value"] or 0) - report.told
    if untold < 1:
        return ""
    people = "1 person is" if untold == 1 else f"{untold:,} people are"
    return f"in groups of at least {groups_of}: {people} not told yet" if groups_of > 1 else f"{people} not told"


def hide_faces(figures: list[Figure]) -> list[Figure]:
    """Of a stream that only counts: dashes with the reason, where a face is needed."""
    dash = Figure("", "", "", "", NO_VALUE, "", "", _NO_FACES, "")
    return [
        replace(dash, metric=figure.metric, name=figure.name, meaning=figure.meaning)
        if figure.metric in OF_FACES
        else figure
        for figure in figures
    ]


def number_of(metric: str, values: dict[str, Value]) -> Number:
    if metric == "conversion":
        passing_by, interested = values["passing_by"]["value"], values["interested"]["value"]
        return interested / passing_by if passing_by and interested is not None else None
    return values[metric]["value"]


def make_figure(metric: str, now: Number, comparison: Comparison, *, none: PeriodChange | None = None) -> Figure:
    """`none` says why there is no comparison."""
    kind = FIGURE_KINDS[metric]
    is_of_people = metric not in COUNTED
    figure = Figure(metric, kind.name, kind.meaning, "", NO_VALUE, "", "", none or _NOTHING, "")
    if is_of_people and _count_people(metric, comparison) < FEWEST_PEOPLE:
        return replace(figure, change=_TOO_FEW)
    if now is None:
        return figure
    figure = replace(figure, value=as_json(now), shown=kind.show(now), unit=kind.unit)
    if is_of_people:
        figure = replace(figure, interval=_format_interval(kind, find_interval(metric, comparison)))
    if none:
        return figure
    change = find_change(metric, comparison)
    said = describe_change(change, comparison.like, is_of_people=is_of_people)
    return replace(figure, change=said, compared=_format_compared(kind, change) if said.compared else "")


def _count_people(metric: str, comparison: Comparison) -> int:
    """Whom a mean or a share is of."""
    figures = sum_figures(comparison.clusters["passing_by" if metric == "conversion" else metric])
    return figures[-1]


def find_interval(metric: str, comparison: Comparison) -> Interval | None:
    """Of a mean or a share of the whole period."""
    if metric != "conversion":
        return metric_interval(METRICS[metric], comparison.clusters[metric])
    [interested], [passing_by] = (sum_figures(comparison.clusters[name]) for name in ("interested", "passing_by"))
    return conversion_interval(interested, passing_by)


def find_change(metric: str, comparison: Comparison) -> Change:
    """Where there is a comparison."""
    if metric != "conversion":
        return comparison.changes[metric]["value"]
    interested, passing_by = (comparison.changes[name]["value"] for name in ("interested", "passing_by"))
    return compare_shares(
        (int(interested.now or 0), int(passing_by.now or 0)), (int(interested.before or 0), int(passing_by.before or 0))
    )


def _format_interval(kind: FigureKind, interval: Interval | None) -> str:
    return f"{kind.show(interval.low)} to {kind.show(interval.high)} {kind.unit}".strip() if interval else ""


def _format_compared(kind: FigureKind, change: Change) -> str:
    if change.now is None or change.before is None:
        return ""
    now, before = (_format_number(kind, value) for value in (change.now, change.before))
    return f"{now}, before: {before}"


def format_before(metric: str, change: Change) -> str:
    return NO_VALUE if change.before is None else _format_number(FIGURE_KINDS[metric], change.before)


def _format_number(kind: FigureKind, value: float) -> str:
    return f"{kind.show(value)} {kind.unit}".strip()


def as_json(value: Any) -> str:
    """Exactly as the data endpoint writes it."""
    return msgspec.json.encode(value).decode()


def describe_change(change: Change, like: LikeTime, *, is_of_people: bool = True) -> PeriodChange:
    """`is_of_people`: the number is a mean or a share of people, not a count of them."""
    if is_of_people and change.people < FEWEST_PEOPLE:
        return PeriodChange("none", _TOO_FEW_COMPARED)
    if change.interval is None:
        return PeriodChange("none", _NOT_KNOWN)
    size = describe_size(change.size, change.kind) if change.now or change.before else "nobody in either period"
    chance = f"95 % interval: {_describe_interval(change)}"
    compared = f"compared over {format_compared(like)}"
    if change.direction is ChangeDirection.SAME:
        return PeriodChange("same", ABOUT_THE_SAME, f"{size}; {chance}", compared, _write_numbers(change))
    return PeriodChange(change.direction.value, size, chance, compared, _write_numbers(change))


def explain_no_comparison(like: LikeTime, watched_before: BucketCoverage | None = None) -> PeriodChange:
    reason = like.reason
    assert reason
    if reason is NoComparison.TOO_LITTLE:
        return PeriodChange("none", _TOO_LITTLE.format(format_compared(like)))
    if reason is NoComparison.NOT_WATCHED_BEFORE and watched_before and not watched_before.covered_s:
        if set(watched_before.missing) == {Absence.NOT_CREATED}:
            return PeriodChange("none", _NOT_CREATED_BEFORE)
        if Absence.UNKNOWN in watched_before.missing:
            return PeriodChange("none", _UNKNOWN_BEFORE)
    return PeriodChange("none", _WHY_NOT[reason])


def describe_size(size: float | None, kind: ChangeKind) -> str:
    """`20 % more`, `0.4 points less`, `15 times as much`."""
    if size is None:
        return "0 before"
    by = size - 1 if kind is ChangeKind.RATIO else size
    more = "more" if by > 0 else "less"
    if abs(by) < LEAST_CHANGE:
        return "no change"
    if kind is ChangeKind.DIFFERENCE:
        return f"{100 * abs(by):.1f} points {more}"
    if size >= MANY_TIMES:
        return f"{size:,.0f} times as much"
    return f"{100 * abs(by):.{0 if abs(by) >= 0.0995 else 1}f} % {more}"


def _write_numbers(change: Change) -> str:
    assert change.interval
    low, high = change.interval.low, change.interval.high
    numbers = [change.now, change.before, change.size, low, None if math.isinf(high) else high]
    return msgspec.json.encode(numbers).decode()


def _describe_interval(change: Change) -> str:
    assert change.interval
    low, high = change.interval.low, change.interval.high
    if math.isinf(high):
        return f"at least {describe_size(low, change.kind)}" if low else "no limits"
    return f"{describe_size(low, change.kind)} to {describe_size(high, change.kind)}"


def format_compared(like: LikeTime) -> str:
    """`131 of 168 h`."""
    return format_compared_s(like.compared_s, like.length_s)


def format_compared_s(compared_s: float, length_s: float) -> str:
    return f"{_format_hours(compared_s)} of {_format_hours(length_s)} h"


def _format_hours(seconds: float) -> str:
    hours = seconds / 3600
    return f"{hours:,.0f}" if hours >= WHOLE_HOURS_FROM else f"{round(hours, 1):g}"
