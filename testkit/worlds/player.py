"""Playing a world: its visits arrive the way a recorder writes them, and its questions are answered and compared."""

import asyncio
import time
from bisect import bisect_right
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from onlooker.metrics.block_release import SETTLED_AFTER, release_blocks
from onlooker.metrics.days import compile_day_check
from onlooker.metrics.rollup import fill_slots, restart_rollup
from onlooker.metrics.week_release import release_weeks
from onlooker.visits.partitions import Partitions
from onlooker.visits.retention import delete_expired_visits
from onlooker.visits.writer import VisitWriter
from testkit.block_oracle import EVER_US, StreamGroups
from testkit.day_oracle import COUNTED, TOLD, count_days
from testkit.oracle import SECOND_US
from testkit.week_oracle import StreamWeeks
from testkit.worlds.cameras import write_log
from testkit.worlds.cell_expectation import cell_differences, expect_cells
from testkit.worlds.clocks import ERAS, day_edges, moment_at, months_of, week_edges
from testkit.worlds.data_reader import DataReader, Refused, WorldStream, change_stream, open_reader, remove_streams
from testkit.worlds.expectation import KNOWN, differences, expect, on_grid, parameters_of, slots_of, wrong_sums
from testkit.worlds.world import Arrival, LatestVisits, Question, World, describe, describe_question

RETENTION_DAYS = 30
MINUTE_S = 60
GRACE_US = round(SETTLED_AFTER.total_seconds() * 1e6)
WRONG_LINES_SHOWN = 20
DAY_US = 86_400_000_000
_CHECK_DAYS = compile_day_check()
_READ_DAYS = "SELECT day, {} FROM metrics_day WHERE stream_id = %s AND slots > 0"


class Disagreement(AssertionError):
    """An answer that differs from the oracle's."""

    def __init__(self, world: World, why: list[str]) -> None:
        super().__init__("\n".join([describe(world), *why]))
        self.world = world


@dataclass
class PlayCounts:
    """What has been compared so far."""

    worlds: int = 0
    questions: int = 0
    pages: int = 0
    buckets: int = 0
    inexact_pages: int = 0
    exact_pages_of_expired: int = 0
    filled_slots: int = 0
    expired_streams: int = 0
    watched_buckets: int = 0
    gap_buckets: int = 0
    unknown_buckets: int = 0
    quality_buckets: int = 0
    grouped_worlds: int = 0
    blocks: int = 0
    told_buckets: int = 0
    """Of streams with groups; blocks tell something in them."""
    grid_pages: int = 0
    days: int = 0
    """Of the daily roll-up."""
    quarter_hour_buckets: int = 0
    week_buckets: int = 0
    month_buckets: int = 0
    broken_down: int = 0
    """Questions with a breakdown or filters that were answered, and their cells."""
    cells: int = 0
    refused_breakdowns: int = 0
    weeks: int = 0
    """Of streams with groups, that are told by gender and age."""
    week_questions: int = 0
    """Those that were answered from them, and the parts in their cells that are told only together."""
    joint_cells: int = 0


