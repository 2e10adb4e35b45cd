"""A stream's last seven days, as the overview shows them: its numbers, its days as small bars, its rank."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

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
from onlooker.console.languages.locale_text import join_clauses, write_count, write_named, write_weekday
from onlooker.database import Pool
from onlooker.metrics.comparison import Comparison, read_comparison
from onlooker.metrics.coverage import Absence, BucketCoverage, read_coverage
from onlooker.metrics.definitions import Number, Value
from onlooker.metrics.device_share import DeviceShare, read_device_share
from onlooker.metrics.execution import run_query
from onlooker.metrics.fleet import FleetNumbers, FleetPeriod, read_streams
from onlooker.metrics.like_time import TimeRange
from onlooker.metrics.query import Query, Time
from onlooker.metrics.stream_ranks import WeekProfile, compute_standings, make_profile
from onlooker.streams.business_hours import zone_of
from onlooker.streams.models import Stream

AT_A_TIME = 6
"""Streams read at once: fewer than the pool has connections, so that other pages find one too."""
PERIOD, DAYS = "7d", 7
METRICS = ("passing_by", "interested", "conversion")
SPARKLINE_STEP, SPARKLINE_HEIGHT = 14, 32
"""In the drawing's own units."""
LEAST_HEIGHT = 1.5
"""A day without people still has a line, so that it does not look like one that was not watched."""
_BAR = '<rect class="{}" x="{}" y="{}" width="10" height="{}"><title>{}</title></rect>'
"""Made here, and only words are escaped: a page has hundreds of them, and a template takes longer."""


@dataclass(frozen=True)
class OverviewDay:
    """A local day, as far as it lies in the period."""

    begins_at: datetime
    passing_by: int
    gap: str
    """Why it is not a zero that nobody was seen; empty where it is, or where somebody was."""
    is_closed: bool = False
    """Whether that is because the stream was closed: no gap."""


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
        return format_share(min(1.0, like.watched_s / like.length_s)) if like.length_s else ""

    @property
    def computed(self) -> str:
        """Where, if not on the server."""
        return describe_device(self.device, self.comparison.like.watched_s)

    @property
    def compared(self) -> str:
        return format_compared(self.comparison.like)

    @property
    def no_comparison(self) -> str:
        """Why there is none; empty where there is one."""
        like = self.comparison.like
        return explain_no_comparison(like).words if like.reason else ""

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
    gaps = [("", False)] * len(passing_by)
    if not all(passing_by):
        covered = await read_coverage(pool, query, all_buckets(query), now=now)
        gaps = [
            ("", False) if people else _describe_day_gap(watched)
            for people, watched in zip(passing_by, covered, strict=True)
        ]
    days = zip(map(datetime.fromisoformat, found), passing_by, gaps, strict=True)
    return tuple(OverviewDay(begins_at, people, *gap) for begins_at, people, gap in days)


def _describe_day_gap(watched: BucketCoverage) -> tuple[str, bool]:
    """And whether the stream was closed."""
    gap = find_gap(watched)
    if gap is Absence.CLOSED:
        return _("closed"), True
    return describe_gap(watched) if gap else "", False


def draw_sparkline(drawn: Sequence[OverviewDay]) -> Sparkline:
    most = max((day.passing_by for day in drawn), default=0) or 1
    bars = [_draw_day(day, SPARKLINE_STEP * number, most) for number, day in enumerate(drawn)]
    words = _("Passing by. {days}.").format(days=join_clauses([_describe_day(day) for day in drawn]))
    drawing = SafeString("".join(_BAR.format(*bar[:-1], escape(bar[-1])) for bar in bars))
    return Sparkline(drawing, words, SPARKLINE_STEP * len(bars))


def _draw_day(day: OverviewDay, x: int, most: int) -> tuple[str, int, float, float, str]:
    """A day that was not watched is as high as the drawing; a day on which the stream was closed is no gap."""
    scaled = round(SPARKLINE_HEIGHT * day.passing_by / most, 1)
    is_gap = bool(day.gap) and not day.is_closed
    height = SPARKLINE_HEIGHT if is_gap else max(LEAST_HEIGHT, scaled)
    return "gap" if is_gap else "day", x, round(SPARKLINE_HEIGHT - height, 1), height, _describe_day(day)


def _describe_day(day: OverviewDay) -> str:
    return write_named(write_weekday(day.begins_at), day.gap or write_count(day.passing_by))


def rank_streams(recent: Iterable[tuple[int, RecentDays]], metric: str) -> dict[int, int]:
    """Ranks by stream id, the largest first, over time that was watched; equals share a rank.

    Streams of which less than a third was watched have none.
    """
    standings = compute_standings({stream_id: days.profile for stream_id, days in recent}, metric)
    known = sorted(standings.values(), reverse=True)
    places = {standing: place for place, standing in reversed(list(enumerate(known, start=1)))}
    return {stream_id: places[standing] for stream_id, standing in standings.items()}


async def read_days_of_many(pool: Pool, streams: Iterable[Stream], *, now: datetime) -> dict[int, RecentDays]:
    """The same from the daily roll-up, in a few statements for all: compared by whole days, without ranks."""
    by_id = {stream.id: stream for stream in streams}
    found = await read_streams(pool, list(by_id), FleetPeriod(DAYS, now))
    return {stream_id: summarise_days(by_id[stream_id], numbers, now=now) for stream_id, numbers in found.items()}


def summarise_days(stream: Stream, numbers: FleetNumbers, *, now: datetime) -> RecentDays:
    period = parse_period({"period": PERIOD}, zone=zone_of(stream.time_zone), now=now)
    return RecentDays(
        period=period,
        days=list_days(numbers, period.begins.date(), DAYS, period.zone),
        numbers=count_people(numbers, reads_faces=stream.reads_faces),
        comparison=numbers.comparison,
        profile=WeekProfile({}, is_enough=False),
    )


def list_days(numbers: FleetNumbers, first: date, count: int, zone: ZoneInfo) -> tuple[OverviewDay, ...]:
    """A day on which nothing was watched and nobody seen is a gap, also where the stream was closed."""
    known = {day.day: day for day in numbers.days}
    found, not_watched = [], _("not watched")
    for day in (first + timedelta(days=number) for number in range(count)):
        passing_by = known[day].figures["passing_by"] if day in known else 0
        is_seen = passing_by or (day in known and known[day].watched_s)
        found.append(OverviewDay(datetime.combine(day, time(), zone), passing_by, "" if is_seen else not_watched))
    return tuple(found)


def count_people(numbers: FleetNumbers, *, reads_faces: bool) -> dict[str, Number]:
    return _compute_numbers({name: numbers.values[name] for name in COUNTS}, reads_faces=reads_faces)
