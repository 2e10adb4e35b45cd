"""A dashboard's numbers as a CSV or Parquet file to download."""

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
from onlooker.console.dashboard.period import Period, PeriodError, parse_period
from onlooker.console.dashboard.report import COUNTS, all_buckets, find_gap, make_query
from onlooker.console.notes.marks import note_cells, read_stream_notes
from onlooker.console.numbers import read_numbers
from onlooker.console.streams.access import visible_stream
from onlooker.console.table_file import FileForm, name_file, send_csv, send_parquet
from onlooker.console.time_chart.choice import parse_hours
from onlooker.data.parquet_file import Column, Kind
from onlooker.data.parquet_table import FIRST_COLUMNS, describe_query, make_columns, typed_rows
from onlooker.data.table import as_csv, columns_of, table_header, table_rows
from onlooker.database import Pool
from onlooker.metrics.coverage import Absence, BucketCoverage
from onlooker.metrics.definitions import Value
from onlooker.metrics.execution import Answer
from onlooker.metrics.extension_values import shape_gaps, shape_watched
from onlooker.metrics.extensions import GAPS, WATCHED
from onlooker.streams.models import Stream
from onlooker.streams.notes import local_days


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
def show_table(request: PersonRequest, client_id: UUID, form: FileForm) -> HttpResponse:
    read = read_table(request, client_id)
    if isinstance(read, HttpResponse):
        return read
    name = name_file(read.title, *local_days(read.period.from_at, read.period.to_at, read.period.zone), form)
    if form is FileForm.CSV:
        return send_csv(as_csv([read.header]) + as_csv(read.rows), name)
    *numbers, gap, note = read.header[1:]
    columns = [*FIRST_COLUMNS, *make_columns(numbers), Column(gap, Kind.TEXT), Column(note, Kind.TEXT)]
    about = describe_query(read.answer.query, read.stream.client_id) | describe_hours(in_hours=read.in_hours)
    return send_parquet(columns, list(typed_rows(read.answer.query, read.rows)), about, name)


def describe_hours(*, in_hours: bool) -> dict[str, str]:
    """In a file of opening hours alone."""
    return {"onlooker.hours": "open"} if in_hours else {}


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
