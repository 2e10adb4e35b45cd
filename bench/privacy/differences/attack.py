"""Playing attacked worlds side by side on a real database, and asking the data endpoint's own app about them."""

import random
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

import msgspec
import psycopg

from bench.privacy.differences.adversary import Adversary, Parameters
from bench.privacy.differences.world import (
    DEVICE_RETURNS,
    FIRST_DAY_MS,
    HOUR_MS,
    LAST_DAY_MS,
    AttackedWorld,
    OwnerChange,
    draw_attacked,
    draw_clocks,
    draw_shift,
    twin_of,
)
from onlooker.database import load_queries
from onlooker.metrics.block_release import forget_blocks, forget_blocks_of, release_blocks
from onlooker.metrics.rollup import fill_slots, restart_rollup
from onlooker.metrics.week_release import release_weeks
from onlooker.visits.partitions import Partitions
from onlooker.visits.retention import delete_expired_visits
from onlooker.visits.writer import VisitWriter
from onlooker_pipeline.visits.visit import Visit
from testkit.worlds.data_reader import DataReader, Refused, WorldStream, change_stream, open_reader, remove_streams

MONTHS = tuple(date(2026, month, 1) for month in (1, 2, 3))
QUESTIONS_AN_ACT = 3
FIRST_WEEKS = 5
"""The number of the act in which some weeks may be over."""
TABLE_SHARE = 0.25
"""Of questions that are asked for as CSV."""
MINUTE_S = 60
ERASED_AT_ONCE = 5000
"""More than a world has visits."""
_ERASURE = load_queries("onlooker.metrics", "sql/erasure.sql")
_COVER = """INSERT INTO streams_coverage (stream_id, slot_at, video_s)
SELECT %s, slot_at, 900 FROM generate_series(%s::timestamptz, %s, interval '15 minutes') slot_at"""
_DELIVER = """INSERT INTO streams_devicecoverage
    (stream_id, slot_at, device, revision, watched_s, counted_s, sums, first_at, last_at, whole_at)
VALUES (%s, date_bin('15 minutes', %s, 'epoch'), %s, 1, 900, 900, '{}', %s, %s, %s)"""


@dataclass
class AttackCounts:
    """What has been tried and found so far."""

    worlds: int = 0
    questions: int = 0
    told_answers: int = 0
    """In which a block, or a single person, is told of."""
    worlds_told: int = 0
    leaks: int = 0
    """Worlds in which a sum about fewer than k people is known."""
    broken_groups: int = 0
    """Worlds in which answers tell fewer than k people apart, whether or not a sum follows."""
    unexplained: int = 0
    """Worlds with an answer that is no sum of whole people."""
    grid_worlds: int = 0
    grid_leaks: int = 0
    """Worlds with a grid in which an answer depends on a moment inside a slot, or inside a minute."""
    minutes_shown: int = 0
    """Worlds with a grid in which the running slot changed with the minute, as it should."""
    changed_worlds: int = 0
    deleted_ranges: int = 0
    expired_worlds: int = 0
    device_worlds: int = 0
    compared_answers: int = 0
    tables: int = 0
    """Questions that were asked for as CSV."""
    quality_answers: int = 0
    """That tell how well people could be read."""
    in_view_answers: int = 0
    """That tell how many people are in view now."""
    looks_shown: int = 0
    """Those that tell how many of them look: of streams that tell singly."""
    week_refusals: int = 0
    """Questions for weeks by gender and age that were refused, since the week is not told or a part is too small."""
    week_answers: int = 0
    """Those that were answered, in groups."""
    week_worlds: int = 0
    """Worlds in which more than one cell of a week is told."""
    looks_told: int = 0
    """Worlds in which a stream with groups told so."""
    findings: list[str] = field(default_factory=list)