@dataclass
class Player:
    """Plays worlds one after another in one database."""

    reader: DataReader
    partitions: Partitions
    tally: PlayCounts = field(default_factory=PlayCounts)

    async def prepare(self) -> None:
        """Create the months of all eras; some lie before anything that a stream may keep."""
        for month in (month for era in ERAS for month in months_of(era)):
            await self.partitions.require({month}, datetime(month.year, month.month, 1, tzinfo=UTC).timestamp())
        await restart_rollup(self.reader.pool, senior_age=self.reader.settings.senior_age)
        await self.fill_all()

    async def play(self, world: World) -> None:
        """Raises Disagreement with everything needed to see why."""
        played = Played(self, world, await self._make_streams(world))
        for number, arrival in enumerate(world.arrivals):
            if number == len(world.arrivals) - 1 and world.expires_us is not None:
                await played.expire(world.expires_us)
            await played.arrive(arrival, number)
        await self.fill_all()
        await played.ask_all(world.arrivals[-1].questions[:1])
        await played.compare_days()
        self.tally.grouped_worlds += bool(world.clocks_us)
        self.tally.blocks += sum(len(groups.blocks) for groups in played.groups)
        self.tally.weeks += sum(len(weeks.weeks) for weeks in played.weeks)
        if world.expires_us is not None or world.clocks_us:
            await remove_streams(self.reader.pool, [stream.id for stream in played.streams])
        self.tally.worlds += 1

    async def _make_streams(self, world: World) -> list[WorldStream]:
        days = 3650 if world.expires_us is None else RETENTION_DAYS
        streams = await self.reader.make_streams(world.zones, retention_days=days)
        for number, stream in enumerate(streams):
            await write_log(self.reader.pool, stream.id, world.camera_of(number))
            if world.plan_of(number).grid:
                await change_stream(self.reader.pool, stream.id, grid=True)
        return streams

    async def fill(self, limit: int) -> int:
        """As of the next minute: until then the slots of a stream with a grid are not filled."""
        now = time.time() + MINUTE_S
        filled = await fill_slots(self.reader.pool, due_s=0, limit=limit, now=now) if limit else 0
        self.tally.filled_slots += filled
        return filled

    async def fill_all(self) -> None:
        while await self.fill(1000):
            pass


