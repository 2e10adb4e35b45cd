"""How a report is shown: its charts, their tables, what was not watched, and why a number is zero. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import islice
from typing import Any

from django.utils.dates import WEEKDAYS
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext

from onlooker.console.dashboard.period import Period
from onlooker.console.dashboard.report import COUNTS, NOTHING_WATCHED, Point, Report
from onlooker.console.languages.locale_text import (
    join_clauses,
    write_count,
    write_decimal,
    write_month,
    write_percent,
    write_weekday,
)
from onlooker.metrics.changes import FEWEST_PEOPLE
from onlooker.metrics.coverage import Absence, BucketCoverage
from onlooker.metrics.definitions import METRICS, Number, Value
from onlooker.metrics.intervals import share_interval
from onlooker.metrics.quality import BucketQuality, ChangeSource, QualityChange
from onlooker.metrics.query import Time
from onlooker.sentences import gettext_noop
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

Say = Callable[[str], str]
"""How sentences are looked up. A chart has hundreds of buckets: it looks each sentence up once, and keeps it."""

_READ_FROM = {"gender": ("gender",), "category": ("age", "gender"), "age": ("age",), "emotion": ("expression",)}
"""The breakdowns, and what must be computed of people for each."""
_PART_NAMES = {
    "?": _lazy("Unknown"),
    "female": _lazy("Women"),
    "male": _lazy("Men"),
    "senior_female": _lazy("Senior women"),
    "senior_male": _lazy("Senior men"),
    "young_female": _lazy("Young women"),
    "young_male": _lazy("Young men"),
    "neutral": _lazy("Neutral"),
    "happiness": _lazy("Happiness"),
    "surprise": _lazy("Surprise"),
    "anger": _lazy("Anger"),
    "sadness": _lazy("Sadness"),
}
"""Others are ages."""
_SWITCHED_OFF = {
    ("age",): _lazy("Age is switched off for this stream."),
    ("gender",): _lazy("Gender is switched off for this stream."),
    ("age", "gender"): _lazy("Age and gender are switched off for this stream."),
    ("expression",): _lazy("Expression is switched off for this stream."),
}
_ABSENCES = {
    Absence.OFFLINE: gettext_noop("offline"),
    Absence.NOT_CREATED: gettext_noop("before the stream was created"),
    Absence.DISABLED: gettext_noop("disabled"),
    Absence.QUOTA: gettext_noop("monthly limit reached"),
    Absence.REFUSED: gettext_noop("frames refused"),
    Absence.BLACK: gettext_noop("picture black"),
    Absence.COVERED: gettext_noop("lens covered"),
    Absence.DARK: gettext_noop("too dark"),
    Absence.OVEREXPOSED: gettext_noop("picture overexposed"),
    Absence.BLURRED: gettext_noop("picture blurred"),
    Absence.FROZEN: gettext_noop("picture frozen"),
    Absence.MOVED: gettext_noop("camera moved"),
    Absence.UNKNOWN: gettext_noop("unknown"),
    Absence.CLOSED: gettext_noop("closed"),
}
_REFUSED_FOR = {
    Reason.RATE_LIMITED: gettext_noop("frames arrived faster than a stream may send them"),
    Reason.OVERLOADED: gettext_noop("the server was overloaded"),
    Reason.QUOTA_EXCEEDED: gettext_noop("this developer stream had reached its monthly limit"),
    Reason.STREAM_DISABLED: gettext_noop("the stream was disabled"),
    Reason.STREAM_CLOSED: gettext_noop("the stream was closed at that time"),
    Reason.TOO_LARGE: gettext_noop("the requests were too large"),
    Reason.BAD_REQUEST: gettext_noop("the requests were malformed"),
    Reason.TOO_SLOW: gettext_noop("the requests took too long to arrive"),
    Reason.BAD_IMAGE: gettext_noop("the pictures could not be read"),
    Reason.BAD_TIMESTAMP: gettext_noop("the timestamps were in the future or too old"),
    Reason.OUT_OF_ORDER: gettext_noop("frames were not newer than the frame before"),
    Reason.FAILED: gettext_noop("the server failed to compute them"),
    Reason.JOURNAL_FULL: gettext_noop("the device had no room to keep them"),
    Reason.CLOCK_UNKNOWN: gettext_noop("the device did not know the time"),
    Reason.COMPUTE_BUSY: gettext_noop("the device was too slow to compute them"),
}
"""In brackets, behind frames that were refused."""
_CHANGES = {
    ChangeSource.VIEW: _lazy("Camera turned"),
    ChangeSource.MODELS: _lazy("Models {version}"),
    ChangeSource.PIPELINE: _lazy("Pipeline {version}"),
}
_CHANGES_WITHIN = {
    ChangeSource.VIEW: _lazy("camera turned"),
    ChangeSource.MODELS: _lazy("models {version}"),
    ChangeSource.PIPELINE: _lazy("pipeline {version}"),
}
"""The same where other words come before."""


@dataclass(frozen=True)
class BreakdownPart:
    """How many people are in one part of a breakdown."""

    key: str
    """As the data endpoint has it."""
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
        "week": list(zip(WEEKDAYS.values(), data["week"], strict=True)),
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
        trouble = str(_SWITCHED_OFF[off])
    elif not total:
        trouble = _explain_empty_breakdown(report)
    parts = [
        BreakdownPart(
            part,
            str(_PART_NAMES.get(part) or part.replace("-", "\N{EN DASH}")),
            count,
            format_share((count or 0) / total) if total >= FEWEST_PEOPLE else "",
            format_share_interval(int(count or 0), int(total)),
        )
        for part, count in counts.items()
    ]
    return Breakdown(metric, _(METRICS[metric].title), describe_people(metric, counts), parts, trouble)


def format_share_interval(count: int, total: int) -> str:
    """`20 to 31 %`."""
    if total < FEWEST_PEOPLE:
        return ""
    interval = share_interval(count, total)
    ends = {"low": write_count(100 * interval.low), "high": write_count(100 * interval.high)}
    return _("{low} to {high} {unit}").format(**ends, unit="%")


def describe_people(metric: str, counts: Mapping[str, Number]) -> str:
    """Who is counted; with emotions also the coarser words, which are right more often."""
    if metric == "category":
        return _("Interested people of known age and gender")
    known = sum(count or 0 for part, count in counts.items() if part != "?")
    if metric != "emotion" or known < FEWEST_PEOPLE:
        return _("Interested people")
    shares = {
        valence: format_share(sum(counts[part] or 0 for part in parts) / known) for valence, parts in VALENCES.items()
    }
    return _("Interested people: {positive} positive, {neutral} neutral, {negative} negative").format(**shares)


def _explain_empty_breakdown(report: Report) -> str:
    if report.is_before_stream:
        return _("The stream did not exist yet.")
    if not report.is_watched:
        return _("Not watched.")
    return _("No data to show.") if report.values["interested"]["value"] else _("Nobody was interested.")


def make_chart_data(report: Report, breakdowns: list[Breakdown]) -> dict[str, Any]:
    """The JSON that the page's scripts draw from."""
    drawn = {one.metric: None if one.trouble else report.values[one.metric] for one in breakdowns}
    return {
        **make_time_data(report.points, report.period),
        **drawn,
        "week": [[None if mean is None else round(mean, 2) for mean in day] for day in report.week],
    }


