"""A stream's dashboard: the whole page, or only the report when the page refreshes itself."""

import asyncio
from datetime import UTC, datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import render

from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.checks.comparison import describe_latest_check
from onlooker.console.dashboard.chart_choice import as_suffix, keep_choice, parse_choice
from onlooker.console.dashboard.chart_control import ChartControl, make_control
from onlooker.console.dashboard.figures import describe_untold, make_figures
from onlooker.console.dashboard.ghost import find_ghost
from onlooker.console.dashboard.period import Period, PeriodError, keep_typed, make_picker, parse_period, present_period
from onlooker.console.dashboard.presentation import present_report
from onlooker.console.dashboard.report import Report, read_report, without_interest
from onlooker.console.dashboard.series import ChartLines, ChartSource, read_lines
from onlooker.console.dashboard.time_chart import present_time_chart
from onlooker.console.notes.marks import read_stream_notes, with_notes
from onlooker.console.notes.pages import notes_context
from onlooker.console.numbers import read_numbers
from onlooker.console.streams.access import rights_context, visible_stream, visible_streams
from onlooker.console.streams.status import read_status
from onlooker.database import Pool
from onlooker.streams.models import Stream

REFRESHED = "report"
"""The element that reloads itself: then the picker is left alone, with whatever is half typed into it."""
PERIOD_PARAMETERS = ("period", "from", "to", "by")
STREAMS_AT_MOST = 200
"""Offered to be shown beside this one; the address takes any."""


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
    except PeriodError as error:
        picker = keep_typed(make_picker(None, zone=zone, now=now), request.GET.dict())
        return _render(request, context | {"trouble": str(error), "picker": picker}, 400)
    kept = keep_choice(request.GET.dict())
    context |= {"query": request.GET.urlencode(), "picker": make_picker(period, zone=zone, now=now)}
    context |= {"kept": kept, "suffix": as_suffix(kept), "choice": source.choice}
    context |= present_period(period, now=now)
    status = read_status(stream)
    report, lines = read_numbers(request, lambda pool: read_all(pool, source))
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
    context["untold"] = describe_untold(report, stream.groups_of)
    context |= present_report(report, stream, ever_seen=ever_seen)
    chart = present_time_chart(context["data"], lines, source, as_suffix(kept))
    context["data"]["chart"] = chart.data
    context |= {"chart": chart, "control": offer_control(request, source)}
    return _render(request, context)


async def read_all(pool: Pool, source: ChartSource) -> tuple[Report, ChartLines]:
    stream, choice = source.stream, source.choice
    reading = read_report(pool, stream.pk, source.period, now=source.now, grid=stream.grid, in_hours=choice.in_hours)
    return await asyncio.gather(reading, read_lines(pool, source))


def find_source(request: PersonRequest, stream: Stream, period: Period, *, now: datetime) -> ChartSource:
    """What the chart is asked to show. Raises PeriodError."""
    choice = parse_choice(request.GET.dict(), period)
    other = (
        _other_streams(request, stream).filter(client_id=choice.beside_stream).first() if choice.beside_stream else None
    )
    if choice.beside_stream and other is None:
        raise PeriodError("Choose another stream of the same organisation, one that you may see.")
    return ChartSource(stream, period, choice, find_ghost(choice, period, now=now), other, now)


def offer_control(request: PersonRequest, source: ChartSource) -> ChartControl:
    others = _other_streams(request, source.stream).order_by("name", "pk").values_list("client_id", "name")
    ghost, zone = source.ghost, source.period.zone
    return make_control(
        source.choice,
        source.period,
        streams=_with_chosen(list(others[:STREAMS_AT_MOST]), source.other),
        has_hours=source.stream.opening_hours.exclude(hours="").exists(),
        shown_date=ghost.from_at.astimezone(zone).date().isoformat() if ghost else "",
        hidden=[(name, value) for name, value in request.GET.dict().items() if name in PERIOD_PARAMETERS],
    )


def _with_chosen(offered: list[tuple[UUID, str]], other: Stream | None) -> list[tuple[UUID, str]]:
    if other is None or any(client_id == other.client_id for client_id, _ in offered):
        return offered
    return [*offered, (other.client_id, other.name)]


def _other_streams(request: PersonRequest, stream: Stream) -> QuerySet[Stream]:
    own = visible_streams(request.user).filter(organisation=stream.organisation_id or 0)
    return own.exclude(pk=stream.pk)


def _render(request: PersonRequest, context: dict[str, Any], status: int = 200) -> HttpResponse:
    """A fragment is always a 200: HTMX shows nothing else, and would leave the old numbers on the page."""
    if not request.htmx:
        return render(request, "dashboard/dashboard.html", context, status=status)
    context["is_refresh"] = request.htmx.trigger == REFRESHED
    context["with_picker"] = not context["is_refresh"]
    return render(request, "dashboard/fragment.html", context)
