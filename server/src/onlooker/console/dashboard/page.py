"""A stream's dashboard: the whole page, the report when it refreshes itself, or the part that somebody changed."""

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django_htmx.http import retarget

from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.breakdowns.headlines import present_headlines, read_headlines
from onlooker.console.breakdowns.selection import Selection, parse_selection
from onlooker.console.checks.comparison import describe_latest_check
from onlooker.console.dashboard.figures import FIGURE_KINDS, describe_untold
from onlooker.console.dashboard.period import PeriodError, keep_typed, make_picker, parse_period, present_period
from onlooker.console.dashboard.presentation import make_time_data, present_report
from onlooker.console.notes.marks import read_stream_notes
from onlooker.console.notes.pages import notes_context
from onlooker.console.numbers import read_numbers
from onlooker.console.streams.access import rights_context, visible_stream
from onlooker.console.streams.status import read_status
from onlooker.console.time_chart.choice import as_suffix, keep_choice
from onlooker.console.time_chart.presentation import present_time_chart
from onlooker.console.time_chart.series import ChartSource
from onlooker.console.time_chart.source import find_source, finish_points, offer_control, read_all, read_chart

REFRESHED = "report"
"""The element that reloads itself: then the picker is left alone, with whatever is half typed into it."""
TIME_CHART, HEADLINES = "time-chart", "headlines"
"""Elements that are replaced alone: another number is charted, or the filter is another."""


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
    context |= {"query": request.GET.urlencode(), "kept": kept, "suffix": as_suffix(kept), "choice": source.choice}
    context |= present_period(period, now=now)
    if request.htmx.target == TIME_CHART:
        return _show_time_chart(request, source, context)
    if request.htmx.target == HEADLINES:
        return _show_headlines(request, source, selection, context)
    context["picker"] = make_picker(period, zone=zone, now=now)
    context["table_query"] += "&hours=open" if source.choice.in_hours else ""
    status = read_status(stream)
    report, lines, filtered = read_numbers(request, partial(read_all, source=source, selection=selection))
    notes = read_stream_notes(stream, period)
    report = replace(report, points=finish_points(report.points, source, notes))
    context |= notes_context(request, notes, stream, context["role"])
    is_seen = bool(report.watched.covered_s or report.values["passing_by"]["value"])
    ever_seen = is_seen or status.last_frame_at is not None
    context |= {"status": status, "report": report, "checked": describe_latest_check(stream)}
    context["untold"] = describe_untold(report, stream.groups_of)
    context |= present_headlines(report, filtered, source, selection)
    context |= present_report(report, stream, ever_seen=ever_seen)
    chart = present_time_chart(context["data"], lines, source, context["suffix"])
    context["data"]["chart"] = chart.data
    context |= {"chart": chart, "control": offer_control(request, source)}
    return _render(request, context)


def _show_time_chart(request: PersonRequest, source: ChartSource, context: dict[str, Any]) -> HttpResponse:
    """Nothing else on the page depends on what it shows, except for the links to other numbers."""
    points, lines = read_numbers(request, partial(read_chart, source=source))
    points = finish_points(points, source, read_stream_notes(source.stream, source.period))
    data = make_time_data(points, source.period)
    chart = present_time_chart(data, lines, source, context["suffix"])
    data["chart"] = chart.data
    context |= {"chart": chart, "time_data": data, "control": offer_control(request, source)}
    return render(request, "dashboard/time_chart_alone.html", context | {"charted": FIGURE_KINDS})


def _show_headlines(
    request: PersonRequest, source: ChartSource, selection: Selection, context: dict[str, Any]
) -> HttpResponse:
    """Nothing else outside the section on who came depends on the filter."""
    totals, filtered = read_numbers(request, partial(read_headlines, source=source, selection=selection))
    return render(
        request,
        "dashboard/headlines_alone.html",
        context | present_headlines(totals, filtered, source, selection),
    )


def _render(request: PersonRequest, context: dict[str, Any], status: int = 200) -> HttpResponse:
    """A fragment is always a 200: HTMX shows nothing else, and would leave the old numbers on the page."""
    if not request.htmx:
        return render(request, "dashboard/dashboard.html", context, status=status)
    context["is_refresh"] = request.htmx.trigger == REFRESHED
    context["with_picker"] = not context["is_refresh"]
    answer = render(request, "dashboard/fragment.html", context)
    return retarget(answer, "#report") if request.htmx.target in (TIME_CHART, HEADLINES) else answer
