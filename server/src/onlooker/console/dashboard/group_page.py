"""Numbers of a site, a tag or all streams together: a page, and the same as JSON; group_table.py has the files."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import msgspec
from django.conf import settings
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import override

from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.dashboard.figures import (
    FIGURE_KINDS,
    HEADLINES,
    NO_VALUE,
    Figure,
    PeriodChange,
    compared_hours,
    explain_no_comparison,
    find_change,
    make_figure,
    number_of,
)
from onlooker.console.dashboard.fleet_list import FleetFilter, FleetList, Order, parse_filter
from onlooker.console.dashboard.overview import offer_choices, read_listing
from onlooker.console.dashboard.presentation import format_duration, format_share
from onlooker.console.dashboard.recent_days import METRICS, count_people, draw_sparkline, list_days
from onlooker.console.languages.locale_text import join_clauses, write_count
from onlooker.console.notes.marks import as_json_note, draw_strip, read_group_notes
from onlooker.console.notes.pages import group_notes_context
from onlooker.console.numbers import read_numbers
from onlooker.console.streams.access import roles_of, visible_streams
from onlooker.database import Pool
from onlooker.metrics.changes import Change
from onlooker.metrics.fleet import FleetDay, FleetNumbers, FleetPeriod, add_up, read_group, read_streams
from onlooker.streams.business_hours import zone_of
from onlooker.streams.models import Site, Stream, Tag
from onlooker.streams.organisations import MANAGERS

PERIODS = {7: _lazy("7 days"), 30: _lazy("30 days"), 90: _lazy("90 days"), 365: _lazy("365 days")}
USUAL_DAYS = 30
COLUMNS = ("name", "watched", *METRICS)
_NAMED = ("site", "tag", "days", "sort", "after", "before")


@dataclass(frozen=True)
class StreamGroup:
    """The streams whose numbers are added up."""

    title: str
    stream_ids: Sequence[int]
    asked: FleetFilter
    days: int
    streams: QuerySet[Stream]
    site: Site | None = None

    @property
    def row(self) -> str:
        """As an address of a comparison names it; empty where it is neither a site nor a tag alone."""
        if self.site:
            return f"site:{self.site.pk}" if self.asked.tag_id is None else ""
        return f"tag:{self.asked.tag_id}" if self.asked.tag_id and self.asked.site_id is None else ""

    def address(self, **changes: Any) -> str:
        """The query of the same page, changed."""
        said = {"site": self.asked.site_id, "tag": self.asked.tag_id, "days": self.days} | changes
        return urlencode({name: value for name, value in said.items() if value not in (None, "")})


@dataclass(frozen=True)
class GroupNumbers:
    """All that the page shows."""

    together: FleetNumbers
    listing: FleetList
    each: dict[int, FleetNumbers]
    """Of the streams on this page of the list."""


@dataclass(frozen=True)
class GroupRow:
    """A stream of the group."""

    stream: Stream
    figures: list[Figure]
    share: str
    watched_s: float
    is_watched: bool
    no_comparison: str
    """Why there is none; empty where there is one."""


@signed_in("GET", "HEAD")
def show_group(request: PersonRequest) -> HttpResponse:
    group, now = find_group(request), timezone.now()
    numbers = read_group_numbers(request, group, now=now)
    streams = _find_streams(numbers.listing)
    first, last = find_days(group, now)
    count = (last - first).days + 1
    notes = read_group_notes(group.streams, group.asked.site_id, first, last)
    context = {
        "group": group,
        "numbers": numbers.together,
        "figures": make_group_figures(numbers.together),
        "coverage": describe_coverage(numbers.together),
        "bars": draw_sparkline(list_days(numbers.together, first, count, ZoneInfo("UTC"))),
        "noted_days": draw_strip(notes, first, count),
        "rows": [_make_row(streams[row.id], numbers.each[row.id]) for row in numbers.listing.rows if row.id in streams],
        "listing": numbers.listing,
        "headings": _make_headings(group),
        "next_page": group.address(sort=group.asked.order.value, after=numbers.listing.rows[-1].id)
        if numbers.listing.next_page
        else "",
        "previous_page": group.address(sort=group.asked.order.value, before=numbers.listing.rows[0].id)
        if numbers.listing.previous_page
        else "",
        "periods": [(days, name, group.address(days=days)) for days, name in PERIODS.items()],
        "query": group.address(),
    }
    context |= group_notes_context(request, notes, group.site)
    context |= _find_sharing(request, group)
    return render(request, "streams/group.html", context | offer_choices(request))


def _find_sharing(request: PersonRequest, group: StreamGroup) -> dict[str, Any]:
    """How somebody shares or mails these numbers: of the streams of one organisation that they manage."""
    owners = set(group.streams.order_by().values_list("organisation", flat=True).distinct()[:2])
    managed = {number for number, role in roles_of(request.user).items() if role in MANAGERS}
    if len(owners) != 1 or not owners <= managed or group.asked.site_id == 0:
        return {}
    shown = {"site": group.asked.site_id, "tag": group.asked.tag_id, "period": f"{group.days}d"}
    query = urlencode({name: value for name, value in shown.items() if value is not None})
    return {"share_query": query, "group_owner": owners.pop()}


@signed_in("GET", "HEAD")
def send_group(request: PersonRequest) -> HttpResponse:
    """The same as JSON: all metrics of the group, its days, and its streams, some at a time."""
    with override(settings.LANGUAGE_CODE):  # programs read it
        group = find_group(request)
    now = timezone.now()
    numbers = read_group_numbers(request, group, now=now)
    notes = read_group_notes(group.streams, group.asked.site_id, *find_days(group, now))
    streams = _find_streams(numbers.listing)
    listed = [
        {"client_id": str(streams[row.id].client_id), "name": streams[row.id].name}
        | as_json_numbers(numbers.each[row.id])
        for row in numbers.listing.rows
        if row.id in streams
    ]
    body = {
        "title": group.title,
        "days": group.days,
        "stream_count": len(group.stream_ids),
        **as_json_numbers(numbers.together),
        "by_day": [as_json_day(day) for day in numbers.together.days],
        "notes": [as_json_note(note) for note in notes],
        "streams": listed,
        "next_after": numbers.listing.rows[-1].id if numbers.listing.next_page else None,
    }
    return HttpResponse(msgspec.json.encode(body), content_type="application/json")


def find_group(request: PersonRequest) -> StreamGroup:
    """Of what the account may see; Http404 where that is none of it."""
    given = request.GET.dict()
    asked = parse_filter({name: given[name] for name in _NAMED if name in given})
    if asked.order.column not in COLUMNS:
        asked = FleetFilter(
            site_id=asked.site_id,
            tag_id=asked.tag_id,
            order=Order("passing_by"),
            after=asked.after,
            before=asked.before,
        )
    days = int(given.get("days", "")) if given.get("days", "") in map(str, PERIODS) else USUAL_DAYS
    streams = visible_streams(request.user)
    title, site = _("All streams"), None
    if asked.site_id is not None:
        streams = streams.filter(site=asked.site_id or None)
        title = _("Streams without a site")
    if asked.tag_id is not None:
        streams = streams.filter(tag_links__tag=asked.tag_id)
    ids = list(streams.values_list("pk", flat=True))
    if not ids and (asked.site_id is not None or asked.tag_id is not None):
        raise Http404
    if asked.site_id:
        site = Site.objects.select_related("organisation").get(pk=asked.site_id)
        title = site.name
    if asked.tag_id is not None:
        tag = Tag.objects.get(pk=asked.tag_id).name
        title = tag if asked.site_id is None else f"{title}, {tag}"
    return StreamGroup(title, ids, asked, days, streams, site)


def read_group_numbers(request: PersonRequest, group: StreamGroup, *, now: datetime) -> GroupNumbers:
    period = FleetPeriod(group.days, now)
    listing = read_listing(group.stream_ids, group.asked, days=group.days)
    shown = [row.id for row in listing.rows]

    async def read(pool: Pool) -> tuple[FleetNumbers, dict[int, FleetNumbers]]:
        if len(shown) == len(group.stream_ids):
            each = await read_streams(pool, shown, period)
            return add_up(each.values(), period), each
        return await asyncio.gather(read_group(pool, group.stream_ids, period), read_streams(pool, shown, period))

    together, each = read_numbers(request, read)
    return GroupNumbers(together, listing, each)


def _find_streams(listing: FleetList) -> dict[int, Stream]:
    """Those of a page. They were seen to be visible."""
    return Stream.objects.select_related("site").in_bulk([row.id for row in listing.rows])


def make_group_figures(numbers: FleetNumbers) -> list[Figure]:
    like = numbers.comparison.like
    none = explain_no_comparison(like) if like.reason else None
    figures = [make_figure(name, number_of(name, numbers.values), numbers.comparison, none=none) for name in HEADLINES]
    if numbers.watched_s or number_of("passing_by", numbers.values):
        return figures
    unwatched = PeriodChange("none", _("not watched"))
    return [replace(figure, shown=NO_VALUE, unit="", interval="", change=unwatched, compared="") for figure in figures]


def describe_coverage(numbers: FleetNumbers) -> str:
    """Such as `93 % of 4,200 h watched; in 12 h cameras saw nothing; compared over 3,100 of 4,200 h`."""
    if numbers.share is None:
        return _("No time of these days was to be watched.")
    watched = _("{share} of {hours} h watched")
    said = [watched.format(share=format_share(numbers.share), hours=write_count(numbers.open_s / 3600))]
    if numbers.blind_s >= 60:
        said.append(_("in {duration} cameras saw nothing").format(duration=format_duration(numbers.blind_s)))
    like = numbers.comparison.like
    if not like.reason:
        compared = _("compared over {compared} of {length} h, by whole days")
        said.append(compared.format(**compared_hours(like.compared_s, like.comparable_s)))
    return f"{join_clauses(said)}."


def find_days(group: StreamGroup, now: datetime) -> tuple[date, date]:
    """The first and the last, each by the clock of a stream where it is still or already that day."""
    zones = set(group.streams.order_by().values_list("time_zone", flat=True)) or {"UTC"}
    todays = [now.astimezone(zone_of(name)).date() for name in zones]
    return min(todays) - timedelta(days=group.days - 1), max(todays)


def _make_row(stream: Stream, numbers: FleetNumbers) -> GroupRow:
    like = numbers.comparison.like
    none = explain_no_comparison(like) if like.reason else None
    counts = count_people(numbers, reads_faces=stream.reads_faces)
    figures = [make_figure(name, counts[name], numbers.comparison, none=none) for name in METRICS]
    share = "" if numbers.share is None else format_share(numbers.share)
    is_watched = bool(numbers.watched_s or counts["passing_by"])
    return GroupRow(stream, figures, share, numbers.watched_s, is_watched, none.words if none else "")


def _make_headings(group: StreamGroup) -> list[dict[str, str]]:
    """Each link sorts by its column; that of the current column reverses the order."""
    order = group.asked.order
    found = []
    names = {"name": _("Name"), "watched": _("Watched")}
    for column in COLUMNS:
        is_current = column == order.column
        turned = Order(column, is_reversed=is_current and not order.is_reversed)
        direction = "ascending" if order.is_ascending else "descending"
        address = group.address(sort=turned.value)
        name = names.get(column) or str(FIGURE_KINDS[column].name)
        found.append({"name": name, "column": column, "address": address, "aria_sort": direction if is_current else ""})
    return found


def as_json_numbers(numbers: FleetNumbers) -> dict[str, Any]:
    """As the data endpoint writes them; beside them what was watched, and how they differ from the days before."""
    like = numbers.comparison.like
    return {
        "metrics": numbers.values,
        "coverage": {
            "watched_s": round(numbers.watched_s, 3),
            "open_s": round(numbers.open_s, 3),
            "blind_s": round(numbers.blind_s, 3),
            "share": None if numbers.share is None else round(numbers.share, 6),
        },
        "comparison": {
            "reason": like.reason,
            "compared_s": like.compared_s,
            "changes": {}
            if like.reason
            else {name: _as_change(find_change(name, numbers.comparison)) for name in HEADLINES},
        },
    }


def _as_change(change: Change) -> dict[str, Any]:
    return {"now": change.now, "before": change.before, "size": change.size, "direction": change.direction}


def as_json_day(day: FleetDay) -> dict[str, Any]:
    return {
        "day": day.day.isoformat(),
        "passing_by": day.figures["passing_by"],
        "interested": day.figures["interested"],
        "streams": day.streams,
        "watched_s": round(day.watched_s, 3),
    }
