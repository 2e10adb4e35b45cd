"""Before and after a day of one stream, site or tag: a page, and files."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from onlooker.audit.actor import account_actor
from onlooker.audit.entries import append_exports
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.comparison.rows import ChosenRow, RowError, find_rows, read_streams_of
from onlooker.console.dashboard.change_table import COLUMNS, describe_headlines, make_change_rows
from onlooker.console.dashboard.figures import (
    HEADLINES,
    NO_VALUE,
    Figure,
    PeriodChange,
    explain_no_comparison,
    find_change,
    format_before,
    format_compared,
    make_figure,
    number_of,
)
from onlooker.console.dashboard.period import EARLIEST
from onlooker.console.languages.locale_text import translate
from onlooker.console.notes.marks import read_group_notes
from onlooker.console.numbers import read_numbers
from onlooker.console.table_file import FileForm, TableFile
from onlooker.metrics.before_after import LONGEST_WEEKS, Watershed, read_before_after
from onlooker.metrics.changes import sum_figures
from onlooker.metrics.comparison import Comparison
from onlooker.metrics.definitions import METRICS
from onlooker.metrics.pooled_figures import POOLED
from onlooker.streams.business_hours import zone_of
from onlooker.streams.models import Note
from onlooker.streams.notes import notes_of_stream, within

WEEKS = (1, 2, 4, 8, 12, LONGEST_WEEKS)
USUAL_WEEKS = 4
NOTES_SHOWN = 20
NOTES_OF_DAYS = 366
_NO_DAY = gettext_noop("Write the day as 2026-11-01.")
_NO_WEEKS = gettext_noop("Weeks are a number from 1 to {most}.")
_FUTURE = gettext_noop("This day has not begun yet. Choose today or an earlier day.")
_TOO_EARLY = gettext_noop("Days before {year} are not supported.")
_EXPLAINED = gettext_noop("{name}: {change}, which chance does not explain ({chance}).")
SENTENCES = {
    "up": _EXPLAINED,
    "down": _EXPLAINED,
    "same": gettext_noop("{name}: about the same as before ({chance})."),
    "none": gettext_noop("{name}: {change}."),
}
"""By direction of the change."""


@dataclass(frozen=True)
class Campaign:
    """What is asked for: a row, a day and weeks; no watershed until a day is chosen."""

    row: ChosenRow
    watershed: Watershed | None
    weeks: int = USUAL_WEEKS

    def address(self, **changes: Any) -> str:
        day = self.watershed.day.isoformat() if self.watershed else ""
        said = {"row": self.row.value, "date": day, "weeks": self.weeks} | changes
        return urlencode({name: value for name, value in said.items() if value}, safe=":")


@signed_in("GET", "HEAD")
def show_before_after(request: PersonRequest) -> HttpResponse:
    row, now = _find_row(request), datetime.now(UTC)
    context: dict[str, Any] = {
        "row": row,
        "campaign": Campaign(row, None),
        "day": request.GET.get("date", ""),
        "weeks": WEEKS,
        "longest": LONGEST_WEEKS,
        "today": now.date().isoformat(),
    }
    try:
        campaign = _parse_campaign(request, row, now)
        context |= {"campaign": campaign, "notes": _offer_notes(campaign, now)}
        if campaign.watershed:
            comparison = _read(request, campaign, campaign.watershed, now)
            context |= _present(campaign, campaign.watershed, comparison, now)
    except RowError as error:
        return render(request, "comparison/before_after.html", context | {"trouble": translate(error)}, status=400)
    return render(request, "comparison/before_after.html", context)


@signed_in("GET", "HEAD")
def send_before_after(request: PersonRequest, form: FileForm) -> HttpResponse:
    """With the columns of a dashboard's changes."""
    row, now = _find_row(request), datetime.now(UTC)
    try:
        campaign = _parse_campaign(request, row, now)
        if campaign.watershed is None:
            raise RowError(_(_NO_DAY))
        watershed = campaign.watershed
        comparison = _read(request, campaign, watershed, now)
    except RowError as error:
        return HttpResponse(f"{translate(error)}\n", status=400, content_type="text/plain; charset=utf-8")
    zones = {stream.pk: zone_of(stream.time_zone) for stream in row.read()}
    ranges = {pk: (watershed.before(zone).from_at, min(watershed.after(zone).to_at, now)) for pk, zone in zones.items()}
    append_exports(ranges, actor=account_actor(request.user.pk))
    first, last = watershed.day - watershed.length, watershed.day + watershed.length - timedelta(days=1)
    about = {
        "onlooker.row": row.value,
        "onlooker.date": watershed.day.isoformat(),
        "onlooker.weeks": str(watershed.weeks),
        **describe_headlines(HEADLINES),
    }
    rows = list(make_change_rows(comparison))
    return TableFile(f"{row.name} before and after", first, min(last, now.date()), COLUMNS, rows, about).send(form)


