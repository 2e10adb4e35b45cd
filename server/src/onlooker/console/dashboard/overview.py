"""The overview of all streams that an account may see: status, last seven days, and rank of each."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.db.models.functions import Lower
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.dashboard.figures import (
    OF_FACES,
    Figure,
    explain_no_comparison,
    format_compared,
    hide_faces,
    make_figure,
    number_of,
)
from onlooker.console.dashboard.period import Period, parse_period
from onlooker.console.dashboard.presentation import describe_gap, format_share
from onlooker.console.dashboard.report import COUNTS, all_buckets, describe_device, find_gap, make_query
from onlooker.console.numbers import read_numbers
from onlooker.console.streams.access import may_change, visible_streams, with_own_roles
from onlooker.console.streams.status import StreamStatus, read_statuses
from onlooker.database import Pool
from onlooker.metrics.comparison import Comparison, read_comparison
from onlooker.metrics.coverage import Absence, BucketCoverage, read_coverage
from onlooker.metrics.definitions import Number, Value
from onlooker.metrics.device_share import DeviceShare, read_device_share
from onlooker.metrics.execution import run_query
from onlooker.metrics.like_time import TimeRange
from onlooker.metrics.query import Query, Time
from onlooker.metrics.stream_ranks import WeekProfile, compute_standings, make_profile
from onlooker.streams.models import Stream

PAGE_SIZE = 50
RANKED_AT_MOST = 200
"""Accounts with more streams get them by name only: a rank needs the numbers of all of them."""
AT_A_TIME = 6
"""Streams read at once: fewer than the pool has connections, so that other pages find one too."""
PERIOD = "7d"
METRICS = ("passing_by", "interested", "conversion")
NAME = "name"
COLUMNS = {NAME: "Name", "passing_by": "Passing by", "interested": "Interested", "conversion": "Conversion"}

CLOSED = "closed"
"""In place of a reason: no gap."""
SPARKLINE_STEP, SPARKLINE_HEIGHT = 14, 32
"""In the drawing's own units."""
LEAST_HEIGHT = 1.5
"""A day without people still has a line, so that it does not look like one that was not watched."""
_BAR = '<rect class="{}" x="{}" y="{}" width="10" height="{}"><title>{}</title></rect>'
"""Made here because a page has hundreds of them, and a template takes longer."""


@dataclass(frozen=True)
class OverviewDay:
    """A local day, as far as it lies in the period."""

    begins_at: datetime
    passing_by: int
    gap: str
    """Why it is not a zero that nobody was seen; empty where it is, or where somebody was."""


@dataclass(frozen=True)
class RecentDays:
    """A stream's last seven days."""

    period: Period
    days: tuple[OverviewDay, ...]
    numbers: dict[str, Number]
    """By metric; None where nobody passed by, or no face is looked for."""
    comparison: Comparison
    profile: WeekProfile
    """What ranks are computed from."""
    device: DeviceShare = field(default_factory=DeviceShare)

    @property
    def is_watched(self) -> bool:
        """Whether its numbers mean anything."""
        return any(not day.gap for day in self.days)

    @property
    def coverage(self) -> str:
        """How much of the time was watched, by slots that were."""
        like = self.comparison.like
        return format_share(like.watched_s / like.length_s) if like.length_s else ""

    @property
    def computed(self) -> str:
        """Where, if not on the server."""
        return describe_device(self.device, self.comparison.like.watched_s)

    @property
    def compared(self) -> str:
        return format_compared(self.comparison.like)

    @property
    def figures(self) -> list[Figure]:
        none = explain_no_comparison(self.comparison.like) if self.comparison.like.reason else None
        figures = [make_figure(name, self.numbers[name], self.comparison, none=none) for name in METRICS]
        return hide_faces(figures) if self.numbers["interested"] is None else figures


@dataclass(frozen=True)
class Sparkline:
    """A small bar chart, and the same in words for people who can't see it."""

    bars: SafeString
    words: str
    width: int
    height: int = SPARKLINE_HEIGHT


@dataclass(frozen=True)
class Order:
    """The column that streams are sorted by: names from A, numbers from the largest, or reversed."""

    column: str = NAME
    is_reversed: bool = False

    @property
    def value(self) -> str:
        """As the address has it."""
        return f"{'-' if self.is_reversed else ''}{self.column}"

    @property
    def metric(self) -> str:
        """What streams are ranked by."""
        return "passing_by" if self.column == NAME else self.column


