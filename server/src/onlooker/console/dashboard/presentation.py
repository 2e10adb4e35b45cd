"""How a report is shown: its charts, their tables, what was not watched, and why a number is zero. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from onlooker.console.dashboard.figures import NO_VALUE
from onlooker.console.dashboard.period import Period
from onlooker.console.dashboard.report import COUNTS, NOTHING_WATCHED, Point, Report
from onlooker.console.streams.status import REFUSAL_TEXTS
from onlooker.metrics.changes import FEWEST_PEOPLE
from onlooker.metrics.coverage import Absence, BucketCoverage
from onlooker.metrics.definitions import Number, Value
from onlooker.metrics.intervals import share_interval
from onlooker.metrics.quality import BucketQuality, ChangeSource, QualityChange
from onlooker.metrics.query import Time
from onlooker.streams.coverage import Reason
from onlooker.streams.models import Stream
from onlooker_pipeline.expressions import VALENCES

LEAST_SHARE, LEAST_S, MOST_S = 0.005, 10.0, 300.0
"""Missing time is not mentioned below this share of the whole, within these limits."""
DAYS_FROM_MINUTES = 48 * 60
"""Longer durations are given in days."""
SMALL_FACE_PX = 40
"""Below, more faces are missed and ages are guesses: what `onlooker-agent doctor` asks for. An edge of a bin."""
DARK_SHARE = 0.25
"""From a quarter of the frames on, evenings or a corner of the day are missing, not single moments."""
FEW_FPS = 3.0
"""Below, a look of one second rests on two frames. While a face is in view: an idle camera sends one a second."""
HARDLY_READ = 0.5
"""Below, a breakdown says more about who could be read than about who came."""
ADVICES_AT_MOST = 2
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

# Rows are made here because a year has hundreds of them, and a template takes longer.
_ROW = '<tr><th scope="row">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n'
_DAYS_LINK = '<a href="?from={}&amp;to={}">{}</a>'

_READ_FROM = {"gender": ("gender",), "category": ("age", "gender"), "age": ("age",), "emotion": ("expression",)}
"""The breakdowns, and what must be computed of people for each."""
_PART_NAMES = {
    "?": "Unknown",
    "female": "Women",
    "male": "Men",
    "senior_female": "Senior women",
    "senior_male": "Senior men",
    "young_female": "Young women",
    "young_male": "Young men",
}
"""Other parts have the data endpoint's names."""
_SWITCHED_OFF = {
    ("age",): "Age is switched off for this stream.",
    ("gender",): "Gender is switched off for this stream.",
    ("age", "gender"): "Age and gender are switched off for this stream.",
    ("expression",): "Expression is switched off for this stream.",
}
_ABSENCES = {
    Absence.OFFLINE: "offline",
    Absence.NOT_CREATED: "",
    Absence.DISABLED: "disabled",
    Absence.QUOTA: "monthly limit reached",
    Absence.REFUSED: "frames refused",
    Absence.BLACK: "picture black",
    Absence.COVERED: "lens covered",
    Absence.DARK: "too dark",
    Absence.OVEREXPOSED: "picture overexposed",
    Absence.BLURRED: "picture blurred",
    Absence.FROZEN: "picture frozen",
    Absence.MOVED: "camera moved",
    Absence.UNKNOWN: "unknown",
    Absence.CLOSED: "closed",
}
_CHANGES = {
    ChangeSource.VIEW: "Camera turned",
    ChangeSource.MODELS: "Models {}",
    ChangeSource.PIPELINE: "Pipeline {}",
}


@dataclass(frozen=True)
class BreakdownPart:
    """How many people are in one part of a breakdown."""

    name: str
    count: Number
    share: str
    """Empty where it would be of fewer than 10 people."""
    interval: str


@dataclass(frozen=True)
class Breakdown:
    """A ring chart or a bar chart."""

    metric: str
    heading: str
    whose: str
    """Who is counted."""
    parts: list[BreakdownPart]
    trouble: str
    """Why there is nothing to draw."""


@dataclass(frozen=True)
class Explanation:
    """The sentences below the headline numbers."""

    watched: str
    zero: str
    """Why the numbers are zero; empty where somebody passed by."""
    leads_to_setup: bool
    """Whether the owner should check how the camera is connected."""
    advices: tuple[str, ...]
    """What makes the numbers rough, and what to do about it."""


