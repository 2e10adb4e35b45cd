"""Streams, sites and tags side by side: a page, the search for rows to add, and files."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import translation
from django.utils.translation import gettext as _

from onlooker.audit.actor import account_actor
from onlooker.audit.entries import append_exports
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.comparison.request import (
    OFFERED,
    SHOWN,
    ComparisonRequest,
    StreamsOfRows,
    parse_request,
    read_streams_and_days,
)
from onlooker.console.comparison.row_chart import draw_rows
from onlooker.console.comparison.row_words import ShownRow, show_rows
from onlooker.console.comparison.rows import ROWS_AT_MOST, RowError, chosen_in_overview, search_rows
from onlooker.console.dashboard.change_table import describe_headlines
from onlooker.console.dashboard.figures import format_compared_s
from onlooker.console.dashboard.period import CALENDAR_NAMES, DEFAULT, Period, PeriodError, format_period
from onlooker.console.languages.locale_text import translate
from onlooker.console.numbers import read_numbers
from onlooker.console.table_file import FileForm, TableFile
from onlooker.data.parquet_file import Column, Kind
from onlooker.metrics.side_by_side import FEWEST_ROWS, SideBySide, read_side_by_side
from onlooker.streams.notes import as_cell, local_days

COLUMNS = (
    Column("row", Kind.TEXT, is_required=True),
    Column("kind", Kind.TEXT, is_required=True),
    Column("streams", Kind.COUNT),
    Column("streams_compared", Kind.COUNT),
    Column("watched_share", Kind.NUMBER),
    Column("compared_hours", Kind.NUMBER),
    Column("watched_hours", Kind.NUMBER),
    Column("metric", Kind.TEXT, is_required=True),
    Column("value", Kind.NUMBER),
    Column("interval_low", Kind.NUMBER),
    Column("interval_high", Kind.NUMBER),
    Column("rank_best", Kind.COUNT),
    Column("rank_worst", Kind.COUNT),
    Column("no_value", Kind.TEXT),
)
DIGITS = 6


@signed_in("GET", "HEAD")
def show_comparison(request: PersonRequest) -> HttpResponse:
    if ticked := request.GET.getlist("stream"):
        rows = [*request.GET.getlist("row"), *chosen_in_overview(request.user, ticked)]
        return HttpResponseRedirect(f"?{_query_of(rows)}")
    now = datetime.now(UTC)
    try:
        asked = parse_request(request)
    except RowError as error:
        return render(request, "comparison/page.html", {"trouble": translate(error)}, status=400)
    context: dict[str, Any] = {"asked": asked, "query": asked.address(), "at_most": ROWS_AT_MOST}
    words = request.GET.get("find", "")
    is_full = len(asked.rows) >= ROWS_AT_MOST
    if not is_full and (words or len(asked.rows) < FEWEST_ROWS or request.htmx):
        context |= {"found": _offer_rows(request, asked, words)}
    context |= {"words": words, "is_full": is_full}
    if request.htmx:
        return render(request, "comparison/found.html", context)
    context |= _offer_periods(asked) | {"chosen_rows": [(row, asked.without(row)) for row in asked.rows]}
    if not asked.rows:
        return render(request, "comparison/page.html", context)
    try:
        known = read_streams_and_days(asked, now)
    except (PeriodError, RowError) as error:
        return render(request, "comparison/page.html", context | {"trouble": translate(error)}, status=400)
    context |= {"range": format_period(known.period, now=now), "last_day": now.date().isoformat()}
    context |= _days_of(known.period)
    if len(asked.rows) >= FEWEST_ROWS:
        context |= _present(request, asked, known)
    return render(request, "comparison/page.html", context)


def _days_of(period: Period) -> dict[str, str]:
    """Values of the form's fields: the first and the last day, by the clock of the first row."""
    last = period.to_at.astimezone(period.zone) - timedelta(seconds=1)
    return {"from_day": period.begins.date().isoformat(), "to_day": last.date().isoformat()}


def _offer_rows(request: PersonRequest, asked: ComparisonRequest, words: str) -> list[dict[str, str]]:
    return [
        {"kind": row.kind, "key": row.key, "name": row.name, "kind_name": row.kind_name, "address": asked.beside(row)}
        for row in search_rows(request.user, words)
        if row.value not in asked.has
    ]


