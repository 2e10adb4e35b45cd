"""The overview of all streams that an account may see: problems first, found by words, site, tag and state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models.functions import Lower
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.dashboard.fleet_list import (
    COLUMNS,
    PROBLEMS,
    STATES,
    FleetFilter,
    FleetList,
    FleetSummary,
    ListedStream,
    Order,
    parse_filter,
    read_fleet_list,
)
from onlooker.console.dashboard.recent_days import (
    METRICS,
    RecentDays,
    Sparkline,
    draw_sparkline,
    rank_streams,
    read_all_recent_days,
    read_days_of_many,
)
from onlooker.console.numbers import read_numbers
from onlooker.console.streams.access import may_change, visible_streams, with_own_roles
from onlooker.console.streams.condition import describe_reason
from onlooker.console.streams.status import StreamStatus, read_statuses
from onlooker.streams.models import Site, Stream, Tag

RANKED_AT_MOST = 50
"""Accounts with more streams get no ranks: these need the slots of all of them. Changes are compared by whole days."""
CHOICES_AT_MOST = 500
"""Sites and tags that are offered."""


@dataclass(frozen=True)
class ColumnHeading:
    """The heading of a column that streams can be sorted by."""

    name: str
    column: str
    address: str
    """What its link asks for."""
    aria_sort: str
    """Empty unless streams are sorted by this column."""


@dataclass(frozen=True)
class StateCount:
    """How many streams are in a state, and the address that lists them."""

    state: str
    streams: int
    address: str
    is_problem: bool
    is_chosen: bool


@dataclass(frozen=True)
class OverviewRow:
    """A stream as the overview shows it."""

    stream: Stream
    listed: ListedStream
    status: StreamStatus
    recent: RecentDays
    sparkline: Sparkline
    place: int | None
    is_managed: bool
    """Whether the account may change it."""
    is_shared: bool
    """Whether the page shows streams of several organisations, so that each row says which."""

    @property
    def problem(self) -> str:
        """What to do about it, where its badge does not say it."""
        if self.listed.problem == "blind":
            return describe_reason(self.listed.fault) or str(STATES["blind"])
        if not self.listed.agent_version:
            return ""
        return _("Agent {version} is older than the server").format(version=self.listed.agent_version)

    @property
    def tags(self) -> list[Tag]:
        return [link.tag for link in self.stream.tag_links.all()]


@signed_in("GET", "HEAD")
def show_streams(request: PersonRequest) -> HttpResponse:
    """The whole page, or only the list when the page refreshes itself or something is typed."""
    asked = parse_filter(request.GET.dict())
    visible = list(visible_streams(request.user).values_list("pk", flat=True))
    listing = read_listing(visible, asked)
    by_slots = len(visible) <= RANKED_AT_MOST
    is_ranked = by_slots and len(visible) > 1
    shown = [row.id for row in listing.rows]
    streams = find_streams(request, visible if is_ranked else shown)
    recent = _read_recent(request, list(streams.values()), by_slots=by_slots)
    metric = asked.order.column if asked.order.column in METRICS else METRICS[0]
    places = rank_streams(recent.items(), metric) if is_ranked else {}
    rows = _make_rows(listing, streams, recent, places)
    context: dict[str, Any] = {
        "asked": asked,
        "listing": listing,
        "address": asked.address(after=asked.after, before=asked.before),
        "rows": rows,
        "headings": make_headings(asked),
        "counts": count_states(listing.summary, asked),
        "by_slots": by_slots,
        "is_ranked": is_ranked,
        "may_change": any(row.is_managed for row in rows),
        "refresh_s": int(settings.ONLOOKER.console_refresh_s),
    }
    if request.htmx:
        return render(request, "streams/list_part.html", context)
    return render(request, "streams/list.html", context | offer_choices(request))


def read_listing(visible: Sequence[int], asked: FleetFilter, **options: int) -> FleetList:
    """As of now."""
    return read_fleet_list(visible, asked, quota_s=settings.ONLOOKER.developer_quota_s, now=timezone.now(), **options)


def find_streams(request: PersonRequest, ids: Sequence[int]) -> dict[int, Stream]:
    """With all that a row shows of them. They were seen to be visible."""
    found = with_own_roles(Stream.objects.filter(pk__in=ids), request.user)
    return {stream.id: stream for stream in found.select_related("site").prefetch_related("tag_links__tag")}


def offer_choices(request: PersonRequest) -> dict[str, Any]:
    """Sites and tags of visible streams, and states."""
    streams = visible_streams(request.user)
    return {
        "sites": Site.objects.filter(pk__in=streams.values("site")).order_by(Lower("name"), "id")[:CHOICES_AT_MOST],
        "tags": Tag.objects.filter(stream_links__stream__in=streams.values("pk"))
        .distinct()
        .order_by("name", "id")[:CHOICES_AT_MOST],
        "states": STATES,
    }


def _read_recent(request: PersonRequest, streams: Sequence[Stream], *, by_slots: bool) -> dict[int, RecentDays]:
    if not streams:
        return {}
    read = read_all_recent_days if by_slots else read_days_of_many
    return read_numbers(request, lambda pool: read(pool, streams, now=timezone.now()))


def _make_rows(
    listing: FleetList,
    streams: Mapping[int, Stream],
    recent: Mapping[int, RecentDays],
    places: Mapping[int, int],
) -> list[OverviewRow]:
    shown = [streams[row.id] for row in listing.rows if row.id in streams]
    statuses = read_statuses(shown)
    is_shared = len({stream.organisation_id for stream in shown}) > 1
    return [
        OverviewRow(
            stream=streams[row.id],
            listed=row,
            status=statuses[row.id],
            recent=recent[row.id],
            sparkline=draw_sparkline(recent[row.id].days),
            place=places.get(row.id),
            is_managed=may_change(streams[row.id]),
            is_shared=is_shared,
        )
        for row in listing.rows
        if row.id in statuses
    ]


def count_states(summary: FleetSummary, asked: FleetFilter) -> list[StateCount]:
    """Those that any stream is in; problems first. The link of the chosen one takes the choice back."""
    return [
        StateCount(
            state=state,
            streams=summary.states[state],
            address=asked.address(state="" if asked.state == state else state),
            is_problem=state in PROBLEMS,
            is_chosen=asked.state == state,
        )
        for state in STATES
        if summary.states[state] or asked.state == state
    ]


def make_headings(asked: FleetFilter) -> list[ColumnHeading]:
    """A heading's link sorts by its column; the link of the current column reverses the order."""
    return [_make_heading(str(name), column, asked) for column, name in COLUMNS.items()]


def _make_heading(name: str, column: str, asked: FleetFilter) -> ColumnHeading:
    order = asked.order
    if column != order.column:
        return ColumnHeading(name, column, asked.address(order=Order(column)), "")
    turned = Order(column, is_reversed=not order.is_reversed)
    direction = "ascending" if order.is_ascending else "descending"
    return ColumnHeading(name, column, asked.address(order=turned), direction)
