"""Changes as a table to download: like with like, with what chance alone would do."""

import math
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.http import HttpResponse
from django.utils import translation

from onlooker.audit.actor import account_actor
from onlooker.audit.entries import append_export
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.dashboard.figures import COUNTED, FIGURE_KINDS, HEADLINES, find_change
from onlooker.console.dashboard.period import PeriodError, parse_period
from onlooker.console.dashboard.report import COMPARED, make_query
from onlooker.console.dashboard.table import describe_hours
from onlooker.console.numbers import read_numbers
from onlooker.console.streams.access import visible_stream
from onlooker.console.table_file import FileForm, TableFile
from onlooker.console.time_chart.choice import parse_hours
from onlooker.data.parquet_file import Column, Kind
from onlooker.data.parquet_table import describe_metrics, describe_query
from onlooker.metrics.changes import FEWEST_PEOPLE
from onlooker.metrics.comparison import Comparison, read_comparison
from onlooker.metrics.definitions import METRICS
from onlooker.metrics.like_time import TimeRange
from onlooker.metrics.query import Time
from onlooker.streams.notes import local_days

COLUMNS = (
    Column("metric", Kind.TEXT, is_required=True),
    Column("now", Kind.NUMBER),
    Column("before", Kind.NUMBER),
    Column("kind", Kind.TEXT),
    Column("change", Kind.NUMBER),
    Column("interval_low", Kind.NUMBER),
    Column("interval_high", Kind.NUMBER),
    Column("direction", Kind.TEXT),
    Column("compared_hours", Kind.NUMBER),
    Column("period_hours", Kind.NUMBER),
    Column("no_comparison", Kind.TEXT),
)
TOO_FEW = "too_few_people"
DIGITS = 6


@signed_in("GET", "HEAD")
def show_changes(request: PersonRequest, client_id: UUID, form: FileForm) -> HttpResponse:
    """A row for each headline number of the period."""
    stream = visible_stream(request.user, client_id)
    now = datetime.now(UTC)
    try:
        period = parse_period(request.GET.dict(), zone=ZoneInfo(stream.time_zone), now=now)
        in_hours = parse_hours(request.GET.dict())
    except PeriodError as error:
        return HttpResponse(f"{error}\n", status=400, content_type="text/plain; charset=utf-8")
    query = make_query(stream.id, period, Time.GLOBAL, metrics=COMPARED, grid=stream.grid)
    before = TimeRange(period.before_from_at, period.before_to_at)
    append_export(stream.pk, actor=account_actor(request.user.pk), from_at=before.from_at, to_at=period.to_at)
    comparison = read_numbers(request, partial(read_comparison, query=query, before=before, now=now, in_hours=in_hours))
    name = f"{stream.name} opening hours" if in_hours else stream.name
    about = {
        **describe_query(query, stream.client_id),
        **describe_headlines(HEADLINES),
        "onlooker.compare_from": before.from_at.astimezone(period.zone).isoformat(),
        "onlooker.compare_to": before.to_at.astimezone(period.zone).isoformat(),
        **describe_hours(in_hours=in_hours),
    }
    days = local_days(period.from_at, period.to_at, period.zone)
    return TableFile(f"{name} changes", *days, COLUMNS, list(make_change_rows(comparison)), about).send(form)


def describe_headlines(names: Iterable[str]) -> dict[str, str]:
    """Which numbers a file has, on the scale of the data endpoint. A file is the same in all languages."""
    with translation.override(settings.LANGUAGE_CODE):
        return describe_metrics(
            {name: METRICS[name].meaning if name in METRICS else str(FIGURE_KINDS[name].meaning) for name in names}
        )


def make_change_rows(comparison: Comparison) -> Iterator[list[object]]:
    like = comparison.like
    hours = [like.compared_s / 3600, round(like.comparable_s / 3600, DIGITS)]
    for metric in HEADLINES:
        if like.reason:
            yield [metric, *[None] * 7, *hours, like.reason]
            continue
        change = find_change(metric, comparison)
        if metric not in COUNTED and change.people < FEWEST_PEOPLE:
            yield [metric, *[None] * 7, *hours, TOO_FEW]
            continue
        ends = (change.interval.low, change.interval.high) if change.interval else (None, None)
        numbers = [change.size, *(None if end is None or math.isinf(end) else end for end in ends)]
        rounded = [None if number is None else round(number, DIGITS) for number in numbers]
        yield [metric, change.now, change.before, change.kind, *rounded, change.direction, *hours, None]
