"""Numbers of a site, a tag or all streams together as tables to download: by day, in total, and how they changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import override

from onlooker.audit.actor import account_actor
from onlooker.audit.entries import append_exports
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.dashboard.change_table import COLUMNS as CHANGE_COLUMNS
from onlooker.console.dashboard.change_table import describe_headlines, make_change_rows
from onlooker.console.dashboard.figures import COUNTED, HEADLINES, number_of
from onlooker.console.dashboard.group_page import StreamGroup, find_days, find_group
from onlooker.console.notes.marks import day_cells, read_group_notes, write_cell
from onlooker.console.numbers import read_numbers
from onlooker.console.table_file import FileForm, TableFile
from onlooker.data.parquet_file import Column, Kind
from onlooker.data.table import columns_of
from onlooker.metrics.changes import FEWEST_PEOPLE
from onlooker.metrics.comparison import NoComparison
from onlooker.metrics.definitions import METRICS, Number, Unit
from onlooker.metrics.fleet import COMPARED, FleetDay, FleetNumbers, FleetPeriod, read_group
from onlooker.streams.business_hours import zone_of
from onlooker.streams.models import Note

PARTS = {
    name: columns_of(name, metric.shape([0] * len(metric.figures)))
    for name, metric in METRICS.items()
    if metric.unit is Unit.PARTS
}
"""The columns of what is counted by name."""
_HEADLINES = [Column(name, Kind.COUNT if name in COUNTED else Kind.NUMBER) for name in HEADLINES]
_LAST = (Column("gap", Kind.TEXT), Column("note", Kind.TEXT))
DAY_COLUMNS = (
    Column("day", Kind.DAY, is_required=True),
    *_HEADLINES,
    Column("streams", Kind.COUNT),
    Column("watched", Kind.NUMBER),
    *_LAST,
)
TOTAL_COLUMNS = (
    Column("first_day", Kind.DAY, is_required=True),
    Column("last_day", Kind.DAY, is_required=True),
    Column("stream_count", Kind.COUNT),
    *_HEADLINES,
    *(Column(column, Kind.COUNT) for columns in PARTS.values() for column in columns),
    Column("watched", Kind.NUMBER),
    Column("watched_share", Kind.NUMBER),
    Column("open", Kind.NUMBER),
    Column("blind", Kind.NUMBER),
    *_LAST,
)


@dataclass(frozen=True)
class GroupTable:
    """The numbers of a group, and its days: those of each stream's own clock."""

    group: StreamGroup
    numbers: FleetNumbers
    first: date
    last: date
    notes: list[Note]

    def make_file(self, title: str, columns: tuple[Column, ...], rows: list[list[Any]]) -> TableFile:
        about = {
            "onlooker.group": self.group.title,
            "onlooker.site": "" if self.group.asked.site_id is None else str(self.group.asked.site_id),
            "onlooker.tag": "" if self.group.asked.tag_id is None else str(self.group.asked.tag_id),
            "onlooker.stream_count": str(len(self.group.stream_ids)),
            "onlooker.first_day": self.first.isoformat(),
            "onlooker.last_day": self.last.isoformat(),
        }
        known = {name: text for name, text in about.items() if text}
        names = [column.name for column in columns if column.name in HEADLINES]
        return TableFile(title, self.first, self.last, columns, rows, known | describe_headlines(names or HEADLINES))


@signed_in("GET", "HEAD")
def send_days(request: PersonRequest, form: FileForm) -> HttpResponse:
    """A row for each day, also for those on which nothing was watched."""
    table = read_table(request)
    known = {day.day: day for day in table.numbers.days}
    days = [table.first + timedelta(days=place) for place in range((table.last - table.first).days + 1)]
    rows = [
        [*_make_day_row(known.get(day) or FleetDay(day)), note]
        for day, note in zip(days, day_cells(table.notes, table.first, len(days)), strict=True)
    ]
    return table.make_file(table.group.title, DAY_COLUMNS, rows).send(form)


@signed_in("GET", "HEAD")
def send_totals(request: PersonRequest, form: FileForm) -> HttpResponse:
    """One row."""
    table = read_table(request)
    row = [table.first, table.last, len(table.group.stream_ids), *_make_total_row(table.numbers)]
    row.append(write_cell(table.notes))
    return table.make_file(f"{table.group.title} totals", TOTAL_COLUMNS, [row]).send(form)


@signed_in("GET", "HEAD")
def send_changes(request: PersonRequest, form: FileForm) -> HttpResponse:
    """With the columns of a dashboard's changes."""
    table = read_table(request)
    rows = list(make_change_rows(table.numbers.comparison))
    return table.make_file(f"{table.group.title} changes", CHANGE_COLUMNS, rows).send(form)


def read_table(request: PersonRequest) -> GroupTable:
    """Read, and noted in the audit log of each stream."""
    with override(settings.LANGUAGE_CODE):  # a file is the same in all languages
        group = find_group(request)
    now = timezone.now()
    append_exports(_find_ranges(group, now), actor=account_actor(request.user.pk))
    period = FleetPeriod(group.days, now)
    numbers = read_numbers(request, lambda pool: read_group(pool, group.stream_ids, period))
    first, last = find_days(group, now)
    notes = read_group_notes(group.streams, group.asked.site_id, first, last)
    return GroupTable(group, numbers, first, last, notes)


def _find_ranges(group: StreamGroup, now: datetime) -> dict[int, tuple[datetime, datetime]]:
    zones = dict(group.streams.values_list("pk", "time_zone"))
    begins = {name: _find_begin(zone_of(name), group.days, now) for name in set(zones.values())}
    return {pk: (begins[name], now) for pk, name in zones.items()}


def _find_begin(zone: ZoneInfo, days: int, now: datetime) -> datetime:
    first = now.astimezone(zone).date() - timedelta(days=days - 1)
    return datetime.combine(first, time(), zone).astimezone(UTC)


def _make_day_row(day: FleetDay) -> list[Any]:
    is_watched = bool(day.watched_s or day.figures["passing_by"])
    numbers = tell_headlines(day.figures) if is_watched else [None] * len(HEADLINES)
    return [day.day, *numbers, day.streams, round(day.watched_s, 3), None if is_watched else NoComparison.NOT_WATCHED]


def _make_total_row(numbers: FleetNumbers) -> list[Any]:
    parts = [count for name in PARTS for count in numbers.values[name].values()]
    told = [*tell_headlines(numbers.figures), *parts]
    is_watched = bool(numbers.watched_s or numbers.figures["passing_by"])
    share = None if numbers.share is None else round(numbers.share, 6)
    return [
        *(told if is_watched else [None] * len(told)),
        *(round(numbers.watched_s, 3), share, round(numbers.open_s, 3), round(numbers.blind_s, 3)),
        None if is_watched else NoComparison.NOT_WATCHED,
    ]


def tell_headlines(figures: Mapping[str, int]) -> list[Number]:
    """As on the page: no mean and no share of fewer than 10 people."""
    values = {name: METRICS[name].shape([figures[one] for one in METRICS[name].figures]) for name in COMPARED}
    return [number_of(name, values) if _is_told(name, figures) else None for name in HEADLINES]


def _is_told(metric: str, figures: Mapping[str, int]) -> bool:
    if metric in COUNTED:
        return True
    *_, people = METRICS["passing_by" if metric == "conversion" else metric].figures
    return figures[people] >= FEWEST_PEOPLE
