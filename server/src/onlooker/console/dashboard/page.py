"""A stream's dashboard: the whole page, or only the report when the page refreshes itself."""

from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render

from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.breakdowns.headlines import filter_headlines
from onlooker.console.breakdowns.selection import parse_selection
from onlooker.console.checks.comparison import describe_latest_check
from onlooker.console.dashboard.figures import describe_compared, describe_untold, make_figures
from onlooker.console.dashboard.period import PeriodError, keep_typed, make_picker, parse_period, present_period
from onlooker.console.dashboard.presentation import present_report
from onlooker.console.dashboard.report import without_interest
from onlooker.console.notes.marks import read_stream_notes, with_notes
from onlooker.console.notes.pages import notes_context
from onlooker.console.numbers import read_numbers
from onlooker.console.streams.access import rights_context, visible_stream
from onlooker.console.streams.status import read_status
from onlooker.console.time_chart.choice import as_suffix, keep_choice
from onlooker.console.time_chart.presentation import present_time_chart
from onlooker.console.time_chart.source import find_source, offer_control, read_all

REFRESHED = "report"
"""The element that reloads itself: then the picker is left alone, with whatever is half typed into it."""


@signed_in("GET", "HEAD")
def show_dashboard(request: PersonRequest, client_id: UUID) -> HttpResponse:
    stream = visible_stream(request.user, client_id)
    context: dict[str, Any] = {
        "stream": stream,
        **rights_context(request.user, stream),
        "senior_age": settings.ONLOOKER.senior_age,
    }
    zone, now = ZoneInfo(stream.time_zone), datetime.now(UTC)
    try:
        period = parse_period(request.GET.dict(), zone=zone, now=now)
        source = find_source(request, stream, period, now=now)
        selection = parse_selection(request.GET.dict())
    except PeriodError as error:
        picker = keep_typed(make_picker(None, zone=zone, now=now), request.GET.dict())
        return _render(request, context | {"trouble": str(error), "picker": picker}, 400)
    kept = keep_choice(request.GET.dict())
    context |= {"query": request.GET.urlencode(), "picker": make_picker(period, zone=zone, now=now)}
    context |= {"kept": kept, "suffix": as_suffix(kept), "choice": source.choice}
    context |= present_period(period, now=now)
    context["table_query"] += "&hours=open" if source.choice.in_hours else ""
    status = read_status(stream)
    report, lines = read_numbers(request, partial(read_all, source=source))
    if not stream.reads_faces:
        report = without_interest(report)
    notes = read_stream_notes(stream, period)
    report = with_notes(report, notes)
    context |= notes_context(request, notes, stream, context["role"])
    is_seen = bool(report.watched.covered_s or report.values["passing_by"]["value"])
    ever_seen = is_seen or status.last_frame_at is not None
    context |= {"status": status, "report": report, "checked": describe_latest_check(stream)}
    reads = {"reads_expression": stream.reads_expression, "reads_faces": stream.reads_faces}
    context["figures"] = make_figures(report, **reads, groups_of=stream.groups_of)
    context["compared"] = describe_compared(report.comparison.like)
    context |= filter_headlines(request, source, selection, report, context["figures"])
    context["untold"] = describe_untold(report, stream.groups_of)
    context |= present_report(report, stream, ever_seen=ever_seen)
    chart = present_time_chart(context["data"], lines, source, as_suffix(kept))
    context["data"]["chart"] = chart.data
    context |= {"chart": chart, "control": offer_control(request, source)}
    return _render(request, context)


def _render(request: PersonRequest, context: dict[str, Any], status: int = 200) -> HttpResponse:
    """A fragment is always a 200: HTMX shows nothing else, and would leave the old numbers on the page."""
    if not request.htmx:
        return render(request, "dashboard/dashboard.html", context, status=status)
    context["is_refresh"] = request.htmx.trigger == REFRESHED
    context["with_picker"] = not context["is_refresh"]
    return render(request, "dashboard/fragment.html", context)
