"""Random worlds of rows: streams, sites and tags side by side, and weeks before and after a day, with the oracle."""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from onlooker.metrics.before_after import Watershed, read_before_after
from onlooker.metrics.changes import sample_metric, sum_figures
from onlooker.metrics.comparison import DAY_S, Comparison, read_watched_by_days, read_watched_runs
from onlooker.metrics.definitions import METRICS, Figures, Unit
from onlooker.metrics.intervals import MeanSample
from onlooker.metrics.like_time import SlotRun, TimeRange, on_clock
from onlooker.metrics.pooled_figures import (
    POOLED,
    PartyRun,
    PooledCluster,
    StreamPeriod,
    clusters_of,
    read_clusters,
)
from onlooker.metrics.side_by_side import SideBySide, read_side_by_side
from onlooker.slots import SLOT_S
from onlooker.streams.business_hours import DAY_MINUTES, parse_hours
from onlooker.visits.writer import VisitWriter
from testkit.comparison import Range, is_near, wrong_members
from testkit.row_oracle import (
    ExpectedRow,
    ExpectedRows,
    OracleStream,
    expect_before_after,
    expect_rows,
    local_days,
)
from testkit.worlds.clocks import WINTER, unix_s
from testkit.worlds.comparisons import build_groups, cover, draw_coverage, draw_visit
from testkit.worlds.data_reader import change_stream, remove_streams
from testkit.worlds.player import Player

LENGTHS_DAYS = (1, 3, 7, 7, 7, 9, 14)
KS = (1, 1, 1, 2, 3, 5, 20)
HOURS = ("", "", "mo-fr 09:00-18:30, sa 10:00-16:00")
CROWDS = (0, 5, 20, 60)
SEEING = 0.85
"""The share of cameras that are not off all the time."""


@dataclass
class RowCounts:
    """What has been compared so far."""

    row_worlds: int = 0
    rows_compared: int = 0
    rows_of_several: int = 0
    rows_not_compared: int = 0
    rows_in_groups: int = 0
    """Means of people of whom some are told about in groups."""
    rows_over_zones: int = 0
    campaigns_compared: int = 0
    campaigns_not_compared: int = 0


@dataclass(frozen=True)
class DrawnStream:
    """A stream of the world."""

    zone: str
    hours: str
    k: int
    row: int


@dataclass(frozen=True)
class RowWorld:
    """Rows of streams, a first day and how many there are."""

    streams: tuple[DrawnStream, ...]
    first: datetime
    days: int
    seed: int


def draw_row_world(chance: random.Random) -> RowWorld:
    days = chance.choice(LENGTHS_DAYS)
    near = datetime.fromtimestamp(unix_s(chance.choice(WINTER.moments)), UTC).replace(tzinfo=None)
    first = near.replace(hour=0, minute=0, second=0) - timedelta(days=chance.randrange(days + 1))
    zones = chance.sample(WINTER.zones, k=chance.choice((1, 1, 2)))
    streams = tuple(
        DrawnStream(chance.choice(zones), chance.choice(HOURS), chance.choice(KS), row)
        for row in range(chance.choice((2, 2, 3)))
        for _ in range(chance.choice((1, 1, 2, 3)))
    )
    return RowWorld(streams, first, days, chance.randrange(2**32))


async def compare_row_world(player: Player, world: RowWorld, tally: RowCounts) -> list[str]:
    """What differs from the oracle."""
    ids = [stream.id for stream in await player.reader.make_streams([one.zone for one in world.streams])]
    known = await _play(player, world, ids)
    rows = sorted({one.row for one in world.streams})
    places = [[place for place, one in enumerate(world.streams) if one.row == row] for row in rows]
    periods = [
        StreamPeriod(stream_id, one.zone, TimeRange(*one.period)) for stream_id, one in zip(ids, known, strict=True)
    ]
    found = await read_side_by_side(player.reader.pool, [[periods[place] for place in row] for row in places])
    expected = expect_rows([[known[place] for place in row] for row in places])
    wrong = _differences(expected, found)
    wrong += await _compare_days(player, periods, random.Random(world.seed))  # noqa: S311 (a world)
    _note(tally, world, found)
    if not world.days % 7:
        for row in places:
            wrong += await _compare_campaign(player, world, [(ids[place], known[place]) for place in row], tally)
    await remove_streams(player.reader.pool, ids)
    return wrong