def make_time_data(points: Sequence[Point], period: Period) -> dict[str, Any]:
    """What the time chart is drawn from, except for its lines."""
    labels = label_buckets([point.key for point in points], period.time)
    say = cache(_)
    drawn = [_draw_point(point, label, period, say) for point, label in zip(points, labels, strict=True)]
    return {"time": period.time.value, "zone": period.zone.key, "points": drawn}


def _draw_point(point: Point, label: str, period: Period, say: Say) -> dict[str, Any]:
    watched = describe_gap(point.watched, say) if point.gap else describe_coverage(point.watched, say)
    changes = map(describe_quality_change, point.changes)
    changes_within = (describe_quality_change(change, _CHANGES_WITHIN) for change in point.changes)
    return {
        "key": point.key,
        "to": min(point.to_at, period.to_at).astimezone(period.zone).isoformat(),
        "label": label,
        "passing_by": point.passing_by,
        "interested": point.interested,
        "watched": None if point.share is None else round(point.share, 4),
        "gap": point.gap,
        "words": join_clauses([watched, *dict.fromkeys(changes_within), *point.notes]),
        "changes": list(dict.fromkeys(changes)),
        "notes": list(point.notes),
    }


def describe_quality_change(change: QualityChange, words: Mapping[ChangeSource, Promise] = _CHANGES) -> str:
    """As a mark in the chart has it."""
    return str(words[change.what]).format(version=change.version or _("unknown"))


