"""What a saved view shows: the report of a stream's dashboard, or the numbers of a group, for a page without links."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.http import HttpRequest
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from onlooker.console.dashboard.figures import describe_compared, describe_untold, make_figures
from onlooker.console.dashboard.group_page import describe_coverage, make_group_figures
from onlooker.console.dashboard.period import Period, present_period
from onlooker.console.dashboard.presentation import present_report
from onlooker.console.dashboard.recent_days import draw_sparkline, list_days
from onlooker.console.dashboard.report import Report, make_query, read_report, without_interest
from onlooker.console.numbers import read_numbers
from onlooker.console.reports.saved_views import Subject
from onlooker.console.streams.status import read_status
from onlooker.console.time_chart.choice import ChartChoice
from onlooker.console.time_chart.presentation import TimeChart, present_time_chart
from onlooker.console.time_chart.series import ChartLines, ChartSource, find_ahead
from onlooker.metrics.fleet import FleetNumbers, FleetPeriod, read_group
from onlooker.streams.models import Stream


def read_stream_report(
    request: HttpRequest, stream: Stream, period: Period, *, now: datetime, in_hours: bool = False
) -> Report:
    """As the dashboard reads it, for the same period; without notes, which are the organisation's own."""
    read = partial(read_report, stream_id=stream.pk, period=period, now=now, grid=stream.grid, in_hours=in_hours)
    report = read_numbers(request, read)
    return report if stream.reads_faces else replace(report, points=without_interest(report.points))


def present_stream(report: Report, stream: Stream, *, now: datetime) -> dict[str, Any]:
    """What the templates of a dashboard's report need; nothing of the stream's settings and of who is in view."""
    is_seen = bool(report.watched.covered_s or report.values["passing_by"]["value"])
    reads = {"reads_expression": stream.reads_expression, "reads_faces": stream.reads_faces}
    shown = present_report(report, stream, ever_seen=is_seen or read_status(stream).last_frame_at is not None)
    chart = _draw_usual_chart(shown["data"], report, stream, now=now)
    shown["data"]["chart"] = chart.data
    return {
        **present_period(report.period, now=now),
        **shown,
        "is_shared": True,
        "has_hours": report.in_hours and stream.opening_hours.exclude(hours="").exists(),
        "stream": stream,
        "report": report,
        "figures": make_figures(report, **reads, groups_of=stream.groups_of),
        "compared": describe_compared(report.comparison.like),
        "untold": describe_untold(report, stream.groups_of),
        "chart": chart,
        "senior_age": settings.ONLOOKER.senior_age,
    }


def _draw_usual_chart(data: dict[str, Any], report: Report, stream: Stream, *, now: datetime) -> TimeChart:
    """People passing by and interested: a shared page offers no other chart."""
    query = make_query(stream.pk, report.period, report.period.time, grid=stream.grid)
    source = ChartSource(stream, report.period, ChartChoice(in_hours=report.in_hours), ghost=None, other=None, now=now)
    return present_time_chart(data, ChartLines(find_ahead(query, report.period)), source, suffix=None)


def read_group_numbers(request: HttpRequest, subject: Subject, period: FleetPeriod) -> FleetNumbers:
    """As the page of the same streams reads them."""
    ids = list(subject.streams().values_list("pk", flat=True))
    return read_numbers(request, partial(read_group, stream_ids=ids, period=period))


def present_group(numbers: FleetNumbers) -> dict[str, Any]:
    """Of all of its streams together: none is named."""
    period = numbers.period
    last = period.last_day or max([period.now.date(), *(day.day for day in numbers.days)])
    first = last - timedelta(days=period.days - 1)
    days = list_days(numbers, first, period.days, ZoneInfo("UTC"))
    return {
        "figures": make_group_figures(numbers),
        "coverage": describe_coverage(numbers),
        "days": days,
        "bars": draw_sparkline(days),
        "range": describe_days(first, last),
    }


def describe_days(first: date, last: date) -> str:
    """`Mon 2 Nov 2026 to Sun 8 Nov 2026`."""
    days = {"first": date_format(first, "WEEKDAY_DATE_FORMAT"), "last": date_format(last, "WEEKDAY_DATE_FORMAT")}
    # Translators: days
    return _("{first} to {last}").format(**days)
