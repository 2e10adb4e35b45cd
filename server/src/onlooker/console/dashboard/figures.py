"""The headline numbers of a dashboard, each with its interval and its change in words. Pure."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext

from onlooker.console.dashboard.report import Totals
from onlooker.console.languages.locale_text import join_clauses, write_count, write_decimal, write_percent
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
_WHY_NOT = {
    NoComparison.NO_COMMON_TIME: _lazy("no comparison: the periods have no weekday and time of day in common"),
    NoComparison.NOT_WATCHED: _lazy("no comparison: not watched"),
    NoComparison.NOT_WATCHED_BEFORE: _lazy("no comparison: the earlier period was not watched"),
}


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

    name: Promise
    meaning: Promise
    show: Callable[[float], str]
    unit: str

    def write(self, value: float) -> str:
        """With its unit."""
        return f"{self.show(value)} {self.unit}".strip()


def _format_seconds(value: float) -> str:
    return write_decimal(value, 1)


def _format_percent(value: float) -> str:
    return write_decimal(100 * value, 1)


_UNITS: dict[Unit, tuple[Callable[[float], str], str]] = {
    Unit.PEOPLE: (write_count, ""),
    Unit.SECONDS: (_format_seconds, "s"),
    Unit.SHARE: (_format_percent, "%"),
}
_MEANINGS = {
    # xgettext:no-python-format
    "satisfaction": _lazy("How happy interested people look, on average: 0 % is unhappy, 50 % neutral, 100 % happy."),
}
"""Where the page shows another scale than the data endpoint."""


def _declared_figures() -> dict[str, FigureKind]:
    """Every metric that is one number, as it is declared; after the two that it is computed from, conversion."""
    figures: dict[str, FigureKind] = {}
    for name, metric in METRICS.items():
        if metric.unit in _UNITS:
            show, sign = _UNITS[metric.unit]
            meaning = _MEANINGS.get(name) or _lazy(metric.meaning)
            figures[name] = FigureKind(_lazy(metric.title), meaning, show, sign)
        if name == "interested":
            meaning = _lazy("The share of people passing by who are interested.")
            figures["conversion"] = FigureKind(_lazy("Conversion"), meaning, _format_percent, "%")
    return figures


FIGURE_KINDS = _declared_figures()
HEADLINES = tuple(FIGURE_KINDS)
COUNTED = tuple(name for name, metric in METRICS.items() if metric.unit is Unit.PEOPLE)
OF_FACES = ("interested", "conversion", "stop_time", "attention_time", "satisfaction")
"""Nothing is known of these where no face is looked for."""
NO_VALUE = "\N{EN DASH}"
_NOTHING = PeriodChange("none", "")


def make_figures(
    totals: Totals, *, reads_expression: bool, reads_faces: bool = True, groups_of: int = 1
) -> list[Figure]:
    """A period that was not watched, and had nobody, is not compared, and nothing is compared with it."""
    comparison = totals.comparison
    none = explain_no_comparison(comparison.like, totals.watched_before) if comparison.like.reason else None
    figures = [make_figure(metric, number_of(metric, totals.values), comparison, none=none) for metric in FIGURE_KINDS]
    if not totals.is_watched:
        why = PeriodChange("none", _explain_unwatched(totals))
        return [replace(figure, shown=NO_VALUE, unit="", interval="", change=why, compared="") for figure in figures]
    if not reads_faces and not totals.values["interested"]["value"]:  # what was read before is still shown
        return hide_faces(figures)
    if untold := describe_untold(totals, groups_of):
        few, why = _too_few(), PeriodChange("none", untold)
        figures = [replace(figure, change=why) if figure.change == few else figure for figure in figures]
    not_read = PeriodChange("none", _("expression is switched off for this stream"))
    return [
        replace(figure, change=not_read)
        if figure.metric == "satisfaction" and not reads_expression and totals.values["satisfaction"]["value"] is None
        else figure
        for figure in figures
    ]


def _explain_unwatched(totals: Totals) -> str:
    if totals.is_before_stream:
        return _("the stream did not exist yet")
    return _("closed") if totals.watched.is_closed else _("not watched")


def _too_few() -> PeriodChange:
    return PeriodChange("none", _("fewer than 10 people"))


def describe_untold(totals: Totals, groups_of: int) -> str:
    """How many interested people nothing is told about, though they were counted; empty where there are none."""
    untold = int(totals.values["interested"]["value"] or 0) - totals.told
    if untold < 1:
        return ""
    if groups_of == 1:
        said = ngettext("{untold} person is not told", "{untold} people are not told", untold)
        return said.format(untold=write_count(untold))
    said = ngettext(
        "in groups of at least {people}: {untold} person is not told yet",
        "in groups of at least {people}: {untold} people are not told yet",
        untold,
    )
    return said.format(people=write_count(groups_of), untold=write_count(untold))


def hide_faces(figures: list[Figure]) -> list[Figure]:
    """Of a stream that only counts: dashes with the reason, where a face is needed."""
    why = PeriodChange("none", _("this stream only counts: no face is looked for"))
    dash = Figure("", "", "", "", NO_VALUE, "", "", why, "")
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
    figure = Figure(metric, str(kind.name), str(kind.meaning), "", NO_VALUE, "", "", none or _NOTHING, "")
    if is_of_people and _count_people(metric, comparison) < FEWEST_PEOPLE:
        return replace(figure, change=_too_few())
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
    if not interval:
        return ""
    ends = {"low": kind.show(interval.low), "high": kind.show(interval.high)}
    return (_("{low} to {high} {unit}") if kind.unit else _("{low} to {high}")).format(**ends, unit=kind.unit)


def _format_compared(kind: FigureKind, change: Change) -> str:
    if change.now is None or change.before is None:
        return ""
    return _("{now}, before: {before}").format(now=kind.write(change.now), before=kind.write(change.before))


def format_before(metric: str, change: Change) -> str:
    return NO_VALUE if change.before is None else FIGURE_KINDS[metric].write(change.before)


def as_json(value: Any) -> str:
    """Exactly as the data endpoint writes it."""
    return msgspec.json.encode(value).decode()


def describe_change(change: Change, like: LikeTime, *, is_of_people: bool = True) -> PeriodChange:
    """`is_of_people`: the number is a mean or a share of people, not a count of them."""
    if is_of_people and change.people < FEWEST_PEOPLE:
        return PeriodChange("none", _("no comparison: fewer than 10 people"))
    if change.interval is None:
        return PeriodChange("none", _("no comparison: too few people"))
    size = describe_size(change.size, change.kind) if change.now or change.before else _("nobody in either period")
    chance = _describe_interval(change)
    compared = describe_compared(like)
    if change.direction is ChangeDirection.SAME:
        said = join_clauses((size, chance))
        return PeriodChange("same", _("about the same"), said, compared, _write_numbers(change))
    return PeriodChange(change.direction.value, size, chance, compared, _write_numbers(change))


def describe_compared(like: LikeTime) -> str:
    """Over which time; empty where there is no comparison."""
    if like.reason:
        return ""
    return _("compared over {compared} of {length} h").format(**compared_hours(like.compared_s, like.comparable_s))


def explain_no_comparison(like: LikeTime, watched_before: BucketCoverage | None = None) -> PeriodChange:
    assert like.reason
    return PeriodChange("none", _explain_reason(like.reason, like, watched_before))


def _explain_reason(reason: NoComparison, like: LikeTime, watched_before: BucketCoverage | None) -> str:
    if reason is NoComparison.TOO_LITTLE:
        why = _("no comparison: only {compared} of {length} h were watched in both periods")
        return why.format(**compared_hours(like.compared_s, like.comparable_s))
    if reason is NoComparison.NOT_WATCHED_BEFORE and watched_before and not watched_before.covered_s:
        if set(watched_before.missing) == {Absence.NOT_CREATED}:
            return _("no comparison: the stream did not exist in the earlier period")
        if Absence.UNKNOWN in watched_before.missing:
            return _("no comparison: it is no longer known when the camera watched in the earlier period")
    return str(_WHY_NOT[reason])


def describe_size(size: float | None, kind: ChangeKind) -> str:
    """`20 % more`, `0.4 points less`, `15 times as much`."""
    if size is None:
        return _("0 before")
    by = size - 1 if kind is ChangeKind.RATIO else size
    if abs(by) < LEAST_CHANGE:
        return _("no change")
    if kind is ChangeKind.DIFFERENCE:
        points = round(100 * abs(by), 1)
        n = 1 if points < 2 else 2  # 0.4 points, but 0,4 point in French
        if by > 0:
            # Translators: one form for less than 2, another from 2 on. English has the same for both.
            said = ngettext("{points} points more", "{points} points more", n)
        else:
            # Translators: one form for less than 2, another from 2 on. English has the same for both.
            said = ngettext("{points} points less", "{points} points less", n)
        return said.format(points=write_decimal(points, 1))
    if size >= MANY_TIMES:
        return _("{factor} times as much").format(factor=write_count(size))
    said = _("{percent} more") if by > 0 else _("{percent} less")
    return said.format(percent=write_percent(abs(by), 0 if abs(by) >= 0.0995 else 1))


def _write_numbers(change: Change) -> str:
    assert change.interval
    low, high = change.interval.low, change.interval.high
    numbers = [change.now, change.before, change.size, low, None if math.isinf(high) else high]
    return msgspec.json.encode(numbers).decode()


def _describe_interval(change: Change) -> str:
    """`95 % interval: 5 % less to 20 % more`."""
    assert change.interval
    low, high = change.interval.low, change.interval.high
    if not math.isinf(high):
        # xgettext:no-python-format
        said = _("95 % interval: {low} to {high}")
        return said.format(low=describe_size(low, change.kind), high=describe_size(high, change.kind))
    if not low:
        # xgettext:no-python-format
        return _("95 % interval: no limits")
    # xgettext:no-python-format
    return _("95 % interval: at least {low}").format(low=describe_size(low, change.kind))


def format_compared(like: LikeTime) -> str:
    """`131 of 168 h`."""
    return format_compared_s(like.compared_s, like.comparable_s)


def format_compared_s(compared_s: float, length_s: float) -> str:
    return _("{compared} of {length} h").format(**compared_hours(compared_s, length_s))


def compared_hours(compared_s: float, length_s: float) -> dict[str, str]:
    """For sentences about them."""
    return {"compared": _format_hours(compared_s), "length": _format_hours(length_s)}


def _format_hours(seconds: float) -> str:
    hours = seconds / 3600
    rounded = round(hours, 0 if hours >= WHOLE_HOURS_FROM else 1)
    return write_decimal(rounded, 0 if rounded.is_integer() else 1)
