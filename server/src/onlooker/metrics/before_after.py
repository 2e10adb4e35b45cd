"""Weeks before and after a day, of streams together: each slot with the one as many weeks earlier, watched in both."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from onlooker.database import Pool
from onlooker.metrics.changes import compare_metric
from onlooker.metrics.comparison import Comparison, LikeTime, NoComparison, find_cluster_length_s, read_watched_by_days
from onlooker.metrics.definitions import METRICS
from onlooker.metrics.like_time import LEAST_SHARE, WEEK, SlotPairs, SlotRun, TimeRange, pair_slots
from onlooker.metrics.pooled_figures import (
    POOLED,
    PartyRun,
    StreamPeriod,
    clusters_of,
    cut_to_past,
    read_clusters,
    read_open_times,
    sum_watched,
)

AFTER, BEFORE = 1, 0
LONGEST_WEEKS = 26


@dataclass(frozen=True)
class Watershed:
    """A day, and how many weeks before it are compared with as many from it on."""

    day: date
    weeks: int

    @property
    def length(self) -> timedelta:
        return self.weeks * WEEK

    def after(self, zone: ZoneInfo) -> TimeRange:
        """The day itself belongs to it."""
        return self._range(self.day, zone)

    def before(self, zone: ZoneInfo) -> TimeRange:
        return self._range(self.day - self.length, zone)

    def _range(self, first: date, zone: ZoneInfo) -> TimeRange:
        begins, ends = (datetime.combine(day, time(), zone).astimezone(UTC) for day in (first, first + self.length))
        return TimeRange(begins, ends)


async def read_before_after(
    pool: Pool, streams: Sequence[tuple[int, ZoneInfo]], watershed: Watershed, *, now: datetime
) -> Comparison:
    """All numbers of the comparison are of compared time alone. The day must not lie in the future."""
    found = await _read_pairs(pool, streams, watershed, now=now)
    open_s = sum(await read_open_times(pool, [one.after for one in found]))
    like = _describe_like_time(found, open_s, now)
    runs = [] if like.reason else [run for one in found for run in _make_runs(one)]
    clusters = await read_clusters(pool, runs, find_cluster_length_s(watershed.length.total_seconds()))
    ours, theirs = ({name: clusters_of(name, clusters.get(one, ())) for name in POOLED} for one in (AFTER, BEFORE))
    if like.reason:
        return Comparison(like, {}, ours, (), exact=True)
    watched_s = await sum_watched(pool, runs)
    exposure = watched_s[AFTER] / watched_s[BEFORE]
    changes = {name: compare_metric(METRICS[name], ours[name], theirs[name], exposure=exposure) for name in POOLED}
    return Comparison(like, changes, ours, (), exact=True)


@dataclass(frozen=True)
class _PairedStream:
    """A stream's slots after the day, each with that as many weeks before."""

    after: StreamPeriod
    before: TimeRange
    watched: Sequence[SlotRun]
    watched_before: Sequence[SlotRun]
    pairs: Sequence[SlotPairs]


async def _read_pairs(
    pool: Pool, streams: Sequence[tuple[int, ZoneInfo]], watershed: Watershed, *, now: datetime
) -> list[_PairedStream]:
    after = [StreamPeriod(stream_id, zone, cut_to_past(watershed.after(zone), now)) for stream_id, zone in streams]
    before = [watershed.before(zone) for _, zone in streams]
    asked = [*((one.stream_id, one.period) for one in after), *zip((one for one, _ in streams), before, strict=True)]
    watched = await read_watched_by_days(pool, asked)
    shift_s = round(watershed.length.total_seconds())
    return [
        _PairedStream(one, earlier, ours, theirs, pair_slots(ours, theirs, zone=one.zone, shift_s=shift_s))
        for one, earlier, ours, theirs in zip(after, before, watched[: len(after)], watched[len(after) :], strict=True)
    ]


def _make_runs(one: _PairedStream) -> Iterator[PartyRun]:
    """On each side by its own offset: what clusters are is told by the local clock."""
    for pair in one.pairs:
        for party, run, period in ((AFTER, pair.now, one.after.period), (BEFORE, pair.before, one.before)):
            offset = datetime.fromtimestamp(run.from_s, one.after.zone).utcoffset() or timedelta()
            offset_s = round(offset.total_seconds())
            yield PartyRun(party, one.after.stream_id, run, offset_s, period.to_at.timestamp())


def _describe_like_time(found: Sequence[_PairedStream], open_s: float, now: datetime) -> LikeTime:
    """Seconds of all streams together; their moments mean nothing."""
    watched_s, before_s = (
        sum(run.to_s - run.from_s for runs in each for run in runs)
        for each in ([one.watched for one in found], [one.watched_before for one in found])
    )
    compared_s = sum(pair.length_s for one in found for pair in one.pairs)
    runs = (SlotRun(0, watched_s),) if watched_s else ()
    pairs = (SlotPairs(0, 0, compared_s),) if compared_s else ()
    reason = _find_reason(watched_s, before_s, compared_s, open_s)
    return LikeTime(TimeRange(now, now), open_s, runs, pairs, reason, watched_closed_s=max(0.0, watched_s - open_s))


def _find_reason(watched_s: float, before_s: float, compared_s: float, open_s: float) -> NoComparison | None:
    if not watched_s:
        return NoComparison.NOT_WATCHED
    if not before_s:
        return NoComparison.NOT_WATCHED_BEFORE
    if not compared_s:
        return NoComparison.NO_COMMON_TIME
    return NoComparison.TOO_LITTLE if compared_s < LEAST_SHARE * open_s else None