@dataclass
class Attacked:
    """A world that is being played: its stream, the twin's if it has a grid, and the adversary."""

    world: AttackedWorld
    streams: list[WorldStream]
    adversary: Adversary
    k: int
    """As the stream has it now."""
    current: dict[bytes, int] = field(default_factory=dict)
    """By visit, the code of the newest revision that is stored."""
    shifts_ms: dict[bytes, int] = field(default_factory=dict)
    """By visit, how much later the twin's is."""
    grid_faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        revisions: dict[bytes, list[Visit]] = {}
        for visit in (visit for act in self.world.acts for visit in act.visits):
            revisions.setdefault(visit.id, []).append(visit)
        chance = random.Random(self.world.seed)
        self.shifts_ms = {id_: draw_shift(visits, chance) for id_, visits in revisions.items()}

    @property
    def is_twin(self) -> bool:
        return len(self.streams) > 1


@dataclass
class DifferenceAttack:
    """Plays batches of worlds; each batch shares its clock."""

    reader: DataReader
    partitions: Partitions
    with_blocks: bool
    tally: AttackCounts = field(default_factory=AttackCounts)

    async def prepare(self) -> None:
        for month in MONTHS:
            await self.partitions.require({month}, datetime(month.year, month.month, 1, tzinfo=UTC).timestamp())
        await restart_rollup(self.reader.pool, senior_age=self.reader.settings.senior_age)

    async def play(self, seeds: Sequence[int]) -> None:
        chance = random.Random(seeds[0])
        clocks_ms = draw_clocks(chance)
        drawn = [draw_attacked(seed, clocks_ms) for seed in seeds]
        batch = [await self._begin(world) for world in drawn]
        for number, clock_ms in enumerate(clocks_ms):
            await self._act(batch, number, clock_ms, is_filled=chance.random() < 0.5)
        await self._watch_minute([one for one in batch if one.is_twin], clocks_ms[-1])
        for one in batch:
            self._judge(one)
        await remove_streams(self.reader.pool, [stream.id for one in batch for stream in one.streams])

    async def _begin(self, world: AttackedWorld) -> Attacked:
        played = world if self.with_blocks else world.without_changes()
        streams = await self.reader.make_streams(
            [world.zone] * (2 if played.grid else 1), retention_days=world.retention_days
        )
        k = world.k if self.with_blocks else 1
        for stream in streams:
            compute = "device" if world.device else "server"
            await change_stream(self.reader.pool, stream.id, groups_of=k, grid=played.grid, compute=compute)
            if world.watched:
                async with self.reader.pool.connection() as connection:
                    range_ = (_moment(2 * FIRST_DAY_MS - LAST_DAY_MS), _moment(LAST_DAY_MS))
                    await connection.execute(_COVER, (stream.id, *range_))
        adversary = Adversary(random.Random(world.seed), world.fingerprints, world.watched)
        return Attacked(played, streams, adversary, k)

    async def _act(self, batch: list[Attacked], number: int, clock_ms: int, *, is_filled: bool) -> None:
        for one in batch:
            for change in one.world.acts[number].changes:
                await self._change(one, change)
        await VisitWriter(self.reader.pool, self.partitions).write(
            [visit for one in batch for visit in _arriving(one, number)]
        )
        for one in (one for one in batch if one.world.device and number >= DEVICE_RETURNS):
            await self._deliver(one, clock_ms)
        await release_blocks(self.reader.pool, now=_moment(clock_ms))
        await release_weeks(self.reader.pool, now=_moment(clock_ms))
        if is_filled or number == len(batch[0].world.acts) - 2 or any(one.is_twin for one in batch):
            await self._fill(now=time.time() + MINUTE_S)
        if number >= DEVICE_RETURNS:
            await delete_expired_visits(self.reader.pool, now=clock_ms / 1000)
        for one in batch:
            if one.k == 1 and self.with_blocks:
                one.adversary.exposed |= sum(1 << code for code in one.current.values()) & ~one.adversary.told
            if one.k > 1 and number >= FIRST_WEEKS:
                await self._ask_of_weeks(one)
            for parameters in one.adversary.choose(QUESTIONS_AN_ACT if one.current else 1):
                is_table = "compare" not in parameters and one.adversary.chance.random() < TABLE_SHARE
                await self._ask(one, parameters, is_table=is_table)

    async def _change(self, one: Attacked, change: OwnerChange) -> None:
        for stream in one.streams:
            if change.k is not None:
                await change_stream(self.reader.pool, stream.id, groups_of=change.k)
            if change.zone is not None:
                await change_stream(self.reader.pool, stream.id, time_zone=change.zone)
            if change.deleted_ms is not None:
                self._delete(stream.id, *map(_moment, change.deleted_ms))
        if change.k is not None:
            if one.k == 1 and change.k > 1:
                one.adversary.begin_groups()
            one.k = change.k
        self.tally.deleted_ranges += change.deleted_ms is not None

    def _delete(self, stream_id: int, from_at: datetime, to_at: datetime) -> None:
        """All that reaches into a range of whole slots, by the statements of the product's own erasure."""
        values = {"stream_id": stream_id, "from_at": from_at, "to_at": to_at, "limit": ERASED_AT_ONCE}
        with psycopg.connect(self.reader.settings.database_url) as connection, connection.cursor() as cursor:
            cursor.execute(_ERASURE["note_erased"], values)
            cursor.execute(_ERASURE["erase_visits"], values)
            slots = [row[0] for row in cursor.fetchall()]
            cursor.execute(_ERASURE["erase_slots"], {"stream_id": stream_id, "slots": slots})
            forget_blocks_of(cursor, stream_id, slots)
            cursor.execute(_ERASURE["erase_totals"], values)
            forget_blocks(cursor, stream_id, from_at, to_at)

    async def _deliver(self, one: Attacked, clock_ms: int) -> None:
        """The device has handed over everything up to now."""
        now = _moment(clock_ms)
        async with self.reader.pool.connection() as connection:
            for stream in one.streams:
                await connection.execute(_DELIVER, (stream.id, now, uuid.uuid4(), now, now, now))

    async def _fill(self, *, now: float) -> None:
        while await fill_slots(self.reader.pool, due_s=0, now=now):
            pass

    async def _ask(self, one: Attacked, parameters: Parameters, *, is_table: bool = False) -> list[dict[str, Any]]:
        bodies = await self._read(one.streams[0], parameters, is_table=is_table)
        self.tally.questions += 1
        self.tally.tables += is_table
        before = len(one.adversary.rows)
        for body in bodies:
            one.adversary.learn(parameters, body, k=one.k)
            self._note(body)
        self.tally.told_answers += sum(row > 0 for row in one.adversary.rows[before:])
        if one.is_twin and await self._read(one.streams[1], parameters, is_table=is_table) != bodies:
            one.grid_faults.append(f"{parameters} tells of moments inside slots")
        return bodies

    async def _ask_of_weeks(self, one: Attacked) -> None:
        for parameters in one.adversary.choose_of_weeks():
            self.tally.questions += 1
            try:
                bodies = await self.reader.walk(one.streams[0], parameters)
            except Refused:
                self.tally.week_refusals += 1
                continue
            self.tally.week_answers += 1
            for body in bodies:
                one.adversary.learn_cells(parameters, body)

    async def _read(self, stream: WorldStream, parameters: Parameters, *, is_table: bool) -> list[dict[str, Any]]:
        if is_table:
            return [{"entities": await self.reader.read_table(stream, parameters)}]
        return await self.reader.walk(stream, parameters)

    def _note(self, body: dict[str, Any]) -> None:
        tally, buckets = self.tally, body["entities"].values()
        tally.compared_answers += bool(body.get("comparison", {}).get("metrics"))
        tally.quality_answers += any(one.get("quality", {}).get("gender_read") for one in buckets)
        tally.in_view_answers += any(one["in_view"]["value"] for one in buckets)
        tally.looks_shown += any(one["in_view"]["looking"] for one in buckets)

    async def _watch_minute(self, twins: list[Attacked], now_ms: int) -> None:
        """Somebody comes; at the twin a little later in the same minute. Only the next one tells of both."""
        if not twins:
            return
        asked = [one.adversary.ask(now_ms - HOUR_MS, now_ms + HOUR_MS, "global") for one in twins]
        await self._fill(now=time.time() + MINUTE_S)
        before = [await self._ask(one, parameters) for one, parameters in zip(twins, asked, strict=True)]
        started = time.time()
        await self._come(twins, 0, now_ms)
        await self._fill(now=started)
        during = [await self._ask(one, parameters) for one, parameters in zip(twins, asked, strict=True)]
        await self._come(twins, 1, now_ms)
        await self._fill(now=time.time() + MINUTE_S)
        after = [await self._ask(one, parameters) for one, parameters in zip(twins, asked, strict=True)]
        for one, *bodies in zip(twins, before, during, after, strict=True):
            if bodies[0] != bodies[1]:
                one.grid_faults.append("a count changed inside a minute")
            self.tally.minutes_shown += bodies[1] != bodies[2]

    async def _come(self, twins: list[Attacked], place: int, at_ms: int) -> None:
        passing = [
            Visit(uuid.uuid4().bytes, one.streams[place].id, "attacked", 1, True, [(at_ms, at_ms + 2000)], [], [])
            for one in twins
        ]
        await VisitWriter(self.reader.pool, self.partitions).write(passing)

    def _judge(self, one: Attacked) -> None:
        tally, world, adversary = self.tally, one.world, one.adversary
        people, is_broken = adversary.find_small(world.least_k)
        tally.worlds += 1
        tally.worlds_told += any(adversary.rows)
        tally.week_worlds += len(adversary.week_rows) > 1
        tally.leaks += people is not None
        tally.broken_groups += is_broken
        tally.unexplained += bool(adversary.unexplained)
        tally.grid_worlds += one.is_twin
        tally.grid_leaks += bool(one.grid_faults)
        tally.looks_told += bool(adversary.looks)
        tally.changed_worlds += any(act.changes for act in world.acts)
        tally.expired_worlds += world.retention_days < 1000
        tally.device_worlds += world.device
        if self.with_blocks:
            small = [f"a sum about persons {sorted(people)}, fewer than {world.least_k}"] if people else []
            broken = ["answers tell small groups apart"] if is_broken else []
            tally.findings += [
                f"world {world.seed}: {line}"
                for line in (
                    *(*small, *broken),
                    *(*adversary.unexplained[:1], *one.grid_faults[:1], *adversary.looks[:1]),
                )
            ]


def _arriving(one: Attacked, number: int) -> list[Visit]:
    """What is written for its streams; the adversary's judge notes what is stored."""
    found = []
    for visit in one.world.acts[number].visits:
        codes = [code for code, known in one.world.fingerprints.visits.items() if known == visit]
        newest = one.world.fingerprints.visits.get(one.current.get(visit.id, -1))
        if codes and (newest is None or newest.revision < visit.revision):
            one.current[visit.id] = codes[0]
        found.append(msgspec.structs.replace(visit, stream_id=one.streams[0].id))
        if one.is_twin:
            twin = twin_of(visit, one.shifts_ms[visit.id])
            found.append(msgspec.structs.replace(twin, stream_id=one.streams[1].id))
    return found


def _moment(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)


@asynccontextmanager
async def open_attack(database_url: str, *, with_blocks: bool) -> AsyncIterator[DifferenceAttack]:
    """On a migrated database."""
    async with open_reader(database_url) as reader:
        attack = DifferenceAttack(reader, Partitions(reader.pool), with_blocks)
        await attack.prepare()
        yield attack
