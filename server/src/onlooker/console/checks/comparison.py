"""The product's own count for the time of each check, and both counts in words."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from django.http import HttpRequest
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from onlooker.console.checks.count_error import CountError, judge_count
from onlooker.console.checks.models import CameraCheck
from onlooker.console.dashboard.report import COUNTS
from onlooker.console.numbers import read_numbers
from onlooker.database import Pool
from onlooker.metrics.execution import run_query
from onlooker.metrics.query import Query
from onlooker.streams.models import Stream

SETTLED_AFTER = timedelta(minutes=2)
"""After so long the visits of people who were in view at the end are written."""


@dataclass(frozen=True)
class ComparedCount:
    """What a person counted and what the product did, as the page shows it."""

    truth: int
    counted: int | None
    error: str
    """Empty while there is no count, and where the person saw nobody."""


@dataclass(frozen=True)
class ShownCheck:
    """A row of the page."""

    began_at: datetime
    lasted: str
    passed: ComparedCount
    stopped: ComparedCount
    is_settled: bool


def settle_checks(request: HttpRequest, stream: Stream, *, now: datetime) -> None:
    """Keep the product's count, once it no longer changes: visits may be deleted later. On the grid there is none."""
    if stream.grid:
        return
    waiting = CameraCheck.objects.filter(stream=stream, ended_at__lt=now - SETTLED_AFTER, passing_by=None)
    for check in waiting:
        counts = count_people(request, check)
        CameraCheck.objects.filter(pk=check.pk, passing_by=None).update(**counts)


def count_people(request: HttpRequest, check: CameraCheck) -> dict[str, int]:
    """By metric; people count from when they came into view."""
    assert check.ended_at
    query = Query(check.stream_id, COUNTS, check.began_at, check.ended_at, ZoneInfo("UTC"))

    async def read(pool: Pool) -> dict[str, int]:
        found = (await run_query(pool, query)).entities["global"]
        return {name: int(found[name]["value"] or 0) for name in COUNTS}

    return read_numbers(request, read)


def show_checks_of(stream: Stream) -> list[ShownCheck]:
    """The newest first."""
    ended = CameraCheck.objects.filter(stream=stream, ended_at__isnull=False).order_by("-began_at")
    return [_show(check) for check in ended]


def describe_latest_check(stream: Stream) -> str:
    """For the dashboard: `Checked 12 Nov: 47 of 50 counted`; empty where there is none."""
    settled = CameraCheck.objects.filter(stream=stream, passing_by__isnull=False, passed__gt=0)
    check = settled.order_by("-began_at").first()
    if check is None:
        return ""
    day = check.began_at.astimezone(ZoneInfo(stream.time_zone))
    shown = date_format(day, "SHORT_DAY_FORMAT" if day.year == datetime.now(UTC).year else "SHORT_DATE_FORMAT")
    text = _("Checked {day}: {counted} of {passed} counted")
    return text.format(day=shown, counted=check.passing_by, passed=check.passed)


def _show(check: CameraCheck) -> ShownCheck:
    assert check.ended_at
    return ShownCheck(
        began_at=check.began_at,
        lasted=_in_minutes(check.ended_at - check.began_at),
        passed=_compare(check.passed, check.passing_by),
        stopped=_compare(check.stopped, check.interested),
        is_settled=check.passing_by is not None,
    )


def _in_minutes(lasted: timedelta) -> str:
    minutes, seconds = divmod(round(lasted.total_seconds()), 60)
    return f"{minutes} min {seconds:02} s"


def _compare(truth: int, counted: int | None) -> ComparedCount:
    error = None if counted is None else judge_count(counted, truth)
    return ComparedCount(truth, counted, describe_error(error) if error else "")


def describe_error(error: CountError) -> str:
    """`6 % too few (2 to 16 %)`."""
    if not error.error:
        return _("exact (up to {share} either way)").format(share=_percent(error.size.high))
    # Translators: a share, and in brackets the range it may lie in, such as 6 % too few (2 to 16 %).
    text = _("{share} too many ({low} to {high})") if error.error > 0 else _("{share} too few ({low} to {high})")
    low = f"{100 * error.size.low:.0f}"
    return text.format(share=_percent(error.error), low=low, high=_percent(error.size.high))


def _percent(share: float) -> str:
    return f"{100 * abs(share):.0f} %"