def _find_row(request: PersonRequest) -> ChosenRow:
    rows = find_rows(request.user, request.GET.getlist("row")[:1])
    if not rows:
        raise Http404
    return rows[0]


def _parse_campaign(request: PersonRequest, row: ChosenRow, now: datetime) -> Campaign:
    """Raises RowError."""
    weeks_text, day_text = (request.GET.get(name, "") for name in ("weeks", "date"))
    if weeks_text and not (weeks_text.isascii() and weeks_text.isdecimal() and len(weeks_text) < 3):
        raise RowError(_(_NO_WEEKS).format(most=LONGEST_WEEKS))
    weeks = int(weeks_text or USUAL_WEEKS)
    if not 1 <= weeks <= LONGEST_WEEKS:
        raise RowError(_(_NO_WEEKS).format(most=LONGEST_WEEKS))
    if not day_text:
        return Campaign(row, None, weeks)
    try:
        day = date.fromisoformat(day_text)
    except ValueError:
        raise RowError(_(_NO_DAY)) from None
    if day.year <= EARLIEST.year:
        raise RowError(_(_TOO_EARLY).format(year=EARLIEST.year + 1))
    return Campaign(row, Watershed(day, weeks), weeks)


def _read(request: PersonRequest, campaign: Campaign, watershed: Watershed, now: datetime) -> Comparison:
    [streams] = read_streams_of([campaign.row], 2 * watershed.length.days)
    zones = [(stream.pk, zone_of(stream.time_zone)) for stream in streams]
    if any(watershed.after(zone).from_at >= now for _, zone in zones):
        raise RowError(_(_FUTURE))
    return read_numbers(request, lambda pool: read_before_after(pool, zones, watershed, now=now))


def _offer_notes(campaign: Campaign, now: datetime) -> list[tuple[Note, str]]:
    """The latest ones first; a link each, with the day on which it begins."""
    first, last = now.date() - timedelta(days=NOTES_OF_DAYS), now.date() - timedelta(days=1)
    notes = _find_notes(campaign.row, first, last)
    begun = [note for note in notes if first <= note.first_day <= last]
    latest = sorted(begun, key=lambda note: note.first_day, reverse=True)[:NOTES_SHOWN]
    return [(note, campaign.address(date=note.first_day.isoformat())) for note in latest]


def _find_notes(row: ChosenRow, first: date, last: date) -> Sequence[Note]:
    if row.own:
        return list(within(notes_of_stream(row.own), first, last))
    return read_group_notes(row.streams, row.site_id, first, last)


def _present(campaign: Campaign, watershed: Watershed, comparison: Comparison, now: datetime) -> dict[str, Any]:
    like = comparison.like
    none = explain_no_comparison(like) if like.reason else None
    figures = [] if none else _make_figures(comparison)
    last = watershed.day + watershed.length - timedelta(days=1)
    return {
        "query": campaign.address(),
        "none": none,
        "figures": figures,
        "compared": format_compared(like),
        "before_from": watershed.day - watershed.length,
        "before_to": watershed.day - timedelta(days=1),
        "after_from": watershed.day,
        "after_to": last,
        "is_over": last < now.date(),
        "lengths": [(weeks, campaign.address(weeks=weeks)) for weeks in WEEKS],
    }


@dataclass(frozen=True)
class ComparedNumber:
    """A number after the day and before it."""

    figure: Figure
    before: str
    sentence: str


def _make_figures(comparison: Comparison) -> list[ComparedNumber]:
    values = {name: METRICS[name].shape(sum_figures(comparison.clusters[name])) for name in POOLED}
    found = []
    for name in HEADLINES:
        figure = make_figure(name, number_of(name, values), comparison)
        is_told = figure.change.direction != "none"
        before = format_before(name, find_change(name, comparison)) if is_told else NO_VALUE
        found.append(ComparedNumber(figure, before, describe(figure)))
    return found


def describe(figure: Figure) -> str:
    """In a sentence."""
    change: PeriodChange = figure.change
    return _(SENTENCES[change.direction]).format(name=figure.name, change=change.words, chance=change.chance)