@dataclass(frozen=True)
class ColumnHeading:
    """The heading of a column that streams can be sorted by."""

    name: str
    column: str
    sort: str
    """What its link sorts by."""
    aria_sort: str
    """Empty unless streams are sorted by this column."""


@dataclass(frozen=True)
class OverviewRow:
    """A stream as the overview shows it."""

    stream: Stream
    status: StreamStatus
    recent: RecentDays
    sparkline: Sparkline
    place: int | None
    is_own: bool
    """Whether the person may change it."""
    is_shared: bool
    """Whether the page shows streams of several organisations, so that each row says which."""


@signed_in("GET", "HEAD")
def show_streams(request: PersonRequest) -> HttpResponse:
    """The whole page, or only the list when the page refreshes itself."""
    order = parse_order(request.GET.get("sort", ""))
    streams = with_own_roles(visible_streams(request.user), request.user).order_by(Lower("name"), "id")
    all_streams = list(streams[: RANKED_AT_MOST + 1])
    is_ranked = len(all_streams) <= RANKED_AT_MOST
    if is_ranked:
        recent = _read_recent(request, all_streams)
        page = _find_page(request, sort_streams(all_streams, recent, order))
    else:
        order, page = Order(), _find_page(request, streams)
        recent = _read_recent(request, list(page.object_list))
    places = rank_streams(recent.items(), order.metric) if is_ranked and len(all_streams) > 1 else {}
    values = {
        "page": page,
        "rows": _make_rows(request, list(page.object_list), recent, places),
        "order": order,
        "headings": make_headings(order),
        "is_sortable": is_ranked,
        "is_ranked": bool(places),
        "ranked_by": COLUMNS[order.metric],
        "refresh_s": int(settings.ONLOOKER.console_refresh_s),
    }
    return render(request, "streams/list_part.html" if request.htmx else "streams/list.html", values)


def _find_page(request: PersonRequest, streams: Sequence[Stream] | QuerySet[Stream]) -> Page[Stream]:
    return Paginator(streams, PAGE_SIZE).get_page(request.GET.get("page"))


def _read_recent(request: PersonRequest, streams: Sequence[Stream]) -> dict[int, RecentDays]:
    return (
        read_numbers(request, lambda pool: read_all_recent_days(pool, streams, now=timezone.now())) if streams else {}
    )


def _make_rows(
    request: PersonRequest, streams: Sequence[Stream], recent: dict[int, RecentDays], places: dict[int, int]
) -> list[OverviewRow]:
    statuses = read_statuses(streams)
    is_shared = len({stream.organisation_id for stream in streams}) > 1
    return [
        OverviewRow(
            stream=stream,
            status=statuses[stream.id],
            recent=recent[stream.id],
            sparkline=draw_sparkline(recent[stream.id]),
            place=places.get(stream.id),
            is_own=may_change(stream),
            is_shared=is_shared,
        )
        for stream in streams
    ]


async def read_all_recent_days(pool: Pool, streams: Iterable[Stream], *, now: datetime) -> dict[int, RecentDays]:
    """By the streams' ids, each read by itself: no query covers several streams."""
    places = asyncio.Semaphore(AT_A_TIME)

    async def read(stream: Stream) -> tuple[int, RecentDays]:
        async with places:
            return stream.id, await read_recent_days(pool, stream, now=now)

    return dict(await asyncio.gather(*map(read, streams)))


async def read_recent_days(pool: Pool, stream: Stream, *, now: datetime) -> RecentDays:
    period = parse_period({"period": PERIOD}, zone=ZoneInfo(stream.time_zone), now=now)
    by_day = make_query(stream.id, period, Time.BY_DAY, metrics=COUNTS, grid=stream.grid)
    before = TimeRange(period.before_from_at, period.before_to_at)
    comparison = await read_comparison(pool, replace(by_day, time=Time.GLOBAL), before, now=now)
    found = (await run_query(pool, by_day)).entities
    counts: dict[str, Value] = {
        name: {"value": sum(day[name]["value"] or 0 for day in found.values())} for name in COUNTS
    }
    return RecentDays(
        period=period,
        days=await _read_days(pool, by_day, found, now=now),
        numbers=_compute_numbers(counts, reads_faces=stream.reads_faces),
        comparison=comparison,
        profile=make_profile(comparison, period.zone),
        device=await read_device_share(pool, by_day),
    )