async def _play(player: Player, world: RowWorld, ids: Sequence[int]) -> list[OracleStream]:
    chance = random.Random(world.seed)  # noqa: S311 (a world)
    drawn: list[OracleStream] = []
    for stream_id, one in zip(ids, world.streams, strict=True):
        zone = ZoneInfo(one.zone)
        ranges = [TimeRange(*_days(zone, world)), TimeRange(*_days(zone, world, before=True))]
        visits = [draw_visit(chance, period) for period in ranges for _ in range(chance.choice(CROWDS))]
        visits = [msgspec.structs.replace(visit, stream_id=stream_id) for visit in visits]
        covered_s = draw_coverage(chance, ranges) if chance.random() < SEEING else {}
        await change_stream(player.reader.pool, stream_id, groups_of=one.k)
        await cover(player, stream_id, covered_s)
        if one.hours:
            await _open(player, stream_id, one)
        await VisitWriter(player.reader.pool, player.partitions).write(visits)
        known = OracleStream(zone, _days(zone, world), covered_s, visits)
        drawn.append(replace(known, is_open=_hours_of(one.hours)) if one.hours else known)
    await player.fill_all()
    return [
        replace(known, groups=await build_groups(player, known.zone, one.k, known.visits)) if one.k > 1 else known
        for known, one in zip(drawn, world.streams, strict=True)
    ]


def _days(zone: ZoneInfo, world: RowWorld, *, before: bool = False) -> Range:
    return local_days(zone, world.first - before * timedelta(days=world.days), world.days)


async def _open(player: Player, stream_id: int, one: DrawnStream) -> None:
    values = stream_id, one.hours, one.zone
    async with player.reader.pool.connection() as connection:
        await connection.execute(
            "INSERT INTO streams_openinghours (stream_id, since_at, hours, time_zone) VALUES (%s, 'epoch', %s, %s)",
            values,
        )


def _hours_of(text: str) -> Any:
    hours = parse_hours(text)
    assert hours

    def is_open(shown: datetime) -> bool:
        minute = shown.weekday() * DAY_MINUTES + 60 * shown.hour + shown.minute
        return any(begins <= minute < ends for begins, ends in hours.spans)

    return is_open


async def _compare_days(player: Player, periods: Sequence[StreamPeriod], chance: random.Random) -> list[str]:
    """What is read by whole days, against the same read slot by slot."""
    pool, wrong = player.reader.pool, []
    asked = [(one.stream_id, one.period) for one in periods]
    by_days, by_hours = await read_watched_by_days(pool, asked), await read_watched_runs(pool, asked)
    if by_days != by_hours:
        wrong.append(f"watched by days {by_days} instead of {by_hours}")
    runs = [run for party, one in enumerate(periods) for run in _cut_at_random(chance, party, one)]
    days, slots = await read_clusters(pool, runs, DAY_S), await read_clusters(pool, runs, SLOT_S)
    found, right = (_sum_days(clusters) for clusters in (days, slots))
    return wrong if found == right else [*wrong, f"of {runs} days are {found} instead of {right}"]


def _cut_at_random(chance: random.Random, party: int, one: StreamPeriod) -> Iterator[PartyRun]:
    """All of the period, or parts of it."""
    slots = range(int(one.period.from_at.timestamp()), int(one.period.to_at.timestamp()) + 1, SLOT_S)
    cuts = sorted(chance.sample(slots[1:-1], k=chance.choice((0, 0, 2, 4))))
    edges = [slots[0], *cuts, slots[-1]]
    pieces = [SlotRun(*ends) for ends in list(pairwise(edges))[::2]]
    for run in on_clock(pieces, one.zone):
        utc = SlotRun(run.from_s - run.offset_s, run.to_s - run.offset_s)
        yield PartyRun(party, one.stream_id, utc, run.offset_s, one.period.to_at.timestamp())


