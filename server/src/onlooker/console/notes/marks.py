"""Where notes are shown: in the buckets of a chart, in the cells of a table, and in the list below."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import translation
from django.utils.formats import date_format
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from onlooker.console.dashboard.period import Period
from onlooker.console.dashboard.recent_days import SPARKLINE_STEP
from onlooker.console.dashboard.report import Point
from onlooker.console.languages.locale_text import write_named
from onlooker.streams.models import Note, Stream
from onlooker.streams.notes import (
    BETWEEN,
    WRITERS,
    as_cell,
    local_days,
    notes_about,
    notes_of_stream,
    texts_between,
    within,
)

LISTED_AT_MOST = 100
"""More would bury the page; charts and files have all of them."""
TEXTS_AT_MOST = 20
"""Of one bucket: a thousand long notes in each day of five years would be a page that nobody can load."""
_MARK = '<rect x="{}" y="0" width="10" height="4"><title>{}</title></rect>'


@dataclass(frozen=True)
class ShownNote:
    """A row of a list."""

    note: Note
    days: str
    about: str
    """Which streams it concerns besides this one; empty: this one alone."""
    may_change: bool


def read_stream_notes(stream: Stream, period: Period) -> list[Note]:
    """All that concern the stream on one of the period's local days."""
    notes = notes_of_stream(stream).select_related("site", "organisation", "created_by")
    return list(within(notes, *local_days(period.from_at, period.to_at, period.zone)))


def read_group_notes(streams: QuerySet[Stream], site_id: int | None, first: date, last: date) -> list[Note]:
    """Those of the site, if it is one, and of the organisations that these streams are of; none of single streams."""
    wanted = Q(site=None) | Q(site=site_id) if site_id else Q(site=None)
    notes = notes_about(streams).filter(wanted, stream=None).select_related("site", "organisation", "created_by")
    return list(within(notes, first, last))


def with_notes(points: tuple[Point, ...], notes: Sequence[Note], period: Period) -> tuple[Point, ...]:
    """The buckets of a chart, with what is noted of each."""
    if not notes:
        return points
    texts = _texts_of(notes, [(point.from_at, point.to_at) for point in points], period)
    return tuple(replace(point, notes=said) for point, said in zip(points, texts, strict=True))


def note_cells(notes: Sequence[Note], edges: Sequence[datetime], period: Period) -> list[str]:
    """Of a table whose buckets have these edges. Files are the same in all languages."""
    with translation.override(settings.LANGUAGE_CODE):
        return [as_cell(texts) for texts in _texts_of(notes, pairwise(edges), period)]


def _texts_of(
    notes: Sequence[Note], edges: Iterable[tuple[datetime, datetime]], period: Period
) -> list[tuple[str, ...]]:
    """A bucket may reach beyond the period: days that are not shown have no notes."""
    return [
        _shorten(texts_between(notes, max(from_at, period.from_at), min(to_at, period.to_at), period.zone))
        for from_at, to_at in edges
    ]


def _shorten(texts: tuple[str, ...]) -> tuple[str, ...]:
    more = len(texts) - TEXTS_AT_MOST
    if more <= 0:
        return texts
    return (*texts[:TEXTS_AT_MOST], ngettext("and {count} more", "and {count} more", more).format(count=more))


def list_notes(notes: Sequence[Note], roles: Mapping[int, str], *, own: Stream | None = None) -> list[ShownNote]:
    """For somebody with these roles, by organisation."""
    return [
        ShownNote(note, describe_days(note), _describe_reach(note, own), roles.get(note.organisation_id) in WRITERS)
        for note in notes[:LISTED_AT_MOST]
    ]


def describe_days(note: Note) -> str:
    """`Mon 9 Nov 2026 to Fri 13 Nov 2026`."""
    first, last = (date_format(day, "WEEKDAY_DATE_FORMAT") for day in (note.first_day, note.last_day))
    return first if first == last else _("{first} to {last}").format(first=first, last=last)


def _describe_reach(note: Note, own: Stream | None) -> str:
    if note.stream_id:
        return "" if own else note.stream.name if note.stream else ""
    return _("all of {name}").format(name=note.site.name if note.site else note.organisation.name)


def draw_strip(notes: Sequence[Note], first: date, count: int) -> SafeString:
    """A mark for each noted day, by the place of the day."""
    marks: list[tuple[Any, ...]] = []
    for place, (day, texts) in enumerate(_texts_of_days(notes, first, count)):
        if texts:
            said = write_named(date_format(day, "SHORT_DAY_FORMAT"), BETWEEN.join(texts))
            marks.append((SPARKLINE_STEP * place, said))
    return format_html_join("", _MARK, marks)


def day_cells(notes: Sequence[Note], first: date, count: int) -> list[str]:
    """Of a table of days. Files are the same in all languages."""
    with translation.override(settings.LANGUAGE_CODE):
        return [as_cell(texts) for _day, texts in _texts_of_days(notes, first, count)]


def write_cell(notes: Sequence[Note]) -> str:
    """Of a row that is of all their days."""
    with translation.override(settings.LANGUAGE_CODE):
        return as_cell(_shorten(tuple(note.text for note in notes)))


def _texts_of_days(notes: Sequence[Note], first: date, count: int) -> Iterator[tuple[date, tuple[str, ...]]]:
    for day in (first + timedelta(days=place) for place in range(count)):
        yield day, _shorten(tuple(note.text for note in notes if note.first_day <= day <= note.last_day))


def as_json_note(note: Note) -> dict[str, Any]:
    """As programs read it."""
    return {
        "first_day": note.first_day.isoformat(),
        "last_day": note.last_day.isoformat(),
        "text": note.text,
        "site": note.site_id,
    }