def present_report(report: Report, stream: Stream, *, ever_seen: bool) -> dict[str, Any]:
    """What the templates need of a report besides its headline numbers. `ever_seen`: a frame has arrived before."""
    breakdowns = make_breakdowns(report, stream)
    data = make_chart_data(report, breakdowns)
    return {
        "explanation": explain_report(report, stream, ever_seen=ever_seen),
        "watched_before": "" if report.share_before is None else format_share(report.share_before),
        "breakdowns": breakdowns,
        "data": data,
        "rows": make_time_rows(data),
        "week": list(zip(_WEEKDAYS, data["week"], strict=True)),
        "hours": range(24),
    }


def make_breakdowns(report: Report, stream: Stream) -> list[Breakdown]:
    names = ("age", "gender", "expression")
    is_read = {name: stream.reads_faces and getattr(stream, f"reads_{name}") for name in names}
    return [
        _make_breakdown(metric, report, tuple(name for name in names if not is_read[name]))
        for metric, names in _READ_FROM.items()
    ]


def _make_breakdown(metric: str, report: Report, off: tuple[str, ...]) -> Breakdown:
    """Values read before they were switched off are still shown."""
    counts = report.values[metric]
    total = sum(count or 0 for count in counts.values())
    is_known = any(count for part, count in counts.items() if part != "?")
    trouble = ""
    if off and not is_known:
        trouble = _SWITCHED_OFF[off]
    elif not total:
        trouble = _explain_empty_breakdown(report)
    parts = [
        BreakdownPart(
            _PART_NAMES.get(part) or part.capitalize().replace("-", "\N{EN DASH}"),
            count,
            format_share((count or 0) / total) if total >= FEWEST_PEOPLE else "",
            format_share_interval(int(count or 0), int(total)),
        )
        for part, count in counts.items()
    ]
    return Breakdown(metric, metric.capitalize(), describe_people(metric, counts), parts, trouble)


def format_share_interval(count: int, total: int) -> str:
    """`20 to 31 %`."""
    if total < FEWEST_PEOPLE:
        return ""
    interval = share_interval(count, total)
    return f"{100 * interval.low:.0f} to {100 * interval.high:.0f} %"


def describe_people(metric: str, counts: Mapping[str, Number]) -> str:
    """Who is counted; with emotions also the coarser words, which are right more often."""
    if metric == "category":
        return "Interested people of known age and gender"
    known = sum(count or 0 for part, count in counts.items() if part != "?")
    if metric != "emotion" or known < FEWEST_PEOPLE:
        return "Interested people"
    shares = {
        valence: format_share(sum(counts[part] or 0 for part in parts) / known) for valence, parts in VALENCES.items()
    }
    return "Interested people: {positive} positive, {neutral} neutral, {negative} negative".format(**shares)


def _explain_empty_breakdown(report: Report) -> str:
    if report.is_before_stream:
        return "The stream did not exist yet."
    if not report.is_watched:
        return "Not watched."
    return "No data to show." if report.values["interested"]["value"] else "Nobody was interested."


def make_chart_data(report: Report, breakdowns: list[Breakdown]) -> dict[str, Any]:
    """The JSON that the page's scripts draw from."""
    labels = label_buckets([point.key for point in report.points], report.period.time)
    drawn = {one.metric: None if one.trouble else report.values[one.metric] for one in breakdowns}
    return {
        "time": report.period.time.value,
        "zone": report.period.zone.key,
        "points": [
            _draw_point(point, label, report.period) for point, label in zip(report.points, labels, strict=True)
        ],
        **drawn,
        "week": [[None if mean is None else round(mean, 2) for mean in day] for day in report.week],
    }


def _draw_point(point: Point, label: str, period: Period) -> dict[str, Any]:
    watched = describe_gap(point.watched) if point.gap else describe_coverage(point.watched)
    changes = list(dict.fromkeys(map(describe_quality_change, point.changes)))
    return {
        "key": point.key,
        "to": min(point.to_at, period.to_at).astimezone(period.zone).isoformat(),
        "label": label,
        "passing_by": point.passing_by,
        "interested": point.interested,
        "watched": None if point.share is None else round(point.share, 4),
        "gap": point.gap,
        "words": "; ".join([watched, *(text[0].lower() + text[1:] for text in changes), *point.notes]),
        "changes": changes,
        "notes": list(point.notes),
    }


