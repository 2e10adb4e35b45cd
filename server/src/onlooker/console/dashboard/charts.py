"""What the charts of a dashboard draw, and the tables beside them. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from onlooker.console.dashboard.figures import NOTHING, is_before_stream, was_watched
from onlooker.console.dashboard.period import Period
from onlooker.console.dashboard.points import Point
from onlooker.console.dashboard.report import COUNTS, Report
from onlooker.console.dashboard.week import DAYS
from onlooker.console.dashboard.words import label_buckets, say_gap, say_share, say_watched, watched_share
from onlooker.metrics.definitions import Number
from onlooker.metrics.query import Time
from onlooker.streams.models import Stream

_NAMES = {
    "?": "Not known",
    "female": "Women",
    "male": "Men",
    "senior_female": "Senior women",
    "senior_male": "Senior men",
    "young_female": "Young women",
    "young_male": "Young men",
}
"""What is not here is called as the data endpoint calls it."""
_ROW = '<tr><th scope="row">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n'
_DAY = '<a href="?from={0}&amp;to={0}">{1}</a>'
"""Not in the template: a year has hundreds of rows, and a template takes longer for them."""
_READ_FROM = {"gender": ["gender"], "category": ["age", "gender"], "age": ["age"], "emotion": ["expression"]}
"""Breakdowns, and what must be read of people for each."""
_WHOSE = {"category": "Of the interested of known age and gender"}


@dataclass(frozen=True)
class Part:
    """How many people are in a part of a breakdown."""

    name: str
    count: Number
    share: str


@dataclass(frozen=True)
class Breakdown:
    """A ring, or bars."""

    metric: str
    heading: str
    whose: str
    """Who is counted, in a few words."""
    parts: list[Part]
    trouble: str
    """Why there is nothing to draw."""


def chart_data(report: Report, breakdowns: list[Breakdown]) -> dict[str, Any]:
    """What the page's own scripts draw from."""
    labels = label_buckets([point.key for point in report.points], report.period.time)
    drawn = {one.metric: None if one.trouble else report.values[one.metric] for one in breakdowns}
    return {
        "time": report.period.time.value,
        "zone": report.period.zone.key,
        "points": [_drawn(point, label, report.period) for point, label in zip(report.points, labels, strict=True)],
        **drawn,
        "week": [[None if mean is None else round(mean, 2) for mean in day] for day in report.week],
    }


def _drawn(point: Point, label: str, period: Period) -> dict[str, Any]:
    share = watched_share(point.watched)
    say = say_gap if point.gap else say_watched
    return {
        "key": point.key,
        "to": min(point.to_at, period.to_at).astimezone(period.zone).isoformat(),
        "label": label,
        "passing_by": point.passing_by,
        "interested": point.interested,
        "watched": None if share is None else round(share, 4),
        "gap": point.gap,
        "words": say(point.watched),
    }


def time_rows(data: Mapping[str, Any]) -> SafeString:
    """The points once more, for the table; days lead to their hours."""
    is_day = data["time"] == Time.BY_DAY
    return format_html_join("", _ROW, (_row(one, is_day=is_day) for one in data["points"]))


def _row(point: Mapping[str, Any], *, is_day: bool) -> tuple[str, ...]:
    label = format_html(_DAY, point["key"][:10], point["label"]) if is_day else point["label"]
    counts = (NOTHING if point["gap"] else point[name] for name in COUNTS)
    return (label, *counts, point["words"])


def week_rows(data: Mapping[str, Any]) -> list[tuple[str, list[float | None]]]:
    return list(zip(DAYS, data["week"], strict=True))


def make_breakdowns(report: Report, stream: Stream) -> list[Breakdown]:
    is_read = {"age": stream.reads_age, "gender": stream.reads_gender, "expression": stream.reads_expression}
    off = {name for name, is_on in is_read.items() if not is_on}
    return [_breakdown(metric, report, [name for name in of if name in off]) for metric, of in _READ_FROM.items()]


def _breakdown(metric: str, report: Report, off: list[str]) -> Breakdown:
    """What was read before it was switched off is shown."""
    counts = report.values[metric]
    total = sum(count or 0 for count in counts.values())
    is_known = any(count for part, count in counts.items() if part != "?")
    trouble = ""
    if off and not is_known:
        trouble = f"{' and '.join(off).capitalize()} {'are' if len(off) > 1 else 'is'} switched off for this stream."
    elif not total:
        trouble = _say_nobody(report)
    parts = [
        Part(_name(part), count, say_share((count or 0) / total) if total else "") for part, count in counts.items()
    ]
    return Breakdown(metric, metric.capitalize(), _WHOSE.get(metric, "Of the interested"), parts, trouble)


def _say_nobody(report: Report) -> str:
    if is_before_stream(report):
        return "The stream did not exist yet."
    if not was_watched(report):
        return "Not watched."
    return "Nobody to show." if report.values["interested"]["value"] else "Nobody was interested."


def _name(part: str) -> str:
    return _NAMES.get(part) or part.capitalize().replace("-", "\N{EN DASH}")
