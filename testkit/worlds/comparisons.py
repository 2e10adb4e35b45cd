"""Random worlds for comparisons: cameras on and off in two periods, changes of clock, ends of retention."""

import random
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import msgspec

from onlooker.metrics.block_release import release_blocks
from onlooker.metrics.like_time import TimeRange, previous_range
from onlooker.visits.retention import delete_expired_visits
from onlooker.visits.writer import VisitWriter
from onlooker_pipeline.visits.visit import Visit
from testkit.block_oracle import EVER_US, StreamGroups
from testkit.comparison import comparison_differences, expect_comparison
from testkit.worlds.clocks import WINTER, unix_s
from testkit.worlds.data_reader import change_stream, remove_streams
from testkit.worlds.expectation import slots_of
from testkit.worlds.player import DAY_US, RETENTION_DAYS, Player
from testkit.worlds.strategies import METRICS

SLOT_S = 900
LENGTHS_S = (3600, 9 * 3600, 86_400, 3 * 86_400, 7 * 86_400, 7 * 86_400, 9 * 86_400, 20 * 86_400)
COVERED_S = (0.0, 450.0, 809.9, 810.0, 850.0, 900.0, 900.0, 900.0, 1300.0)
"""Below the limit, at it, above it, and more than a slot has."""
FILLS = (0, 3, 1000, 1000)
KS = (1, 1, 1, 2, 3, 5, 20)


@dataclass(frozen=True)
class ComparedWorld:
    """One stream, two ranges, what was watched and who came."""

    zone: str
    now: TimeRange
    before: TimeRange
    asks_previous: bool
    covered_s: dict[datetime, float]
    visits: tuple[Visit, ...]
    fills: int
    expires_us: int | None
    k: int
    """People are told about in groups of at least so many."""


@dataclass
class ComparisonCounts:
    """What has been compared so far."""

    compared_worlds: int = 0
    compared_changes: int = 0
    compared_slots: int = 0
    not_compared: int = 0
    over_clock_changes: int = 0
    past_retention: int = 0
    compared_in_groups: int = 0
    """Means of people who are told about in groups."""


def draw_world(chance: random.Random) -> ComparedWorld:
    zone = ZoneInfo(chance.choice(WINTER.zones))
    near_s = unix_s(chance.choice(WINTER.moments))
    length_s = chance.choice(LENGTHS_S) + chance.choice((0, 0, 0, 437))
    grain_s = chance.choice((1, 60, SLOT_S, 3600))
    begins_s = (near_s - chance.randrange(min(length_s + 8 * 86_400, 12 * 86_400))) // grain_s * grain_s
    now = TimeRange(_at(begins_s), _at(begins_s + length_s))
    before, asks_previous = previous_range(now, zone), chance.random() < 0.6
    if not asks_previous:
        ends_s = begins_s - chance.choice((0, 0, 3600, 86_400, 5 * 86_400))
        before = TimeRange(_at(ends_s - chance.choice(LENGTHS_S)), _at(ends_s))
    ranges = (now, before)
    covered_s = draw_coverage(chance, ranges)
    visits = [draw_visit(chance, one) for one in ranges for _ in range(chance.choice((0, 5, 20, 60)))]
    expires_us = None
    if chance.random() < 0.1:
        expires_us = int(chance.choice((begins_s, before.from_at.timestamp() + length_s / 2))) * 1_000_000
    return ComparedWorld(
        zone.key,
        now,
        before,
        asks_previous,
        covered_s,
        tuple(visits),
        chance.choice(FILLS),
        expires_us,
        chance.choice(KS),
    )


def _at(unix: float) -> datetime:
    return datetime.fromtimestamp(unix, UTC)