def _compute_numbers(counts: dict[str, Value], *, reads_faces: bool) -> dict[str, Number]:
    is_counted = not reads_faces and not counts["interested"]["value"]
    return {name: None if is_counted and name in OF_FACES else number_of(name, counts) for name in METRICS}


async def _read_days(
    pool: Pool, query: Query, found: dict[str, dict[str, Value]], *, now: datetime
) -> tuple[OverviewDay, ...]:
    """A day with people is no gap, so coverage is only read if some day has none."""
    passing_by = [int(day["passing_by"]["value"] or 0) for day in found.values()]
    gaps = [""] * len(passing_by)
    if not all(passing_by):
        covered = await read_coverage(pool, query, all_buckets(query), now=now)
        gaps = [
            "" if people else _describe_day_gap(watched) for people, watched in zip(passing_by, covered, strict=True)
        ]
    begins = map(datetime.fromisoformat, found)
    return tuple(OverviewDay(*values) for values in zip(begins, passing_by, gaps, strict=True))


def _describe_day_gap(watched: BucketCoverage) -> str:
    gap = find_gap(watched)
    return CLOSED if gap is Absence.CLOSED else describe_gap(watched) if gap else ""


def draw_sparkline(recent: RecentDays) -> Sparkline:
    most = max((day.passing_by for day in recent.days), default=0) or 1
    bars = [_draw_day(day, SPARKLINE_STEP * number, most) for number, day in enumerate(recent.days)]
    words = "; ".join(map(_describe_day, recent.days))
    return Sparkline(format_html_join("", _BAR, bars), f"Passing by. {words}.", SPARKLINE_STEP * len(bars))


def _draw_day(day: OverviewDay, x: int, most: int) -> tuple[str, int, float, float, str]:
    """A day that was not watched is as high as the drawing; a day on which the stream was closed is no gap."""
    scaled = round(SPARKLINE_HEIGHT * day.passing_by / most, 1)
    is_gap = bool(day.gap) and day.gap != CLOSED
    height = SPARKLINE_HEIGHT if is_gap else max(LEAST_HEIGHT, scaled)
    return "gap" if is_gap else "day", x, round(SPARKLINE_HEIGHT - height, 1), height, _describe_day(day)


def _describe_day(day: OverviewDay) -> str:
    return f"{day.begins_at:%a} {day.begins_at.day} {day.begins_at:%b}: {day.gap or f'{day.passing_by:,}'}"


def parse_order(text: str) -> Order:
    """By name where there is no such column."""
    column = text.removeprefix("-")
    return Order(column, is_reversed=text.startswith("-")) if column in COLUMNS else Order()


def make_headings(order: Order) -> list[ColumnHeading]:
    """A heading's link sorts by its column; the link of the current column reverses the order."""
    return [_make_heading(name, column, order) for column, name in COLUMNS.items()]


def _make_heading(name: str, column: str, order: Order) -> ColumnHeading:
    if column != order.column:
        return ColumnHeading(name, column, column, "")
    is_ascending = order.is_reversed != (column == NAME)
    turned = Order(column, is_reversed=not order.is_reversed)
    return ColumnHeading(name, column, turned.value, "ascending" if is_ascending else "descending")


def rank_streams(recent: Iterable[tuple[int, RecentDays]], metric: str) -> dict[int, int]:
    """Ranks by stream id, the largest first, over time that was watched; equals share a rank.

    Streams of which less than a third was watched have none.
    """
    standings = compute_standings({stream_id: days.profile for stream_id, days in recent}, metric)
    known = sorted(standings.values(), reverse=True)
    places = {standing: place for place, standing in reversed(list(enumerate(known, start=1)))}
    return {stream_id: places[standing] for stream_id, standing in standings.items()}


def sort_streams(streams: Sequence[Stream], recent: dict[int, RecentDays], order: Order) -> list[Stream]:
    """`streams` are sorted by name already; streams without a number come last."""
    if order.column not in METRICS:
        return list(reversed(streams) if order.is_reversed else streams)
    sign = 1 if order.is_reversed else -1
    numbers = {stream.id: _number_of(recent[stream.id], order.column) for stream in streams}
    return sorted(streams, key=lambda stream: (numbers[stream.id] is None, sign * (numbers[stream.id] or 0)))


def _number_of(days: RecentDays, metric: str) -> float | None:
    return days.numbers[metric] if days.is_watched else None