def label_buckets(keys: list[str], time: Time) -> list[str]:
    """Axis labels of buckets. Where clocks show an hour twice, the UTC offset tells the two apart."""
    starts = [datetime.fromisoformat(key) for key in keys]
    if time is Time.BY_MONTH:
        return [write_month(start) for start in starts]
    if not time.is_short:
        has_years = len({start.year for start in starts}) > 1
        return [write_weekday(start, with_year=has_years) for start in starts]
    is_one_day = len({start.date() for start in starts}) == 1
    hours = [f"{start:%H:%M}" for start in starts]
    days = [] if is_one_day else [write_weekday(start) for start in starts]
    labels = [f"{day} {hour}" for day, hour in zip(days, hours, strict=True)] if days else hours
    if len({start.utcoffset() for start in starts}) == 1:
        return labels
    twice = {label for label in labels if labels.count(label) > 1}
    return [f"{label} ({key[19:]})" if label in twice else label for label, key in zip(labels, keys, strict=True)]


def explain_report(report: Report, stream: Stream, *, ever_seen: bool) -> Explanation:
    is_nobody = not any(report.values[name]["value"] for name in COUNTS)
    advices = advise(report.quality, report.values, stream, told=report.told)  # of all hours
    return Explanation(
        watched=_describe_watched(report) if ever_seen and not report.is_before_stream else "",
        zero=_explain_zero(report, ever_seen=ever_seen) if is_nobody else "",
        leads_to_setup=is_nobody and not ever_seen and not report.is_before_stream,
        advices=() if report.in_hours else tuple(islice(advices, ADVICES_AT_MOST)),
    )


def advise(
    quality: BucketQuality, values: Mapping[str, Value], stream: Stream, *, told: int | None = None
) -> Iterator[str]:
    """What makes numbers rough, the worst first. What is switched off is not missed. `told`: of how many people."""
    if quality.dark_share is not None and quality.dark_share >= DARK_SHARE:
        said = _("It was dark here in {share} of the frames: people may be missed. Add light.")
        yield said.format(share=format_share(quality.dark_share))
    is_small = sum(quality.faces) >= FEWEST_PEOPLE and (quality.face_px or 0.0) < SMALL_FACE_PX
    if is_small and stream.reads_age:
        yield _("Faces are small here: ages are rough. Move the camera closer or zoom in.")
    elif is_small:
        yield _("Faces are small here: people may be missed. Move the camera closer or zoom in.")
    if quality.face_fps is not None and quality.face_frames >= FEWEST_PEOPLE and quality.face_fps < FEW_FPS:
        said = _(
            "Only {rate} frames a second were looked at while people were there: short visits may be missed. Let the "
            "camera send more frames."
        )
        yield said.format(rate=write_decimal(quality.face_fps, 1))
    told = int(values["interested"]["value"] or 0) if told is None else told
    age_read = sum(count or 0 for band, count in values["age"].items() if band != "?")
    if stream.reads_age and told >= FEWEST_PEOPLE and age_read < HARDLY_READ * told and not is_small:
        said = _(
            "The age of only {share} of the interested people could be read. Let the camera see their faces from the "
            "front."
        )
        yield said.format(share=format_share(age_read / told))


def _describe_watched(report: Report) -> str:
    """And where it was computed, if not on the server."""
    said = _describe_watched_time(report)
    return f"{said} {report.computed}." if report.computed else said


def _describe_watched_time(report: Report) -> str:
    if report.watched.is_closed:
        return _("The stream was closed all this time.")
    if report.share is None:
        return _("For part of this time it is no longer known whether the camera watched.")
    missing = describe_missing(report.watched.in_hours)
    has_hours = Absence.CLOSED in report.watched.missing
    if not missing:
        return _("The camera watched all opening hours.") if has_hours else _("The camera watched all the time.")
    if has_hours:
        said = _("The camera watched {share} of the opening hours. The rest: {missing}.")
    else:
        said = _("The camera watched {share} of this time. The rest: {missing}.")
    return said.format(share=format_share(report.share), missing=join_clauses(missing))


