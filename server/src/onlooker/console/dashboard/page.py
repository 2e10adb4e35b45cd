"""A stream's dashboard: the whole page, or the report alone where the page refreshes itself."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render

from onlooker.console.dashboard.charts import chart_data, make_breakdowns, time_rows, week_rows
from onlooker.console.dashboard.explaining import explain
from onlooker.console.dashboard.figures import make_figures
from onlooker.console.dashboard.period import Period, PeriodError, parse_period
from onlooker.console.dashboard.picker import keep_typed, make_picker
from onlooker.console.dashboard.report import Report, read_report
from onlooker.console.dashboard.words import say_period, say_range, say_share, watched_share
from onlooker.console.numbers import read_numbers
from onlooker.console.streams.access import visible_stream
from onlooker.console.streams.enterprise import way_of
from onlooker.console.streams.signed_in import PersonRequest, signed_in
from onlooker.console.streams.standing import read_standing
from onlooker.streams.models import Stream

REFRESHED = "report"
"""The element that asks for itself: whoever refreshes does not choose, and keeps what is half written in the picker."""


@signed_in("GET", "HEAD")
def show_dashboard(request: PersonRequest, client_id: UUID) -> HttpResponse:
    stream = visible_stream(request.user, client_id)
    context: dict[str, Any] = {"stream": stream, "is_own": stream.owner_id == request.user.pk}
    context["way"] = way_of(request.user)
    zone, now = ZoneInfo(stream.time_zone), datetime.now(UTC)
    try:
        period = parse_period(request.GET.dict(), zone=zone, now=now)
    except PeriodError as error:
        picker = keep_typed(make_picker(None, zone=zone, now=now), request.GET.dict())
        return _show(request, context | {"trouble": str(error), "picker": picker}, 400)
    report = read_numbers(request, lambda pool: read_report(pool, stream.id, period, now=now))
    context |= {"picker": make_picker(period, zone=zone, now=now), "period": period, "query": request.GET.urlencode()}
    return _show(request, context | report_context(report, stream, now=now))


def _show(request: PersonRequest, context: dict[str, Any], status: int = 200) -> HttpResponse:
    """A fragment is always a 200: HTMX shows no other, and would leave the person with the old numbers."""
    if not request.htmx:
        return render(request, "dashboard/dashboard.html", context, status=status)
    context["with_picker"] = request.htmx.trigger != REFRESHED
    return render(request, "dashboard/fragment.html", context)


def report_context(report: Report, stream: Stream, *, now: datetime) -> dict[str, Any]:
    """What the templates need of a report."""
    breakdowns = make_breakdowns(report, stream)
    data = chart_data(report, breakdowns)
    is_seen = bool(report.watched.covered_s or report.values["passing_by"]["value"])
    standing = read_standing(stream)
    ever_seen = is_seen or standing.last_frame_at is not None
    return {
        "standing": standing,
        "report": report,
        "read_at": now.astimezone(report.period.zone).isoformat(timespec="seconds"),
        **_ranges(report.period, report, now=now),
        "figures": make_figures(report, reads_expression=stream.reads_expression),
        "explanation": explain(report, ever_seen=ever_seen),
        "data": data,
        "rows": time_rows(data),
        "breakdowns": breakdowns,
        "week": week_rows(data),
        "hours": range(24),
        "senior_age": settings.ONLOOKER.senior_age,
    }


def _ranges(period: Period, report: Report, *, now: datetime) -> dict[str, Any]:
    """When it was, for people and for scripts."""
    share = watched_share(report.watched_before)
    from_date, to_date = (at.astimezone(period.zone).isoformat() for at in (period.from_at, period.to_at))
    return {
        "from_date": from_date,
        "to_date": to_date,
        "table_query": urlencode({"from": from_date, "to": to_date}),
        "range": say_period(period, now=now),
        "range_before": say_range(period.before_from_at, period.before_to_at, period.zone, now=now),
        "watched_before": "" if share is None else say_share(share),
    }
