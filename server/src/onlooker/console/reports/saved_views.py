"""Saved views: which streams one shows, what it is called, by whose clock, and its periods."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from django.db.models import Count, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from onlooker.console.dashboard.period import ALL_NAMES, Period, parse_period
from onlooker.console.languages.locale_text import translate, write_short_date
from onlooker.console.reports.models import SavedView
from onlooker.metrics.fleet import FleetPeriod
from onlooker.streams.business_hours import zone_of
from onlooker.streams.models import MemberRole, Membership, Organisation, Site, Stream, Tag
from onlooker.streams.organisations import RefusedError

GROUP_DAYS = {"7d": 7, "30d": 30, "90d": 90, "365d": 365}
GROUP_PERIODS = {
    "7d": gettext_noop("7 days"),
    "30d": gettext_noop("30 days"),
    "90d": gettext_noop("90 days"),
    "365d": gettext_noop("365 days"),
    "last-week": gettext_noop("Last week"),
    "last-month": gettext_noop("Last month"),
}
"""Numbers of several streams are of whole days."""
STREAM_PERIODS = ALL_NAMES
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Subject:
    """What a view is of, before there is a view."""

    organisation: Organisation
    stream: Stream | None = None
    site: Site | None = None
    tag: Tag | None = None

    @property
    def periods(self) -> dict[str, str]:
        names = STREAM_PERIODS if self.stream else GROUP_PERIODS
        return {name: translate(str(words)) for name, words in names.items()}

    @property
    def title(self) -> str:
        """Such as `Front door`, or `North gate, window`. An organisation may have its owner's address as its name."""
        if self.stream:
            return self.stream.name
        names = [part.name for part in (self.site, self.tag) if part]
        return ", ".join(names) or _("All streams")

    @property
    def kind(self) -> str:
        """What the title is the name of."""
        if self.stream:
            return _("stream")
        if self.site and self.tag:
            return _("site and tag")
        return _("site") if self.site else _("tag") if self.tag else _("organisation")

    def streams(self) -> QuerySet[Stream]:
        """Those that are shown: of its organisation alone, wherever they have moved."""
        rows = Stream.objects.filter(organisation=self.organisation, removed_at=None)
        if self.stream:
            return rows.filter(pk=self.stream.pk)
        if self.site:
            rows = rows.filter(site=self.site)
        return rows.filter(tag_links__tag=self.tag) if self.tag else rows

    @property
    def zone(self) -> ZoneInfo:
        """By whose clock days begin; of several streams the clock that most of them have."""
        place = self.stream or self.site
        if place:
            return zone_of(place.time_zone)
        most = self.streams().values("time_zone").annotate(streams=Count("pk")).order_by("-streams", "time_zone")
        found = most.first()
        return zone_of(found["time_zone"] if found else "UTC")


def find_group(organisation: Organisation, named: Mapping[str, str]) -> Subject:
    """All streams, or those of the site and the tag that an address names; Http404 for those of others."""
    site, tag = _number(named.get("site", "")), _number(named.get("tag", ""))
    return Subject(
        organisation,
        site=get_object_or_404(Site, organisation=organisation, pk=site) if site else None,
        tag=get_object_or_404(Tag, organisation=organisation, pk=tag) if tag else None,
    )


def _number(text: str) -> int:
    """0: none is named."""
    if not text:
        return 0
    if not (text.isascii() and text.isdecimal() and len(text) < 19) or not int(text):
        raise Http404
    return int(text)


def subject_of(view: SavedView) -> Subject:
    return Subject(view.organisation, view.stream, view.site, view.tag)


def check_subject(subject: Subject) -> None:
    """Raises RefusedError."""
    parts = [part.organisation_id for part in (subject.stream, subject.site, subject.tag) if part]
    if any(owner != subject.organisation.pk for owner in parts):
        raise RefusedError(_("This is of another organisation."))


def is_open(subject: Subject) -> bool:
    """Whether there is still something to show, of an organisation that has an active owner."""
    owners = Membership.objects.filter(organisation=subject.organisation, role=MemberRole.OWNER)
    if not owners.filter(account__is_active=True).exists():
        return False
    return subject.stream is None or subject.streams().exists()


def describe_period(subject: Subject, name: str, days: tuple[date, date] | None = None) -> str:
    """As people choose it; fixed days as dates."""
    if days is None:
        return subject.periods[name]
    first, last = (write_short_date(day) for day in days)
    return first if first == last else _("{first} to {last}").format(first=first, last=last)


def stream_period(
    subject: Subject, name: str, *, days: tuple[date, date] | None = None, by: str = "", now: datetime
) -> Period:
    """Raises PeriodError."""
    asked = {"period": name} if days is None else {"from": days[0].isoformat(), "to": days[1].isoformat()}
    return parse_period(asked | ({"by": by} if by else {}), zone=subject.zone, now=now)


def group_period(subject: Subject, name: str, *, now: datetime) -> FleetPeriod:
    if name in GROUP_DAYS:
        return FleetPeriod(GROUP_DAYS[name], now)
    whole = parse_period({"period": name}, zone=subject.zone, now=now)
    return FleetPeriod(whole.days, now, (whole.ends - DAY).date())