def describe_quality_change(change: QualityChange) -> str:
    """As a mark in the chart has it."""
    return _CHANGES[change.what].format(change.version or "unknown")


def label_buckets(keys: list[str], time: Time) -> list[str]:
    """Axis labels of buckets. Where clocks show an hour twice, the UTC offset tells the two apart."""
    starts = [datetime.fromisoformat(key) for key in keys]
    if time is Time.BY_MONTH:
        return [f"{start:%b %Y}" for start in starts]
    days = [f"{start:%a} {start.day} {start:%b}" for start in starts]
    if not time.is_short:
        is_one_year = len({start.year for start in starts}) == 1
        return [day if is_one_year else f"{day} {start.year}" for day, start in zip(days, starts, strict=True)]
    is_one_day = len({start.date() for start in starts}) == 1
    hours = [f"{start:%H:%M}" for start in starts]
    labels = hours if is_one_day else [f"{day} {hour}" for day, hour in zip(days, hours, strict=True)]
    if len({start.utcoffset() for start in starts}) == 1:
        return labels
    twice = {label for label in labels if labels.count(label) > 1}
    return [f"{label} ({key[19:]})" if label in twice else label for label, key in zip(labels, keys, strict=True)]


def make_time_rows(data: Mapping[str, Any], *, has_links: bool = True) -> SafeString:
    """The time chart's points as table rows; days link to their hours, weeks and months to their days."""
    is_linked = has_links and not Time(data["time"]).is_short
    return format_html_join("", _ROW, (_make_row(point, is_linked=is_linked) for point in data["points"]))


def _make_row(point: Mapping[str, Any], *, is_linked: bool) -> tuple[str, ...]:
    label = point["label"]
    if is_linked:
        last = datetime.fromisoformat(point["to"]) - datetime.resolution
        label = format_html(_DAYS_LINK, point["key"][:10], last.date().isoformat(), label)
    counts = (NO_VALUE if point["gap"] or point[name] is None else point[name] for name in COUNTS)
    return (label, *counts, point["words"])


def explain_report(report: Report, stream: Stream, *, ever_seen: bool) -> Explanation:
    is_nobody = not any(report.values[name]["value"] for name in COUNTS)
    return Explanation(
        watched=_describe_watched(report) + report.computed if ever_seen and not report.is_before_stream else "",
        zero=_explain_zero(report, ever_seen=ever_seen) if is_nobody else "",
        leads_to_setup=is_nobody and not ever_seen and not report.is_before_stream,
        advices=tuple(islice(advise(report.quality, report.values, stream, told=report.told), ADVICES_AT_MOST)),
    )


def advise(
    quality: BucketQuality, values: Mapping[str, Value], stream: Stream, *, told: int | None = None
) -> Iterator[str]:
    """What makes numbers rough, the worst first. What is switched off is not missed. `told`: of how many people."""
    if quality.dark_share is not None and quality.dark_share >= DARK_SHARE:
        share = format_share(quality.dark_share)
        yield f"It was dark here in {share} of the frames: people may be missed. Add light."
    is_small = sum(quality.faces) >= FEWEST_PEOPLE and (quality.face_px or 0.0) < SMALL_FACE_PX
    if is_small and stream.reads_age:
        yield "Faces are small here: ages are rough. Move the camera closer or zoom in."
    elif is_small:
        yield "Faces are small here: people may be missed. Move the camera closer or zoom in."
    if quality.face_fps is not None and quality.face_frames >= FEWEST_PEOPLE and quality.face_fps < FEW_FPS:
        yield (
            f"Only {quality.face_fps:.1f} frames a second were looked at while people were there: short visits may be "
            "missed. Let the camera send more frames."
        )
    told = int(values["interested"]["value"] or 0) if told is None else told
    age_read = sum(count or 0 for band, count in values["age"].items() if band != "?")
    if stream.reads_age and told >= FEWEST_PEOPLE and age_read < HARDLY_READ * told and not is_small:
        share = format_share(age_read / told)
        yield (
            f"The age of only {share} of the interested people could be read. Let the camera see their faces from the "
            "front."
        )


