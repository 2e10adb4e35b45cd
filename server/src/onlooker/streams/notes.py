"""Notes on days: what they are, whom they concern, and which stretches of time they touch."""

import re
import unicodedata
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from onlooker.streams.models import LONGEST_NOTE, MemberRole, Note, Organisation, Site, Stream
from onlooker.streams.options import is_plain_line
from onlooker.streams.organisations import RefusedError

if TYPE_CHECKING:
    from django.contrib.auth.base_user import AbstractBaseUser

WRITERS = (MemberRole.OWNER, MemberRole.MANAGER, MemberRole.ANALYST)
"""Those who see the whole organisation. Viewers read what concerns their streams."""
NOTES_PER_ORGANISATION = 1000
EARLIEST_DAY, LATEST_DAY = date(1971, 1, 1), date(2199, 12, 31)
BETWEEN = "; "
"""Between the texts of several notes in one cell."""
_FULL_WIDTH = r"\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}"
_FORMULA = re.compile(rf"(^|;\s*)(?=[-=+@{_FULL_WIDTH}])")
"""What spreadsheets take for the beginning of a formula; in many languages a semicolon ends a cell."""
_WHOLE = Q(site=None, stream=None)


def check_text(text: str) -> str:
    """The text as it is stored. Raises ValueError, with a sentence."""
    kept = unicodedata.normalize("NFC", text).strip()
    if not any(character.isprintable() and not character.isspace() for character in kept):
        raise ValueError(_("A note needs a text, such as the name of a campaign."))
    if len(kept) > LONGEST_NOTE:
        raise ValueError(_("A note has at most {longest} characters.").format(longest=LONGEST_NOTE))
    if not is_plain_line(kept):
        raise ValueError(_("A note is one line without control characters."))
    return kept


def check_days(first: date, last: date) -> None:
    """Raises ValueError, with a sentence."""
    if last < first:
        raise ValueError(_("The last day of a note is not before its first."))
    if first < EARLIEST_DAY or last > LATEST_DAY:
        raise ValueError(
            _("The days of a note are between {earliest} and {latest}.").format(
                earliest=EARLIEST_DAY, latest=LATEST_DAY
            )
        )


@transaction.atomic
def create_note(
    organisation: Organisation,
    text: str,
    first_day: date,
    last_day: date | None = None,
    *,
    about: Site | Stream | None = None,
    by: "AbstractBaseUser | None" = None,
) -> Note:
    """About a site, a stream, or all of them. Raises ValueError; RefusedError where there are too many."""
    note = Note(organisation=organisation, created_by_id=by.pk if by else None)
    if isinstance(about, Stream):
        note.stream = about
    elif about:
        note.site = about
    if about and about.organisation_id != organisation.pk:
        raise RefusedError(_("A note is about a stream or a site of its own organisation."))
    Organisation.objects.select_for_update(no_key=True).get(pk=organisation.pk)  # two at once could both fit
    if organisation.notes.count() >= NOTES_PER_ORGANISATION:
        raise RefusedError(
            _("An organisation has at most {most} notes. Remove some that are no longer needed.").format(
                most=number_format(NOTES_PER_ORGANISATION, force_grouping=True)
            )
        )
    if note.stream and not Stream.objects.select_for_update(no_key=True).filter(pk=note.stream.pk, removed_at=None):
        raise RefusedError(_("This stream is being removed."))
    return _save(note, {"text": text, "first_day": first_day, "last_day": last_day or first_day})


@transaction.atomic
def change_note(note: Note, values: dict[str, Any]) -> Note:
    """`text`, `first_day` or `last_day`. Raises ValueError."""
    kept = Note.objects.select_for_update(no_key=True).get(pk=note.pk)  # two changes at once: days stay in order
    return _save(kept, values)


def _save(note: Note, values: dict[str, Any]) -> Note:
    for name, value in values.items():
        setattr(note, name, value)
    note.text = check_text(note.text)
    check_days(note.first_day, note.last_day)
    note.save()
    return note


def remove_note(note: Note) -> None:
    note.delete()


def notes_about(streams: QuerySet[Stream]) -> QuerySet[Note]:
    """Notes that concern any of these streams: their own, those of their sites and of their organisations."""
    at_sites = streams.exclude(site=None).values("site")
    whole = _WHOLE & Q(organisation__in=streams.values("organisation"))
    return Note.objects.filter(Q(stream__in=streams.values("pk")) | Q(site__in=at_sites) | whole)


def notes_of_stream(stream: Stream) -> QuerySet[Note]:
    """The same of one that is known."""
    concerned = Q(stream=stream) | Q(site=None, stream=None)
    if stream.site_id:
        concerned |= Q(site=stream.site_id)
    return Note.objects.filter(concerned, organisation=stream.organisation_id)


def within(notes: QuerySet[Note], first: date, last: date) -> QuerySet[Note]:
    """Those that touch one of these days, the earliest first."""
    return notes.filter(first_day__lte=last, last_day__gte=first).order_by("first_day", "last_day", "pk")


def local_days(from_at: datetime, to_at: datetime, zone: ZoneInfo) -> tuple[date, date]:
    """The first and the last local day of a stretch of time; its end does not belong to it."""
    last_at = max(from_at, to_at - timedelta(microseconds=1))
    return from_at.astimezone(zone).date(), last_at.astimezone(zone).date()


def texts_between(notes: Iterable[Note], from_at: datetime, to_at: datetime, zone: ZoneInfo) -> tuple[str, ...]:
    """What is noted of the local days of a stretch of time."""
    first, last = local_days(from_at, to_at, zone)
    return tuple(note.text for note in notes if note.first_day <= last and note.last_day >= first)


def as_cell(texts: Iterable[str]) -> str:
    """Of a table. A spreadsheet must not take what somebody wrote for a formula."""
    return _FORMULA.sub(r"\1'", BETWEEN.join(texts))
