"""A dashboard's numbers as a CSV or Parquet file to download."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from django.http import HttpResponse

from onlooker.audit.actor import account_actor
from onlooker.audit.entries import append_export
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.bucket_numbers import open_reader
from onlooker.console.dashboard.period import SECOND, Period, PeriodError, parse_period
from onlooker.console.dashboard.report import COUNTS, all_buckets, find_gap, make_query
from onlooker.console.notes.marks import note_cells, read_stream_notes
from onlooker.console.numbers import read_numbers
from onlooker.console.streams.access import visible_stream
from onlooker.console.time_chart.choice import parse_hours
from onlooker.data.parquet_file import MEDIA_TYPE, Column, Kind
from onlooker.data.parquet_table import FIRST_COLUMNS, describe_query, make_columns, open_file, typed_rows
from onlooker.data.table import as_csv, columns_of, table_header, table_rows
from onlooker.database import Pool
from onlooker.metrics.coverage import Absence, BucketCoverage
from onlooker.metrics.definitions import Value
from onlooker.metrics.execution import Answer
from onlooker.metrics.extension_values import shape_gaps, shape_watched
from onlooker.metrics.extensions import GAPS, WATCHED
from onlooker.streams.models import Stream

LONGEST_NAME = 60


@dataclass(frozen=True)
class PeriodTable:
    """The time chart's buckets, with the columns of the data endpoint's table, `gap` and `note`."""

    stream: Stream
    period: Period
    answer: Answer
    covered: tuple[BucketCoverage, ...]
    notes: list[str]
    in_hours: bool
    """Whether only opening hours count."""

    @property
    def title(self) -> str:
        """What the file is named after."""
        return f"{self.stream.name} opening hours" if self.in_hours else self.stream.name

    @property
    def header(self) -> list[str]:
        return _make_header(self.answer, self.covered[0])

    @property
    def rows(self) -> Iterator[list[object]]:
        return ([*row, note] for row, note in zip(_make_rows(self.answer, self.covered), self.notes, strict=True))


@signed_in("GET", "HEAD")
def show_table(request: PersonRequest, client_id: UUID) -> HttpResponse:
    read = read_table(request, client_id)
    if isinstance(read, HttpResponse):
        return read
    return make_file(as_csv([read.header]) + as_csv(read.rows), read.title, read.period)


@signed_in("GET", "HEAD")
def show_parquet(request: PersonRequest, client_id: UUID) -> HttpResponse:
    read = read_table(request, client_id)
    if isinstance(read, HttpResponse):
        return read
    *numbers, gap, note = read.header[1:]
    columns = [*FIRST_COLUMNS, *make_columns(numbers), Column(gap, Kind.TEXT), Column(note, Kind.TEXT)]
    hours = {"onlooker.hours": "open"} if read.in_hours else {}
    file = open_file(columns, describe_query(read.answer.query, read.stream.client_id) | hours)
    content = file.begin() + file.add_rows(list(typed_rows(read.answer.query, read.rows))) + file.finish()
    response = HttpResponse(content, content_type=MEDIA_TYPE)
    name = make_file_name(read.title, read.period, "parquet")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def read_table(request: PersonRequest, client_id: UUID) -> PeriodTable | HttpResponse:
    """What is no period is answered with what is wrong."""
    stream = visible_stream(request.user, client_id)
    now = datetime.now(UTC)
    try:
        period = parse_period(request.GET.dict(), zone=ZoneInfo(stream.time_zone), now=now)
        in_hours = parse_hours(request.GET.dict())
    except PeriodError as error:
        return HttpResponse(f"{error}\n", status=400, content_type="text/plain; charset=utf-8")

    query = make_query(stream.id, period, period.time, grid=stream.grid)
    buckets = all_buckets(query)

    async def read(pool: Pool) -> tuple[Answer, tuple[BucketCoverage, ...]]:
        reader = await open_reader(pool, query, now=now, in_hours=in_hours)
        return await reader.read_answer(query, buckets), await reader.read_coverage(query, buckets)

    append_export(stream.pk, actor=account_actor(request.user.pk), from_at=period.from_at, to_at=period.to_at)
    answer, covered = read_numbers(request, read)
    notes = note_cells(read_stream_notes(stream, period), buckets.edges, period)
    return PeriodTable(stream, period, answer, covered, notes, in_hours)


def _make_header(answer: Answer, watched: BucketCoverage) -> list[str]:
    columns = [column for name, value in _coverage_of(watched).items() for column in columns_of(name, value)]
    return [*table_header(answer, answer.query.metrics), *columns, "gap", "note"]


def _coverage_of(watched: BucketCoverage) -> dict[str, Value]:
    """As the data endpoint has it; read once for these columns and for `gap`."""
    return {WATCHED.name: shape_watched(watched.watched), GAPS.name: shape_gaps(watched)}


def _make_rows(answer: Answer, covered: tuple[BucketCoverage, ...]) -> Iterator[list[object]]:
    rows = table_rows(answer, answer.query.metrics)
    for row, values, watched in zip(rows, answer.entities.values(), covered, strict=True):
        seconds = (second for value in _coverage_of(watched).values() for second in value.values())
        gap = None if any(values[name]["value"] for name in COUNTS) else find_gap(watched)
        key, *numbers, exact = row
        shown = [None] * len(numbers) if gap is Absence.NOT_CREATED else numbers
        yield [key, *shown, exact, *seconds, gap]


def make_file(table: str, name: str, period: Period) -> HttpResponse:
    """A CSV file to download."""
    response = HttpResponse(table, content_type="text/csv; charset=utf-8; header=present")
    response["Content-Disposition"] = f'attachment; filename="{make_file_name(name, period)}"'
    return response


def make_file_name(stream_name: str, period: Period, form: str = "csv") -> str:
    """Letters, digits and hyphens only, whatever the stream's name is."""
    first, last = (at.astimezone(period.zone).date() for at in (period.from_at, period.to_at - SECOND))
    return f"{plain_name(stream_name) or 'stream'}-{first}-to-{last}.{form}"


def plain_name(name: str) -> str:
    """Letters, digits and hyphens; empty where nothing is left."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain)[:LONGEST_NAME].strip("-")