def _sum_days(clusters: dict[int, list[PooledCluster]]) -> dict[tuple[int, int], list[int]]:
    """By party and day, where anybody is; blocks with the slots of the day in which they begin."""
    days: dict[tuple[int, int], list[Figures]] = defaultdict(list)
    for party, found in clusters.items():
        for one in found:
            days[party, one.from_s // DAY_S].append(one.figures)
    sums = {key: sum_figures(rows) for key, rows in days.items()}
    return {key: figures for key, figures in sorted(sums.items()) if any(figures)}


def _differences(expected: ExpectedRows, found: SideBySide) -> list[str]:
    frame = expected.reason, expected.compared_s
    if (found.reason, found.compared_s) != frame or not is_near(found.open_s, expected.open_s):
        return [f"rows are compared over {found.reason}, {found.compared_s}, {found.open_s} instead of {expected}"]
    if expected.reason:
        return []
    wrong = []
    for number, (row, known) in enumerate(zip(found.rows, expected.rows, strict=True)):
        if not is_near(row.compared_watched_s, known.watched_s):
            wrong.append(f"row {number} was watched for {row.compared_watched_s} instead of {known.watched_s} s")
        for name in POOLED:
            said = _numbers_of(name, [*row.clusters])
            wanted = _expected_numbers(name, known)
            if len(said) != len(wanted) or not all(map(is_near, said, wanted)):
                wrong.append(f"{name} of row {number} is {said} instead of {wanted}")
    return wrong


def _numbers_of(name: str, clusters: Sequence[Any]) -> list[float | None]:
    """A value; of means also the ends of its interval's reach."""
    given = clusters_of(name, clusters)
    value = METRICS[name].shape(sum_figures(given))["value"]
    if METRICS[name].unit is Unit.PEOPLE:
        return [value]
    sample: MeanSample | None = sample_metric(METRICS[name], given)
    return [value, *((sample.mean, sample.reach) if sample else (None, None))]


def _expected_numbers(name: str, known: ExpectedRow) -> list[float | None]:
    value = known.figures[name]["value"]
    return [value] if METRICS[name].unit is Unit.PEOPLE else [value, *(known.samples[name] or (None, None))]


async def _compare_campaign(
    player: Player, world: RowWorld, row: Sequence[tuple[int, OracleStream]], tally: RowCounts
) -> list[str]:
    """A row before and after the first day."""
    watershed = Watershed(world.first.date(), world.days // 7)
    streams = [(stream_id, one.zone) for stream_id, one in row]
    found = await read_before_after(player.reader.pool, streams, watershed, now=datetime.now(UTC))
    reason, compared_s, changes = expect_before_after([(one, _days(one.zone, world, before=True)) for _, one in row])
    if (found.like.reason, found.like.compared_s) != (reason, compared_s):
        return [f"before and after: {found.like} instead of {reason}, {compared_s} s"]
    tally.campaigns_not_compared += reason is not None
    tally.campaigns_compared += reason is None
    return [] if reason else _wrong_changes(found, changes)


def _wrong_changes(found: Comparison, changes: dict[str, Any]) -> list[str]:
    wrong = []
    for name in POOLED:
        change = found.changes[name]["value"]
        ends = None
        if change.interval:
            ends = [change.interval.low, None if change.interval.high == float("inf") else change.interval.high]
        said = {"now": change.now, "before": change.before, "change": change.size, "interval": ends}
        nothing = 0.0 if METRICS[name].unit is Unit.SHARE else 1.0
        wrong += wrong_members(name, changes[name]["value"], said | {"direction": change.direction}, nothing)
    return wrong


def _note(tally: RowCounts, world: RowWorld, found: SideBySide) -> None:
    tally.row_worlds += 1
    tally.rows_not_compared += found.reason is not None
    if found.reason:
        return
    tally.rows_compared += len(found.rows)
    tally.rows_of_several += sum(len(row.taking_part) > 1 for row in found.rows)
    tally.rows_over_zones += len({one.zone for one in world.streams}) > 1
    grouped = {one.row for one in world.streams if one.k > 1}
    tally.rows_in_groups += sum(
        sum_figures(clusters_of("stop_time", found.rows[row].clusters))[-1] > 0 for row in grouped
    )


def describe_row_world(world: RowWorld) -> str:
    """For people."""
    return f"{world.days} days from {world.first:%Y-%m-%d}, seed {world.seed}, streams {world.streams}"
