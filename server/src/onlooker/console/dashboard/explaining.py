"""Why is this zero? How much of a period was watched, why not the rest, and what follows from it. Pure."""

from dataclasses import dataclass

from onlooker.console.dashboard.figures import is_before_stream
from onlooker.console.dashboard.report import Report
from onlooker.console.dashboard.words import say_missing, say_share, watched_share
from onlooker.metrics.absences import Absence


@dataclass(frozen=True)
class Explanation:
    """What is said below the numbers."""

    watched: str
    zero: str
    """Nothing where somebody passed by."""
    leads_to_setup: bool
    """Whether the owner should look at how the camera is connected."""


_CAUSES = {
    Absence.NOT_CREATED: "the stream did not exist for most of this time",
    Absence.OFFLINE: "the camera sent nothing",
    Absence.DISABLED: "the stream was disabled",
    Absence.QUOTA: "the stream's month was used up",
    Absence.REFUSED: "what the camera sent was refused",
    Absence.UNKNOWN: "nobody knows why any more",
}


def explain(report: Report, *, ever_seen: bool) -> Explanation:
    """`ever_seen`: whether any frame of the stream ever came."""
    is_before = is_before_stream(report)
    nobody = not report.values["passing_by"]["value"] and not report.values["interested"]["value"]
    return Explanation(
        watched=_say_watched(report) if ever_seen and not is_before else "",
        zero=_say_zero(report, ever_seen=ever_seen) if nobody else "",
        leads_to_setup=nobody and not ever_seen and not is_before,
    )


def _say_watched(report: Report) -> str:
    share = watched_share(report.watched)
    missing = say_missing(report.watched)
    if share is None:
        return "For some of this time it is not known any more whether the camera watched."
    if not missing:
        return "The camera watched all the time."
    return f"The camera watched {say_share(share)} of this time. The rest: {'; '.join(missing)}."


def _say_zero(report: Report, *, ever_seen: bool) -> str:
    share = watched_share(report.watched)
    if is_before_stream(report):
        return "The stream did not exist yet."
    if not ever_seen:
        return "No frame has arrived yet. Numbers appear within a minute of the first person that the camera sees."
    if share is None:
        return "Nobody was counted. It is not known any more whether the camera watched all the time."
    if not say_missing(report.watched):
        return "Nobody passed by."
    if report.watched.covered_s >= 1:
        return "Nobody passed by while the camera watched."
    main = max(report.watched.missing, key=lambda one: report.watched.missing[one], default=Absence.OFFLINE)
    return f"Nothing was watched: {_CAUSES[main]}. That says nothing about who was there."
