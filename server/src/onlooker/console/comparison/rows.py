"""The rows of a comparison, as an address has them: a stream, or those of a site or a tag that the account sees."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Lower
from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from onlooker.console.accounts.models import Account
from onlooker.console.languages.locale_text import write_count
from onlooker.console.streams.access import visible_streams
from onlooker.streams.models import Site, Stream, Tag

ROWS_AT_MOST = 10
STREAM_DAYS_AT_MOST = 4000
"""Ten streams over a year. More would take longer than a page may."""
FOUND_AT_MOST = 8
"""Of each kind."""
LONGEST_WORDS = 100
LARGEST_ID = 2**63 - 1


class RowKind(StrEnum):
    """What a row is."""

    STREAM = "stream"
    SITE = "site"
    TAG = "tag"


_KIND_NAMES = {
    RowKind.STREAM: gettext_noop("Stream"),
    RowKind.SITE: gettext_noop("Site"),
    # Translators: a word that somebody put on streams
    RowKind.TAG: gettext_noop("Tag"),
}


class RowError(ValueError):
    """Rows that can't be compared; the message says what to do instead."""


@dataclass(frozen=True)
class ChosenRow:
    """A stream, or all streams of a site or a tag that the account sees."""

    kind: RowKind
    key: str
    name: str
    streams: QuerySet[Stream]
    own: Stream | None = None
    """Of a stream's row."""

    @property
    def value(self) -> str:
        """As the address has it."""
        return f"{self.kind}:{self.key}"

    @property
    def kind_name(self) -> str:
        return _(_KIND_NAMES[self.kind])

    @property
    def site_id(self) -> int | None:
        return int(self.key) if self.kind is RowKind.SITE else None

    @property
    def page(self) -> str:
        """Where its own numbers are."""
        if self.kind is RowKind.STREAM:
            return reverse("dashboard", args=[self.key])
        return f"{reverse('fleet-numbers')}?{urlencode({self.kind.value: self.key})}"

    def count(self) -> int:
        return 1 if self.own else self.streams.count()

    def read(self) -> list[Stream]:
        return [self.own] if self.own else list(self.streams.order_by("pk"))


def find_rows(account: Account, values: Iterable[str]) -> list[ChosenRow]:
    """In the order of the address, each once. Http404 for what the account does not see. Raises RowError."""
    chosen = list(dict.fromkeys(values))
    if len(chosen) > ROWS_AT_MOST:
        said = _("At most {most} rows are compared at once; these are {count}. Choose fewer, or compare sites or tags.")
        raise RowError(said.format(most=ROWS_AT_MOST, count=write_count(len(chosen))))
    visible = visible_streams(account)
    asked = [(value, *_parse_row(value)) for value in chosen]
    streams = _find_streams(visible, [key for _, kind, key in asked if kind is RowKind.STREAM])
    finders = {RowKind.SITE: _find_site, RowKind.TAG: _find_tag}
    found = [
        streams.get(_as_uuid(key)) if kind is RowKind.STREAM else finders[kind](visible, _as_number(key))
        for _, kind, key in asked
    ]
    if None in found:
        raise Http404
    return [row for row in found if row]


def _parse_row(value: str) -> tuple[RowKind, str]:
    kind, _, key = value.partition(":")
    if kind not in _KIND_NAMES:
        raise Http404
    return RowKind(kind), key


def _find_streams(visible: QuerySet[Stream], keys: Sequence[str]) -> dict[UUID, ChosenRow]:
    if not keys:
        return {}
    return {
        stream.client_id: ChosenRow(RowKind.STREAM, str(stream.client_id), stream.name, visible, stream)
        for stream in visible.filter(client_id__in=map(_as_uuid, keys))
    }


def _find_site(visible: QuerySet[Stream], number: int) -> ChosenRow | None:
    streams = visible.filter(site=number)
    site = Site.objects.filter(pk__in=streams.values("site")).first()
    return ChosenRow(RowKind.SITE, str(number), site.name, streams) if site else None


def _find_tag(visible: QuerySet[Stream], number: int) -> ChosenRow | None:
    streams = visible.filter(tag_links__tag=number)
    tag = Tag.objects.filter(pk=number).first() if streams.exists() else None
    return ChosenRow(RowKind.TAG, str(number), tag.name, streams) if tag else None


def _as_uuid(key: str) -> UUID:
    try:
        return UUID(key)
    except ValueError:
        raise Http404 from None


def _as_number(key: str) -> int:
    if not (key.isascii() and key.isdecimal() and len(key) <= len(str(LARGEST_ID))):
        raise Http404
    return min(int(key), LARGEST_ID)


def read_streams_of(rows: Sequence[ChosenRow], days: int) -> list[list[Stream]]:
    """Of each row. Raises RowError where they are too many for so many days."""
    count = sum(row.count() for row in rows)
    if count * days > STREAM_DAYS_AT_MOST:
        said = _("{count} streams over {days} days are too many for one page.")
        raise RowError(f"{said.format(count=write_count(count), days=days)} {_find_remedy(count)}")
    return [row.read() for row in rows]


def _find_remedy(streams: int) -> str:
    days = STREAM_DAYS_AT_MOST // streams
    if not days:
        return _("Choose fewer streams.")
    return ngettext(
        "Choose at most {days} day, or fewer streams.", "Choose at most {days} days, or fewer streams.", days
    ).format(days=days)


def chosen_in_overview(account: Account, numbers: Iterable[str]) -> list[str]:
    """Rows of streams that were ticked in the overview, which names them by number."""
    wanted = [int(number) for number in numbers if number.isascii() and number.isdecimal() and len(number) < 19]
    streams = visible_streams(account).filter(pk__in=wanted[: 10 * ROWS_AT_MOST]).order_by(Lower("name"), "pk")
    return [f"{RowKind.STREAM}:{client_id}" for client_id in streams.values_list("client_id", flat=True)]


def search_rows(account: Account, words: str) -> list[ChosenRow]:
    """Sites, tags and streams whose names have these words, some of each; without words the first ones."""
    visible, words = visible_streams(account), words.strip()[:LONGEST_WORDS]
    sites = Site.objects.filter(pk__in=visible.values("site"), name__icontains=words).order_by(Lower("name"), "pk")
    tags = Tag.objects.filter(stream_links__stream__in=visible.values("pk"), name__icontains=words)
    streams = visible.filter(name__icontains=words).order_by(Lower("name"), "pk")
    return [
        *(ChosenRow(RowKind.SITE, str(site.pk), site.name, visible) for site in sites[:FOUND_AT_MOST]),
        *(
            ChosenRow(RowKind.TAG, str(tag.pk), tag.name, visible)
            for tag in tags.distinct().order_by("name", "pk")[:FOUND_AT_MOST]
        ),
        *(ChosenRow(RowKind.STREAM, str(one.client_id), one.name, visible) for one in streams[:FOUND_AT_MOST]),
    ]
