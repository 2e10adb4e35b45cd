"""The section as a part of a dashboard that is fetched once somebody comes near it, or as a page without scripts."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import OperationalError
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.formats import date_format
from django_htmx.http import retarget

from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.breakdowns.headlines import list_chips
from onlooker.console.breakdowns.refusals import describe_refusal, explain_busy
from onlooker.console.breakdowns.section import CHARTS, chart_source, present_section, read_section, section_sources
from onlooker.console.breakdowns.selection import parse_selection
from onlooker.console.breakdowns.week_numbers import read_weeks
from onlooker.console.breakdowns.week_section import present_weeks
from onlooker.console.dashboard.period import PeriodError, format_period, parse_period
from onlooker.console.numbers import read_numbers
from onlooker.console.streams.access import rights_context, visible_stream
from onlooker.console.time_chart.source import find_source
from onlooker.metrics.cells import CellRefusal

ALONE = {f"who-chart-{name}": name for name in CHARTS}
"""The elements of charts, each replaced alone where something else is chosen for it."""


@signed_in("GET", "HEAD")
def show_breakdowns(request: PersonRequest, client_id: UUID) -> HttpResponse:
    stream = visible_stream(request.user, client_id)
    zone, now = ZoneInfo(stream.time_zone), datetime.now(UTC)
    context: dict[str, Any] = {
        "stream": stream,
        "query": request.GET.urlencode(),
        **rights_context(request.user, stream),
    }
    try:
        period = parse_period(request.GET.dict(), zone=zone, now=now)
        source = find_source(request, stream, period, now=now)
        selection = parse_selection(request.GET.dict())
    except PeriodError as error:
        return _render(request, context | {"refusal": str(error)}, 400)
    context |= {"chips": list_chips(selection), "unfiltered": selection.without(*selection.kept)}
    context |= {"range": format_period(period, now=now), "choice": source.choice}
    context["read_at"] = date_format(now.astimezone(zone), "TIME_FORMAT")
    context["is_moving"] = period.is_moving
    chart = ALONE.get(request.htmx.target or "")
    asked = {chart: chart_source(chart, source, selection)} if chart else section_sources(source, selection)
    try:
        if stream.groups_of > 1 and not stream.grid:
            weeks = read_numbers(request, lambda pool: read_weeks(pool, stream.pk, period))
            return _render(request, context | present_weeks(weeks, source, selection), chart=chart)
        cells = read_numbers(request, lambda pool: read_section(pool, asked))
    except CellRefusal as refusal:
        return _render(request, context | describe_refusal(refusal, stream, selection))
    except OperationalError:
        return _render(request, context | {"refusal": explain_busy()}, 503)
    return _render(request, context | present_section(cells, selection), chart=chart)


def _render(
    request: PersonRequest, context: dict[str, Any], status: int = 200, *, chart: str | None = None
) -> HttpResponse:
    """A fragment is always a 200: HTMX shows nothing else."""
    if not request.htmx:
        return render(request, "breakdowns/page.html", context, status=status)
    if chart is None or chart not in context.get("data", {}):  # there are none of a refusal, and fewer of weeks
        answer = render(request, "breakdowns/fragment.html", context)
        return retarget(answer, "#who") if request.htmx.target in ALONE else answer
    own = {"is_part": True, "own_data": context["data"][chart]}
    return render(request, f"breakdowns/{chart}.html", context | own)