def _describe_watched(report: Report) -> str:
    if report.watched.is_closed:
        return "The stream was closed all this time."
    if report.share is None:
        return "For part of this time it is no longer known whether the camera watched."
    missing = describe_missing(report.watched.in_hours)
    when = "the opening hours" if Absence.CLOSED in report.watched.missing else "this time"
    if not missing:
        return "The camera watched all the time." if when == "this time" else "The camera watched all opening hours."
    return f"The camera watched {format_share(report.share)} of {when}. The rest: {'; '.join(missing)}."


def _explain_zero(report: Report, *, ever_seen: bool) -> str:
    if report.is_before_stream:
        return "The stream did not exist yet."
    if not ever_seen:
        return "No frame has arrived yet. Numbers appear within a minute after the camera sees the first person."
    if report.watched.is_closed:
        return "The stream was closed."
    if report.share is None:
        return "Nobody was counted. It is no longer known whether the camera watched all the time."
    open_time = report.watched.in_hours
    is_complete = not describe_missing(open_time)
    if is_complete or report.watched.covered_s >= 1:
        return "Nobody passed by." if is_complete else "Nobody passed by while the camera watched."
    main = max(open_time.missing, key=lambda one: open_time.missing[one], default=Absence.OFFLINE)
    return f"Nothing was watched. {NOTHING_WATCHED[main]} People may have passed by."


def describe_coverage(watched: BucketCoverage) -> str:
    """Of an hour or a day: `watched 22 h 19 min; offline 1 h 41 min`."""
    parts = [f"watched {format_duration(watched.covered_s)}"] if watched.covered_s >= 1 else []
    missing = describe_missing(watched)
    if not missing:
        return "watched all the time" if parts else "just started"
    return "; ".join(parts + missing)


def describe_missing(watched: BucketCoverage) -> list[str]:
    """What was not watched, the longest first; what is too short to matter is left out."""
    least_s = max(LEAST_S, min(LEAST_SHARE * watched.length_s, MOST_S))
    missing = _find_missing(watched)
    texts = {f"{why} {format_duration(lost_s)}{more}".strip(): lost_s for (why, more), lost_s in missing.items()}
    return [text for text, lost_s in texts.items() if lost_s >= least_s]


def describe_gap(watched: BucketCoverage) -> str:
    """Why a time is a gap in the chart; durations are given only where there are several reasons."""
    missing = describe_missing(watched)
    if len(missing) > 1:
        return "; ".join(missing)
    [(why, more), *_] = _find_missing(watched)
    return (why + more).strip()


def _find_missing(watched: BucketCoverage) -> dict[tuple[str, str], float]:
    """Seconds by reason and its detail, the longest first."""
    missing = {
        (_ABSENCES[why], _detail_of(why, watched.refused_for)): lost_s for why, lost_s in watched.missing.items()
    }
    return dict(sorted(missing.items(), key=lambda item: -item[1]))


def _detail_of(absence: Absence, reason: Reason | None) -> str:
    """The first sentence of a refusal's text says why; the others say what to do."""
    if absence is Absence.NOT_CREATED:
        return " before the stream was created"
    if absence is not Absence.REFUSED or not reason:
        return ""
    why = REFUSAL_TEXTS[reason].split(". ")[0].rstrip(".")
    return f" ({why[0].lower()}{why[1:]})"


def format_duration(seconds: float) -> str:
    """The two largest units: 3 days 4 h, 22 h 19 min, 5 min, 40 s."""
    if seconds < 59.5:
        return f"{round(seconds)} s"
    minutes = round(seconds / 60)
    if minutes < DAYS_FROM_MINUTES:
        parts = zip(divmod(minutes, 60), ("h", "min"), strict=True)
    else:
        parts = zip(divmod(round(minutes / 60), 24), ("days", "h"), strict=True)
    return " ".join(f"{amount:,} {unit}" for amount, unit in parts if amount)


def format_share(share: float) -> str:
    """A percentage that is 0 or 100 only where it is exactly that."""
    percent = round(100 * share)
    if share > 0 and percent == 0:
        return "less than 1 %"
    if share < 1 and percent == 100:
        return "more than 99 %"
    return f"{percent} %"