def draw_coverage(chance: random.Random, ranges: Sequence[TimeRange]) -> dict[datetime, float]:
    """Mostly on, off for some stretches, and with some slots of every kind."""
    found: dict[datetime, float] = {}
    for one in ranges:
        first, last = (int(at.timestamp()) // SLOT_S for at in (one.from_at, one.to_at))
        slots = dict.fromkeys(range(first - 1, last + 2), 900.0)
        for _ in range(chance.choice((0, 1, 1, 3))):
            begin, length = chance.randint(first, last), chance.choice((1, 4, 96, 300))
            slots.update({slot: 0.0 for slot in range(begin, begin + length) if slot in slots})
        for slot in chance.sample(sorted(slots), k=min(len(slots), chance.choice((0, 2, 20)))):
            slots[slot] = chance.choice(COVERED_S)
        if chance.random() < 0.05:
            slots = {}
        found |= {_at(SLOT_S * slot): video_s for slot, video_s in slots.items() if video_s}
    return found


def draw_visit(chance: random.Random, period: TimeRange) -> Visit:
    """Somebody in the range, now and then across one of its ends."""
    first_ms, last_ms = (int(1000 * at.timestamp()) for at in (period.from_at, period.to_at))
    at_ms = chance.randrange(first_ms - 20_000, last_ms)
    stays_ms = chance.choice((900, 4000, 9000, 61_000, 1_900_000))
    still = [(at_ms, at_ms + min(stays_ms, chance.choice((2900, 3000, 7000))))] if chance.random() < 0.7 else []
    looking = [(at_ms, at_ms + min(stays_ms, chance.choice((900, 1001, 6000))))] if chance.random() < 0.8 else []
    happiness = chance.random()
    expression = (0.0, happiness, 0.0, (1 - happiness) / 2, (1 - happiness) / 2)
    return Visit(
        id=uuid.UUID(int=chance.getrandbits(128)).bytes,
        stream_id=0,
        session="compared",
        revision=1,
        ended=True,
        present=[(at_ms, at_ms + stays_ms)],
        still=still,
        looking=looking,
        age=chance.choice((None, 20.0, 70.0)),
        age_confidence=0.9,
        gender=chance.choice((None, "female", "male")),
        gender_confidence=0.9,
        expression=chance.choice((None, expression)),
    )


async def compare_world(player: Player, world: ComparedWorld, tally: ComparisonCounts) -> list[str]:
    """What differs from the oracle."""
    days = 3650 if world.expires_us is None else RETENTION_DAYS
    [stream] = await player.reader.make_streams([world.zone], retention_days=days)
    await change_stream(player.reader.pool, stream.id, groups_of=world.k)
    visits = [msgspec.structs.replace(one, stream_id=stream.id) for one in world.visits]
    await VisitWriter(player.reader.pool, player.partitions).write(visits)
    await cover(player, stream.id, world.covered_s)
    await player.fill(1000 if world.expires_us is not None else world.fills)
    groups = await build_groups(player, ZoneInfo(world.zone), world.k, visits) if world.k > 1 else None
    covered_s, kept_us = world.covered_s, -EVER_US
    if world.expires_us is not None:
        kept_us = await _expire(player, stream.id, world.expires_us)
        covered_s = {slot: s for slot, s in covered_s.items() if 1_000_000 * slot.timestamp() >= kept_us}
    found = (await player.reader.get(stream, urlencode(_parameters_of(world))))["comparison"]
    before = tuple(datetime.fromisoformat(found[name]).astimezone(UTC) for name in ("from_date", "to_date"))
    if before != (world.before.from_at, world.before.to_at):
        return [f"it is compared with {before} instead of {world.before}"]
    zone = ZoneInfo(world.zone)
    now = (world.now.from_at, world.now.to_at)
    expected = expect_comparison(visits, now, before, zone, covered_s, kept_us=kept_us, groups=groups)
    _note(tally, world, found)
    if world.expires_us is not None or world.k > 1:  # else every later world would go through its visits again
        await remove_streams(player.reader.pool, [stream.id])
    return comparison_differences(expected, found, METRICS)


async def build_groups(player: Player, zone: ZoneInfo, k: int, visits: Sequence[Visit]) -> StreamGroups:
    """All days are over, so all blocks are released."""
    now = datetime.now(UTC)
    await release_blocks(player.reader.pool, now=now)
    groups = StreamGroups(lambda slot_us: _at(slot_us / 1e6).astimezone(zone).toordinal())
    groups.change_k(k, {})
    now_us = int(now.timestamp()) * 1_000_000
    groups.build(slots_of(visits), now_us=now_us, watermark_us=now_us)
    return groups


def _parameters_of(world: ComparedWorld) -> dict[str, str]:
    asked = (
        {"compare": "previous"}
        if world.asks_previous
        else {
            "compare_from": world.before.from_at.isoformat(),
            "compare_to": world.before.to_at.isoformat(),
        }
    )
    return {
        "metrics": ",".join(METRICS),
        "from_date": world.now.from_at.isoformat(),
        "to_date": world.now.to_at.isoformat(),
        **asked,
    }


async def cover(player: Player, stream_id: int, covered_s: Mapping[datetime, float]) -> None:
    rows = [(stream_id, slot, video_s) for slot, video_s in covered_s.items()]
    async with player.reader.pool.connection() as connection, connection.cursor() as cursor:
        await cursor.executemany("INSERT INTO streams_coverage (stream_id, slot_at, video_s) VALUES (%s, %s, %s)", rows)


async def _expire(player: Player, stream_id: int, limit_us: int) -> int:
    """Visits and coverage before a moment are deleted; since when visits are kept."""
    pool = player.reader.pool
    await delete_expired_visits(pool, now=(limit_us + RETENTION_DAYS * DAY_US) / 1e6)
    async with pool.connection() as connection:
        found = await connection.execute("SELECT since FROM visits_kept WHERE stream_id = %s", (stream_id,))
        row = await found.fetchone()
        since = row["since"] if row else _at(limit_us / 1e6)
        await connection.execute(
            "DELETE FROM streams_coverage WHERE stream_id = %s AND slot_at < %s", (stream_id, since)
        )
    return int(since.timestamp()) * 1_000_000


def _note(tally: ComparisonCounts, world: ComparedWorld, found: dict[str, object]) -> None:
    zone = ZoneInfo(world.zone)
    offsets = {at.astimezone(zone).utcoffset() for at in (world.before.from_at, world.now.from_at, world.now.to_at)}
    metrics = found["metrics"]
    assert isinstance(metrics, dict)
    tally.compared_worlds += 1
    tally.not_compared += found["reason"] is not None
    tally.compared_changes += sum(len(parts) for parts in metrics.values())
    tally.compared_slots += round(4 * float(str(found["compared_hours"])))
    tally.over_clock_changes += len(offsets) > 1 and found["reason"] is None
    tally.past_retention += world.expires_us is not None
    told = metrics["stop_time"]["value"]["now"] if metrics else None
    tally.compared_in_groups += world.k > 1 and told is not None


def describe_compared(world: ComparedWorld) -> str:
    """For people."""
    return (
        f"{world.zone}: {world.now.from_at} to {world.now.to_at} "
        f"against {world.before.from_at} to {world.before.to_at}, "
        f"{len(world.visits)} visits, {len(world.covered_s)} slots with coverage, expires {world.expires_us}, "
        f"groups of {world.k}"
    )