@dataclass
class Played:
    """One world that is being played."""

    player: Player
    world: World
    streams: list[WorldStream]
    known: LatestVisits = field(default_factory=LatestVisits)
    kept_us: dict[int, int] = field(default_factory=dict)
    """By stream: visits before this are deleted."""
    groups: list[StreamGroups] = field(default_factory=list)
    """One a stream."""
    weeks: list[StreamWeeks] = field(default_factory=list)

    def __post_init__(self) -> None:
        for number, zone in enumerate(self.world.zones):
            plan, edges = self.world.plan_of(number), day_edges(self.world.era, zone)
            self.groups.append(StreamGroups(partial(_day_of, edges), grid=plan.grid))
            edges_us = [SECOND_US * edge for edge in week_edges(self.world.era, zone)]
            self.weeks.append(StreamWeeks(edges_us, KNOWN))

    async def arrive(self, arrival: Arrival, number: int) -> None:
        await self._change_groups(number)
        if arrival.meanwhile:
            await asyncio.gather(self._write(arrival), self.player.fill(arrival.fills))
            await self._build_blocks(number)
            await asyncio.gather(self.player.fill(arrival.fills), self.ask_all(arrival.questions))
        else:
            await self._write(arrival)
            await self._build_blocks(number)
            await self.player.fill(arrival.fills)
            await self.ask_all(arrival.questions)

    async def _change_groups(self, number: int) -> None:
        """Blocks of what was told singly are built from the roll-up, which is filled first."""
        changing = [stream for stream, groups in enumerate(self.groups) if groups.k != self._planned_k(stream, number)]
        if changing and number:
            await self.player.fill_all()
        for stream in changing:
            was, k, slots = self.groups[stream].k, self._planned_k(stream, number), slots_of(self.known.of(stream))
            self.groups[stream].change_k(k, slots, kept_us=self.kept_us.get(stream, -EVER_US))
            if was == 1:
                self.weeks[stream].begin(self.groups[stream])
            await change_stream(self.player.reader.pool, self.streams[stream].id, groups_of=k)

    def _planned_k(self, stream: int, number: int) -> int:
        return self.world.plan_of(stream).ks[number]

    async def _build_blocks(self, number: int) -> None:
        """Slots of streams with a grid are filled, too: nothing else is read of them."""
        if not self.world.clocks_us:
            return
        now_us = self.world.clocks_us[number]
        await release_blocks(self.player.reader.pool, now=moment_at(now_us))
        await release_weeks(self.player.reader.pool, now=moment_at(now_us))
        for stream, groups in enumerate(self.groups):
            slots, kept_us = slots_of(self.known.of(stream)), self.kept_us.get(stream, -EVER_US)
            groups.build(slots, now_us=now_us, watermark_us=now_us - GRACE_US, kept_us=kept_us)
            weeks = self.weeks[stream]
            weeks.release(groups, slots, now_us=now_us, watermark_us=now_us - GRACE_US, kept_us=kept_us)
        if any(groups.grid for groups in self.groups):
            await self.player.fill_all()

    async def _write(self, arrival: Arrival) -> None:
        visits = [msgspec.structs.replace(one, stream_id=self.streams[one.stream_id].id) for one in arrival.visits]
        refused = await VisitWriter(self.player.reader.pool, self.player.partitions).write(visits)
        assert not refused, refused
        kept = [one for one in arrival.visits if 1000 * one.began_ms >= self.kept_us.get(one.stream_id, -EVER_US)]
        self.known.arrive(tuple(kept))

    async def expire(self, limit_us: int) -> None:
        """The retention of every stream reaches back to this moment, by whole slots."""
        pool = self.player.reader.pool
        await delete_expired_visits(pool, now=(limit_us + RETENTION_DAYS * DAY_US) / 1e6)
        query = """SELECT (extract(epoch FROM since) * 1000000)::bigint AS since,
                          EXISTS (SELECT FROM visits_visit visit
                                  WHERE visit.stream_id = kept.stream_id AND began_at < since) AS remain
                   FROM visits_kept kept WHERE stream_id = %s"""
        for number, stream in enumerate(self.streams):
            async with pool.connection() as connection:
                row = await (await connection.execute(query, (stream.id,))).fetchone()
            if row:
                assert not row["remain"], "visits past their time are still there"
                self.kept_us[number] = row["since"]
                self.player.tally.expired_streams += 1

    async def ask_all(self, questions: tuple[Question, ...]) -> None:
        for question in questions:
            bodies = await self.ask(question)
            if question.time != "global" and bodies:
                (whole,) = await self.ask(replace(question, time="global"))
                is_grouped = bool(self.groups[question.stream].grouped_until_us > -EVER_US)
                wrong = wrong_sums(question, bodies, whole, is_grouped=is_grouped)
                if wrong:
                    raise self._disagreement(question, wrong)

    async def ask(self, question: Question) -> list[dict[str, Any]]:
        """The pages of the answer, which is right; none where a breakdown is rightly refused."""
        if question.is_broken_down:
            return await self._ask_for_cells(question)
        stream = self.streams[question.stream]
        zone = question.tz or stream.zone
        try:
            bodies = await self.player.reader.walk(stream, parameters_of(question, zone))
        except Refused as refused:
            raise self._disagreement(question, [str(refused)]) from None
        kept_us, groups = self.kept_us.get(question.stream, -EVER_US), self.groups[question.stream]
        question = on_grid(question, groups)
        visits = self.known.of(question.stream)
        expected = expect(question, zone, self.world.era, visits, kept_us=kept_us, groups=groups)
        expected.add_coverage(question, self.world.camera_of(question.stream))
        self._note(question, bodies)
        wrong = differences(question, expected, bodies)
        if wrong:
            raise self._disagreement(question, wrong)
        return bodies

    async def _ask_for_cells(self, question: Question) -> list[dict[str, Any]]:
        stream, groups = self.streams[question.stream], self.groups[question.stream]
        zone, tally = question.tz or stream.zone, self.player.tally
        parameters, question = parameters_of(question, zone), on_grid(question, groups)
        kept_us, log = self.kept_us.get(question.stream, -EVER_US), self.world.camera_of(question.stream)
        visits, era = self.known.of(question.stream), self.world.era
        weeks, is_own_zone = self.weeks[question.stream], zone == stream.zone
        expected = expect_cells(
            question, zone, era, visits, log, kept_us=kept_us, groups=groups, weeks=weeks, is_own_zone=is_own_zone
        )
        try:
            bodies = await self.player.reader.walk(stream, parameters)
        except Refused as refused:
            if not expected.refusal or expected.refusal not in str(refused):
                raise self._disagreement(question, [str(refused)]) from None
            tally.refused_breakdowns += 1
            return []
        tally.broken_down += 1
        if expected.is_of_weeks:
            tally.week_questions += 1
            tally.joint_cells += sum("|" in name for cell in expected.named_parts for name in cell)
        tally.cells += sum(len(values.get("cells", ())) for body in bodies for values in body["entities"].values())
        wrong = cell_differences(question, expected, bodies)
        if wrong or expected.refusal:
            raise self._disagreement(question, [*wrong, f"refused as it {expected.refusal}: no"])
        return bodies

    async def compare_days(self) -> None:
        """The daily roll-up, once all slots are filled: with its slots, and with the oracle."""
        for number, stream in enumerate(self.streams):
            is_told = number not in self.kept_us and self.groups[number].grouped_until_us == -EVER_US
            columns = (*COUNTED, *TOLD) if is_told else COUNTED
            query = _READ_DAYS.format(", ".join(columns)).encode()
            async with self.player.reader.pool.connection() as connection:
                rows = await (await connection.execute(query, (stream.id,))).fetchall()
                wrong = await (await connection.execute(_CHECK_DAYS, {"stream_id": stream.id})).fetchone()
            found = {row.pop("day"): row for row in rows}
            days = count_days(self.known.of(number), ZoneInfo(stream.zone))
            expected = {day: {name: amounts[name] for name in columns} for day, amounts in days.items()}
            if found != expected or wrong != {"count": 0}:
                why = [f"days of stream {number} are {found} instead of {expected}; {wrong} unlike their slots"]
                raise Disagreement(self.world, why)
            self.player.tally.days += len(found)

    def _note(self, question: Question, bodies: list[dict[str, Any]]) -> None:
        tally, inexact = self.player.tally, sum("exact" in body for body in bodies)
        tally.questions += 1
        tally.pages += len(bodies)
        buckets = sum(len(body["entities"]) for body in bodies)
        tally.buckets += buckets
        tally.quarter_hour_buckets += buckets if question.time == "by_quarter_hour" else 0
        tally.week_buckets += buckets if question.time == "by_week" else 0
        tally.month_buckets += buckets if question.time == "by_month" else 0
        tally.inexact_pages += inexact
        groups = self.groups[question.stream]
        tally.grid_pages += len(bodies) if groups.grid else 0
        for values in (values for body in bodies for values in body["entities"].values()):
            tally.watched_buckets += bool(values.get("watched", {}).get("value"))
            tally.gap_buckets += any(values.get("gaps", {}).values())
            tally.unknown_buckets += bool(values.get("gaps", {}).get("unknown"))
            tally.told_buckets += groups.k > 1 and values.get("stop_time", {}).get("value") is not None
            tally.quality_buckets += bool(values.get("quality", {}).get("fps"))
        tally.exact_pages_of_expired += len(bodies) - inexact if question.stream in self.kept_us else 0

    def _disagreement(self, question: Question, wrong: list[str]) -> Disagreement:
        kept = [f"visits of stream {number} begin {moment_at(since)}" for number, since in self.kept_us.items()]
        return Disagreement(self.world, [*kept, describe_question(question), *wrong[:WRONG_LINES_SHOWN]])


def _day_of(edges: tuple[int, ...], slot_us: int) -> int:
    return bisect_right(edges, slot_us // 1_000_000)


@asynccontextmanager
async def open_player(database_url: str) -> AsyncIterator[Player]:
    """On a migrated database."""
    async with open_reader(database_url) as reader:
        player = Player(reader, Partitions(reader.pool))
        await player.prepare()
        yield player
