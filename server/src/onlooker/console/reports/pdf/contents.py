"""What a PDF says: the same values as the page and the mail, in the active language."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils.dates import WEEKDAYS_ABBR
from django.utils.text import capfirst
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from onlooker.console.dashboard.figures import FIGURE_KINDS, Figure
from onlooker.console.dashboard.period import HOUR, Period
from onlooker.console.dashboard.presentation import Breakdown
from onlooker.console.dashboard.recent_days import OverviewDay
from onlooker.console.dashboard.report import Report, Week
from onlooker.console.languages.locale_text import (
    join_clauses,
    write_count,
    write_named,
    write_short_number,
    write_weekday,
)

SAID_BARS_AT_MOST = 100
"""A chart of more is not read out bar by bar."""
WATCHED_FROM = 0.99
"""As the dashboard's chart has it: a frame may be late."""


@dataclass(frozen=True)
class Bar:
    """A bucket of the chart, such as a day."""

    label: str
    passing_by: int | None
    """None where nothing was watched."""
    interested: int | None
    missing: float = 0.0
    """The share of its time that was not watched; 0 where the stream was closed."""
    words: str = ""
    """Why there is no number."""

    @property
    def said(self) -> str:
        return write_named(self.label, self.words if self.passing_by is None else write_count(self.passing_by))


@dataclass(frozen=True)
class BarChart:
    """People over time."""

    title: str
    bars: tuple[Bar, ...]
    names: tuple[str, ...]
    """Of the numbers that it shows: one or two."""

    @property
    def said(self) -> str:
        if len(self.bars) > SAID_BARS_AT_MOST:
            return self.title
        return _("Passing by. {days}.").format(days=join_clauses([bar.said for bar in self.bars]))


@dataclass(frozen=True)
class WeekTable:
    """People per watched hour, by hour of the week."""

    days: tuple[str, ...]
    means: Week
    asked: frozenset[tuple[int, int]]
    """The days and hours of which the period has half or more: only these can be missing."""

    def write(self, mean: float | None) -> str:
        return "" if mean is None else write_short_number(round(mean, 1))


@dataclass(frozen=True)
class PrintedReport:
    """All that a PDF says, in the order in which it says it."""

    language: str
    title: str
    range: str
    about: tuple[str, ...]
    """By which clock, and what it is compared with."""
    figures: Sequence[Figure]
    sentences: tuple[str, ...]
    """How much was watched, why numbers are zero or missing, what makes them rough."""
    chart: BarChart | None
    breakdowns: Sequence[Breakdown] = ()
    seniors: str = ""
    """From which age on."""
    week: WeekTable | None = None


def describe_stream(shown: Mapping[str, Any], title: str) -> PrintedReport:
    """`shown` is what the templates of the dashboard's report get."""
    report: Report = shown["report"]
    said = shown["explanation"]
    sentences = [
        said.zero,
        said.watched,
        _say_hours(shown),
        *said.advices,
        _as_sentence(shown["untold"]),
        _say_inexact(shown),
    ]
    return PrintedReport(
        language=get_language() or settings.LANGUAGE_CODE,
        title=title,
        range=shown["range"],
        about=(_("By the clock there: {zone}.").format(zone=report.period.zone.key), _say_compared(shown)),
        figures=shown["figures"],
        sentences=tuple(filter(None, sentences)),
        chart=_describe_chart(shown),
        breakdowns=shown["breakdowns"],
        seniors=write_short_number(shown["senior_age"]),
        week=_describe_week(report),
    )


def describe_group(shown: Mapping[str, Any], title: str) -> PrintedReport:
    """`shown` is what the templates of several streams' numbers get."""
    name = str(FIGURE_KINDS["passing_by"].name)
    return PrintedReport(
        language=get_language() or settings.LANGUAGE_CODE,
        title=title,
        range=shown["range"],
        about=(_("Several cameras together, each by its own clock."),),
        figures=shown["figures"],
        sentences=(shown["coverage"],),
        chart=BarChart(_("{name} by day").format(name=name), tuple(map(_as_bar, shown["days"])), (name,)),
    )


def describe_bars(shown: Mapping[str, Any]) -> tuple[Bar, ...]:
    """Those of the chart, of a stream or of several."""
    return tuple(map(_as_bar, shown["days"])) if "days" in shown else tuple(map(_read_bar, shown["data"]["points"]))


def _as_bar(day: OverviewDay) -> Bar:
    """Of several streams together."""
    label = write_weekday(day.begins_at)
    if day.gap:
        return Bar(label, None, None, 0.0 if day.is_closed else 1.0, day.gap)
    return Bar(label, day.passing_by, None)


def _describe_chart(shown: Mapping[str, Any]) -> BarChart:
    bars = describe_bars(shown)
    counts = ("passing_by", "interested") if any(bar.interested is not None for bar in bars) else ("passing_by",)
    return BarChart(shown["chart"].title, bars, tuple(str(FIGURE_KINDS[name].name) for name in counts))


def _read_bar(point: Mapping[str, Any]) -> Bar:
    if point["gap"]:
        return Bar(point["label"], None, None, 0.0 if point["gap"] == "closed" else 1.0, point["words"])
    watched = point["watched"]
    missing = 0.0 if watched is None or watched >= WATCHED_FROM else 1.0 - watched
    return Bar(point["label"], point["passing_by"], point["interested"], missing)


def _describe_week(report: Report) -> WeekTable | None:
    """None where no hour was watched for long enough."""
    if all(mean is None for day in report.week for mean in day):
        return None
    days = tuple(capfirst(str(day)) for day in WEEKDAYS_ABBR.values())
    asked = () if report.in_hours else _list_hours(report.period)  # nobody asks for hours in which it is closed
    return WeekTable(days, report.week, frozenset(asked))


def _list_hours(period: Period) -> Iterator[tuple[int, int]]:
    """By their middles; a period that is longer than a week has all of them."""
    middle = period.from_at.replace(minute=30, second=0, microsecond=0)
    for at in (middle + number * HOUR for number in range(8 * 24)):
        if period.from_at <= at < period.to_at:
            here = at.astimezone(period.zone)
            yield here.weekday(), here.hour


def _as_sentence(clause: str) -> str:
    return f"{capfirst(clause)}." if clause else ""


def _say_compared(shown: Mapping[str, Any]) -> str:
    before, watched = shown["range_before"], shown["watched_before"]
    if watched:
        said = _("Compared with %(range_before)s (watched %(watched_before)s).")
        return said % {"range_before": before, "watched_before": watched}
    return _("Compared with %(range_before)s.") % {"range_before": before}


def _say_hours(shown: Mapping[str, Any]) -> str:
    if not shown["report"].in_hours:
        return ""
    if not shown["has_hours"]:
        return _("This stream has no opening hours: these numbers are of all hours.")
    return _(
        "Opening hours only: a visit counts if it began while the stream was open, so these numbers and those of the "
        "closed hours add up to those of all hours. Hints about the picture and about devices are of all hours and "
        "left out."
    )


def _say_inexact(shown: Mapping[str, Any]) -> str:
    if shown["stream"].grid:
        return _("This stream is on the grid: numbers are of whole quarters of an hour.")
    if shown["report"].exact:
        return ""
    return _(
        "Some visits at the edges of this range have been deleted because their retention ended. Numbers may be "
        "slightly off."
    )