def _query_of(rows: list[str]) -> str:
    return "&".join(f"row={row}" for row in rows[: ROWS_AT_MOST + 1])


def _offer_periods(asked: ComparisonRequest) -> dict[str, Any]:
    given = dict(asked.period)
    chosen = "" if "from" in given or "to" in given else given.get("period", DEFAULT)
    offered = [
        (name, translate(label), asked.address(period=(("period", name),)), name == chosen)
        for name, label in OFFERED.items()
    ]
    return {
        "periods": [one for one in offered if one[0] not in CALENDAR_NAMES],
        "calendar": [one for one in offered if one[0] in CALENDAR_NAMES],
        "from_day": given.get("from", ""),
        "to_day": given.get("to", ""),
    }


def _present(request: PersonRequest, asked: ComparisonRequest, known: StreamsOfRows) -> dict[str, Any]:
    found = read_numbers(request, lambda pool: read_side_by_side(pool, known.periods))
    rows = show_rows(found, asked.rows, known.streams)
    context: dict[str, Any] = {
        "found_rows": found,
        "rows": [(row, asked.without(row.chosen)) for row in rows],
        "compared": format_compared_s(found.compared_s, max(found.open_s, found.compared_s)),
    }
    if found.reason:
        without = None if found.without is None else asked.rows[found.without]
        return context | {"without": without, "without_address": asked.without(without) if without else ""}
    chart = draw_rows(found, rows, asked.metric, known.period)
    figures = rows[0].figures
    context |= {
        "chart": chart,
        "chart_data": chart.as_json(rows),
        "metrics": [(one.figure, asked.address(metric=one.figure.metric)) for one in figures],
        "metric_name": next(one.figure.name for one in figures if one.figure.metric == asked.metric),
    }
    return context


@signed_in("GET", "HEAD")
def send_comparison(request: PersonRequest, form: FileForm) -> HttpResponse:
    """A line for each number of each row."""
    now = datetime.now(UTC)
    try:
        asked = parse_request(request)
        if len(asked.rows) < FEWEST_ROWS:
            raise RowError(_("Name at least two rows, such as row=site:1&row=site:2."))
        known = read_streams_and_days(asked, now)
    except (PeriodError, RowError) as error:
        return HttpResponse(f"{translate(error)}\n", status=400, content_type="text/plain; charset=utf-8")
    ranges = {one.stream_id: (one.period.from_at, one.period.to_at) for row in known.periods for one in row}
    append_exports(ranges, actor=account_actor(request.user.pk))
    found = read_numbers(request, lambda pool: read_side_by_side(pool, known.periods))
    with translation.override(settings.LANGUAGE_CODE):  # a file is the same in all languages
        rows = show_rows(found, asked.rows, known.streams)
    about = {
        "onlooker.rows": ",".join(row.value for row in asked.rows),
        "onlooker.time_zone": known.period.zone.key,
        "onlooker.from_date": known.period.from_at.astimezone(known.period.zone).isoformat(),
        "onlooker.to_date": known.period.to_at.astimezone(known.period.zone).isoformat(),
        **describe_headlines(SHOWN),
    }
    days = local_days(known.period.from_at, known.period.to_at, known.period.zone)
    return TableFile("comparison", *days, COLUMNS, list(_make_lines(found, rows)), about).send(form)


def _make_lines(found: SideBySide, rows: list[ShownRow]) -> Iterator[list[object]]:
    for row in rows:
        share = row.row.watched_share
        about: list[object] = [
            *(as_cell([row.chosen.name]), row.chosen.kind.value, row.streams, len(row.row.taking_part)),
            *(None if share is None else round(share, DIGITS), found.compared_s / 3600, round(row.row.hours, DIGITS)),
        ]
        for metric, one in zip(SHOWN, row.figures, strict=True):
            if found.reason or not one.figure.value:
                yield [*about, metric, *[None] * 5, found.reason or one.why]
                continue
            ends = [None, None] if one.interval is None else [one.interval.low, one.interval.high]
            rounded = [None if end is None else round(end, DIGITS) for end in ends]
            places = [one.rank.best, one.rank.worst] if one.rank else [None, None]
            yield [*about, metric, one.figure.value, *rounded, *places, None]