def _explain_zero(report: Report, *, ever_seen: bool) -> str:
    if report.is_before_stream:
        return _("The stream did not exist yet.")
    if not ever_seen:
        return _("No frame has arrived yet. Numbers appear within a minute after the camera sees the first person.")
    if report.watched.is_closed:
        return _("The stream was closed.")
    if report.share is None:
        return _("Nobody was counted. It is no longer known whether the camera watched all the time.")
    open_time = report.watched.in_hours
    is_complete = not describe_missing(open_time)
    if is_complete or report.watched.covered_s >= 1:
        return _("Nobody passed by.") if is_complete else _("Nobody passed by while the camera watched.")
    main = max(open_time.missing, key=lambda one: open_time.missing[one], default=Absence.OFFLINE)
    return " ".join((_("Nothing was watched."), str(NOTHING_WATCHED[main]), _("People may have passed by.")))


def describe_coverage(watched: BucketCoverage, _: Say = _) -> str:
    """Of an hour or a day: `watched 22 h 19 min; offline 1 h 41 min`."""
    missing = describe_missing(watched, _)
    if watched.covered_s < 1:
        return join_clauses(missing) or _("just started")
    if not missing:
        return _("watched all the time")
    return join_clauses((_("watched {duration}").format(duration=format_duration(watched.covered_s, _)), *missing))


def describe_missing(watched: BucketCoverage, _: Say = _) -> list[str]:
    """What was not watched, the longest first; what is too short to matter is left out."""
    least_s = max(LEAST_S, min(LEAST_SHARE * watched.length_s, MOST_S))
    return [
        _describe_absence(absence, watched.refused_for, lost_s, _)
        for absence, lost_s in _longest_first(watched)
        if lost_s >= least_s
    ]


def describe_gap(watched: BucketCoverage, _: Say = _) -> str:
    """Why a time is a gap in the chart; durations are given only where there are several reasons."""
    missing = describe_missing(watched, _)
    if len(missing) > 1:
        return join_clauses(missing)
    [(absence, _lost_s), *_others] = _longest_first(watched)
    if absence is Absence.REFUSED and watched.refused_for:
        return _("frames refused ({why})").format(why=_(_REFUSED_FOR[watched.refused_for]))
    return _(_ABSENCES[absence])


def _longest_first(watched: BucketCoverage) -> list[tuple[Absence, float]]:
    return sorted(watched.missing.items(), key=lambda item: -item[1])


def _describe_absence(absence: Absence, reason: Reason | None, lost_s: float, _: Say) -> str:
    """`offline 1 h 41 min`."""
    duration = format_duration(lost_s, _)
    if absence is Absence.NOT_CREATED:
        return _("{duration} before the stream was created").format(duration=duration)
    if absence is Absence.REFUSED and reason:
        return _("frames refused {duration} ({why})").format(duration=duration, why=_(_REFUSED_FOR[reason]))
    return f"{_(_ABSENCES[absence])} {duration}"


def format_duration(seconds: float, _: Say = _) -> str:
    """The two largest units: 3 days 4 h, 22 h 19 min, 5 min, 40 s."""
    if seconds < 59.5:
        return _("{count} s").format(count=round(seconds))
    minutes = round(seconds / 60)
    if minutes < DAYS_FROM_MINUTES:
        parts = zip(divmod(minutes, 60), (_("{count} h"), _("{count} min")), strict=True)
        return " ".join(said.format(count=count) for count, said in parts if count)
    days, hours = divmod(round(minutes / 60), 24)
    said = [ngettext("{count} day", "{count} days", days).format(count=write_count(days))]
    return " ".join([*said, _("{count} h").format(count=hours)] if hours else said)


def format_share(share: float) -> str:
    """A percentage that is 0 or 100 only where it is exactly that."""
    percent = round(100 * share)
    if share > 0 and percent == 0:
        return _("less than {percent}").format(percent=write_percent(0.01, 0))
    if share < 1 and percent == 100:
        return _("more than {percent}").format(percent=write_percent(0.99, 0))
    return write_percent(percent / 100, 0)
