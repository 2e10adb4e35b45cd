"""Numbers of many streams together, or of each of many: from the daily roll-up, compared by whole days."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property
from operator import itemgetter
from typing import Any

from psycopg.rows import DictRow

from onlooker.database import Pool, load_sql_parts
from onlooker.metrics.changes import compare_metric
from onlooker.metrics.comparison import Comparison, LikeTime, NoComparison
from onlooker.metrics.definitions import ALL_FIGURES, METRICS, Figures, Unit, Value, figures_of
from onlooker.metrics.like_time import LEAST_SHARE, SlotPairs, SlotRun, TimeRange
from onlooker.streams.business_hours import closed_spans, parse_hours, zone_of

ALIKE_FROM = 0.9
"""Two days are compared if the one was watched for at least this share of the time of the other."""
WEEK_DAYS = 7
LONGEST_DAYS = 366
COMPARED = tuple(name for name, metric in METRICS.items() if metric.unit is not Unit.PARTS)
_COMPARED_FIGURES = tuple(figures_of(COMPARED))

_parts = load_sql_parts("onlooker.metrics", "sql/fleet.sql")


@dataclass(frozen=True)
class FleetPeriod:
    """The last local days of each stream, its today included, against the same weekdays before."""

    days: int
    now: datetime
    last_day: date | None = None
    """In the place of today."""

    @property
    def shift_days(self) -> int:
        """As few whole weeks as do not overlap."""
        return -(-self.days // WEEK_DAYS) * WEEK_DAYS

    @property
    def values(self) -> dict[str, Any]:
        return {
            "days": self.days,
            "shift": self.shift_days,
            "now": self.now,
            "last_day": self.last_day,
            "alike": ALIKE_FROM,
        }


_NOTHING = dict.fromkeys(_COMPARED_FIGURES, 0)


@dataclass(frozen=True)
class FleetDay:
    """A local day, of one stream or of several together."""

    day: date
    streams: int = 0
    """How many watched."""
    watched_s: float = 0.0
    blind_s: float = 0.0
    figures: Mapping[str, int] = field(default_factory=lambda: _NOTHING)
    """Of metrics that are compared."""
    alike_s: float = 0.0
    alike_before_s: float = 0.0
    """How long was watched where it is compared: on this day, and on the same weekday of the earlier period."""
    alike: Mapping[str, int] = field(default_factory=lambda: _NOTHING)
    alike_before: Mapping[str, int] = field(default_factory=lambda: _NOTHING)


@dataclass(frozen=True)
class FleetNumbers:
    """The days of a period, and how long the streams were expected to watch in it."""

    period: FleetPeriod
    days: tuple[FleetDay, ...]
    """Those on which anything was watched or counted, in order."""
    figures: Mapping[str, int]
    """Of all metrics, over all days."""
    before_s: float
    """How long was watched in the earlier period."""
    open_s: float

    @cached_property
    def watched_s(self) -> float:
        return sum(day.watched_s for day in self.days)

    @cached_property
    def blind_s(self) -> float:
        """No longer than what was not watched."""
        return min(sum(day.blind_s for day in self.days), max(0.0, self.open_s - self.watched_s))

    @property
    def share(self) -> float | None:
        """Of the time that the streams were open; None where they never were."""
        return min(1.0, self.watched_s / self.open_s) if self.open_s > 0 else None

    @cached_property
    def values(self) -> dict[str, Value]:
        """Of all metrics."""
        return {
            name: metric.shape([self.figures[column] for column in metric.figures]) for name, metric in METRICS.items()
        }

    @cached_property
    def comparison(self) -> Comparison:
        """With the earlier period, over days that were watched alike."""
        like = self._find_like_time()
        clusters = {name: _clusters(name, (day.figures for day in self.days)) for name in COMPARED}
        changes = {}
        if not like.reason:
            exposure = sum(day.alike_s for day in self.days) / sum(day.alike_before_s for day in self.days)
            compared = [day for day in self.days if day.alike_s]
            changes = {
                name: compare_metric(
                    METRICS[name],
                    _clusters(name, (day.alike for day in compared)),
                    _clusters(name, (day.alike_before for day in compared)),
                    exposure=exposure,
                )
                for name in COMPARED
            }
        return Comparison(like, changes, clusters, (), exact=True)

    def _find_like_time(self) -> LikeTime:
        """Seconds of all streams together; their moments mean nothing."""
        watched_s, compared_s = round(self.watched_s), round(sum(day.alike_s for day in self.days))
        nowhen = TimeRange(self.period.now, self.period.now)
        runs = (SlotRun(0, watched_s),) if watched_s else ()
        pairs = (SlotPairs(0, 0, compared_s),) if compared_s else ()
        closed_s = max(0.0, watched_s - self.open_s)  # at least so much: which hours those were is not known here
        return LikeTime(nowhen, self.open_s, runs, pairs, self._find_reason(compared_s), watched_closed_s=closed_s)

    def _find_reason(self, compared_s: float) -> NoComparison | None:
        if not self.watched_s:
            return NoComparison.NOT_WATCHED
        if not self.before_s:
            return NoComparison.NOT_WATCHED_BEFORE
        return NoComparison.TOO_LITTLE if not compared_s or compared_s < LEAST_SHARE * self.open_s else None


def _clusters(metric: str, days: Iterable[Mapping[str, int]]) -> list[Figures]:
    """A day is a cluster. One without anybody, so that there is always one."""
    first, *others = METRICS[metric].figures
    if not others:
        return [(day[first],) for day in days] or [(0,)]
    return list(map(itemgetter(first, *others), days)) or [(0,) * (1 + len(others))]


def _sum_each(columns: Iterable[str], *, table: str, prefix: str = "") -> str:
    return ", ".join(f"coalesce(sum({table}.{one}), 0)::bigint AS {prefix}{one}" for one in columns)


def _compile(name: str, key: str) -> str:
    return _parts[name].safe_substitute(
        given_streams=_parts["given_streams"].substitute(),
        key=key,
        totals=_sum_each(ALL_FIGURES, table="counted"),
        sums=_sum_each(_COMPARED_FIGURES, table="counted"),
        alike=_sum_each(_COMPARED_FIGURES, table="ours", prefix="alike_"),
        alike_before=_sum_each(_COMPARED_FIGURES, table="theirs", prefix="alike_before_"),
    )


TOGETHER, EACH = "together", "each"
_KEYS = {TOGETHER: "0::bigint", EACH: "stream.id"}
_READ = ("read_totals", "read_days", "read_watched_days", "read_alike_days")
FLEET_STATEMENTS = {f"{name}_{how}": _compile(name, key) for how, key in _KEYS.items() for name in _READ} | {
    "read_opened": _compile("read_opened", "")
}


async def read_group(pool: Pool, stream_ids: Sequence[int], period: FleetPeriod) -> FleetNumbers:
    """All of the streams together."""
    found, opened = await asyncio.gather(
        _read_all(pool, stream_ids, period, TOGETHER), read_open_seconds(pool, stream_ids, period)
    )
    return found[0].numbers(period, sum(opened.values()))


async def read_streams(pool: Pool, stream_ids: Sequence[int], period: FleetPeriod) -> dict[int, FleetNumbers]:
    """Each by itself."""
    found, opened = await asyncio.gather(
        _read_all(pool, stream_ids, period, EACH), read_open_seconds(pool, stream_ids, period)
    )
    return {one: found[one].numbers(period, opened.get(one, 0.0)) for one in stream_ids}


def add_up(parts: Collection[FleetNumbers], period: FleetPeriod) -> FleetNumbers:
    """Streams together, of which each was read by itself: what `read_group` would find."""
    days: dict[date, list[FleetDay]] = defaultdict(list)
    for one in parts:
        for day in one.days:
            days[day.day].append(day)
    return FleetNumbers(
        period,
        tuple(_add_days(day, found) for day, found in sorted(days.items())),
        _add_figures(ALL_FIGURES, [one.figures for one in parts]),
        sum(one.before_s for one in parts),
        sum(one.open_s for one in parts),
    )


def _add_days(day: date, found: Collection[FleetDay]) -> FleetDay:
    return FleetDay(
        day,
        sum(one.streams for one in found),
        sum(one.watched_s for one in found),
        sum(one.blind_s for one in found),
        _add_figures(_COMPARED_FIGURES, [one.figures for one in found]),
        sum(one.alike_s for one in found),
        sum(one.alike_before_s for one in found),
        _add_figures(_COMPARED_FIGURES, [one.alike for one in found]),
        _add_figures(_COMPARED_FIGURES, [one.alike_before for one in found]),
    )


def _add_figures(columns: Iterable[str], found: Collection[Mapping[str, int]]) -> dict[str, int]:
    return {column: sum(one[column] for one in found) for column in columns}


@dataclass
class _Gathered:
    """What the statements say of one stream, or of all together."""

    figures: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(ALL_FIGURES, 0))
    before_s: float = 0.0
    days: dict[date, dict[str, Any]] = field(default_factory=lambda: defaultdict(dict))

    def numbers(self, period: FleetPeriod, open_s: float) -> FleetNumbers:
        days = tuple(FleetDay(day, **said) for day, said in sorted(self.days.items()))
        return FleetNumbers(period, days, self.figures, self.before_s, open_s)


async def _read_all(pool: Pool, stream_ids: Sequence[int], period: FleetPeriod, how: str) -> dict[int, _Gathered]:
    """By stream; all together are stream 0."""
    values = {"stream_ids": list(stream_ids)} | period.values
    found: dict[int, _Gathered] = defaultdict(_Gathered)
    # One after another: other pages need connections, too.
    totals, days, watched, alike = [await _read(pool, f"{name}_{how}", values) for name in _READ]
    for row in totals:
        found[row["stream_id"]].figures = {column: row[column] for column in ALL_FIGURES}
    for row in days:
        found[row["stream_id"]].days[row["day"]]["figures"] = {column: row[column] for column in _COMPARED_FIGURES}
    for row in watched:
        one = found[row["stream_id"]]
        if row["is_now"]:
            one.days[row["day"]] |= {"streams": row["streams"], **_seconds_of(row, "watched", "blind")}
        else:
            one.before_s += row["watched_ms"] / 1000
    for row in alike:
        found[row["stream_id"]].days[row["day"]] |= {
            **_seconds_of(row, "alike", "alike_before"),
            "alike": {column: row[f"alike_{column}"] for column in _COMPARED_FIGURES},
            "alike_before": {column: row[f"alike_before_{column}"] for column in _COMPARED_FIGURES},
        }
    return found


def _seconds_of(row: Mapping[str, Any], *names: str) -> dict[str, float]:
    return {f"{name}_s": row[f"{name}_ms"] / 1000 for name in names}


async def _read(pool: Pool, name: str, values: dict[str, Any]) -> list[DictRow]:
    async with pool.connection() as connection:
        return await (await connection.execute(FLEET_STATEMENTS[name], values)).fetchall()


async def read_open_seconds(pool: Pool, stream_ids: Sequence[int], period: FleetPeriod) -> dict[int, float]:
    """How long each stream was expected to watch, from the first day or its creation until now."""
    rows = await _read(pool, "read_opened", {"stream_ids": list(stream_ids)} | period.values)
    times = ClosedTimes(min((row["begins_at"] for row in rows), default=period.now), period.now)
    found = {}
    for row in rows:
        lasted_s = max(0.0, (row["ends_at"] - row["begins_at"]).total_seconds())
        closed_s = times.between(row["begins_at"], row["ends_at"], row["versions"]) if lasted_s else 0.0
        found.update(dict.fromkeys(row["stream_ids"], lasted_s - closed_s))
    return found


class ClosedTimes:
    """Closed seconds by opening hours, of which a fleet has few different ones."""

    def __init__(self, from_at: datetime, to_at: datetime) -> None:
        self._from_at, self._to_at = from_at.astimezone(UTC), to_at.astimezone(UTC)
        self._spans: dict[tuple[str, str], list[tuple[float, float]]] = {}

    def between(self, begins_at: datetime, ends_at: datetime, versions: Sequence[tuple[float, str, str]]) -> float:
        """By the opening hours that held from when on."""
        last_s = ends_at.timestamp()
        ends = [*(since_s for since_s, _, _ in versions[1:]), last_s]
        return sum(
            self._closed_s(hours, zone, max(since_s, begins_at.timestamp()), min(end_s, last_s))
            for (since_s, hours, zone), end_s in zip(versions, ends, strict=False)
        )

    def _closed_s(self, hours: str, zone: str, from_s: float, to_s: float) -> float:
        return sum(
            max(0.0, min(end_s, to_s) - max(begin_s, from_s)) for begin_s, end_s in self._find_spans(hours, zone)
        )

    def _find_spans(self, hours: str, zone: str) -> list[tuple[float, float]]:
        if (hours, zone) not in self._spans:
            week = parse_hours(hours)
            spans = closed_spans(week, zone_of(zone), self._from_at, self._to_at) if week else []
            self._spans[hours, zone] = [(span.from_at.timestamp(), span.to_at.timestamp()) for span in spans]
        return self._spans[hours, zone]
