"""Playing a world: its visits arrive the way a recorder writes them, and its questions are answered and compared."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import msgspec

from onlooker.metrics.rollup import fill_slots, restart_rollup
from onlooker.visits.partitions import Partitions
from onlooker.visits.retention import delete_expired_visits
from onlooker.visits.writer import VisitWriter
from testkit.worlds.cameras import write_log
from testkit.worlds.clocks import ERAS, moment_at, months_of
from testkit.worlds.data_reader import DataReader, Refused, WorldStream, open_reader
from testkit.worlds.expectation import EVER_US, differences, expect, parameters_of, wrong_sums
from testkit.worlds.world import Arrival, LatestVisits, Question, World, describe, describe_question

RETENTION_DAYS = 30
WRONG_LINES_SHOWN = 20
DAY_US = 86_400_000_000
REMOVALS = (
    "DELETE FROM streams_accesstoken WHERE stream_id = ANY(%s)",
    "DELETE FROM streams_coverage WHERE stream_id = ANY(%s)",
    "DELETE FROM streams_refusal WHERE stream_id = ANY(%s)",
    "DELETE FROM streams_blindness WHERE stream_id = ANY(%s)",
    "DELETE FROM streams_picturecondition WHERE stream_id = ANY(%s)",
    "DELETE FROM streams_agentcondition WHERE stream_id = ANY(%s)",
    "DELETE FROM streams_quality WHERE stream_id = ANY(%s)",
    "DELETE FROM streams_statechange WHERE stream_id = ANY(%s)",
    "DELETE FROM streams_stream WHERE id = ANY(%s)",
)


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
        await self._fill_all()

    async def play(self, world: World) -> None:
        """Raises Disagreement with everything needed to see why."""
        played = Played(self, world, await self._make_streams(world))
        for number, arrival in enumerate(world.arrivals):
            if number == len(world.arrivals) - 1 and world.expires_us is not None:
                await played.expire(world.expires_us)
            await played.arrive(arrival)
        await self._fill_all()
        await played.ask_all(world.arrivals[-1].questions[:1])
        if world.expires_us is not None:
            await self._remove(played.streams)
        self.tally.worlds += 1

    async def _make_streams(self, world: World) -> list[WorldStream]:
        days = 3650 if world.expires_us is None else RETENTION_DAYS
        streams = await self.reader.make_streams(world.zones, retention_days=days)
        for number, stream in enumerate(streams):
            await write_log(self.reader.pool, stream.id, world.camera_of(number))
        return streams

    async def _remove(self, streams: list[WorldStream]) -> None:
        """Deleting expired visits goes through every stream there is."""
        ids = [stream.id for stream in streams]
        async with self.reader.pool.connection() as connection:
            for statement in REMOVALS:
                await connection.execute(statement, (ids,))

    async def fill(self, limit: int) -> int:
        filled = await fill_slots(self.reader.pool, due_s=0, limit=limit) if limit else 0
        self.tally.filled_slots += filled
        return filled

    async def _fill_all(self) -> None:
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

    async def arrive(self, arrival: Arrival) -> None:
        if arrival.meanwhile:
            await asyncio.gather(self._write(arrival), self.player.fill(arrival.fills))
            await asyncio.gather(self.player.fill(arrival.fills), self.ask_all(arrival.questions))
        else:
            await self._write(arrival)
            await self.player.fill(arrival.fills)
            await self.ask_all(arrival.questions)

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
            if question.time != "global":
                (whole,) = await self.ask(replace(question, time="global"))
                wrong = wrong_sums(question, bodies, whole)
                if wrong:
                    raise self._disagreement(question, wrong)

    async def ask(self, question: Question) -> list[dict[str, Any]]:
        stream = self.streams[question.stream]
        zone = question.tz or stream.zone
        try:
            bodies = await self.player.reader.walk(stream, parameters_of(question, zone))
        except Refused as refused:
            raise self._disagreement(question, [str(refused)]) from None
        kept_us = self.kept_us.get(question.stream, -EVER_US)
        expected = expect(question, zone, self.world.era, self.known.of(question.stream), kept_us=kept_us)
        expected.add_coverage(question, self.world.camera_of(question.stream))
        self._note(question, bodies)
        wrong = differences(question, expected, bodies)
        if wrong:
            raise self._disagreement(question, wrong)
        return bodies

    def _note(self, question: Question, bodies: list[dict[str, Any]]) -> None:
        tally, inexact = self.player.tally, sum("exact" in body for body in bodies)
        tally.questions += 1
        tally.pages += len(bodies)
        tally.buckets += sum(len(body["entities"]) for body in bodies)
        tally.inexact_pages += inexact
        for values in (values for body in bodies for values in body["entities"].values()):
            tally.watched_buckets += bool(values.get("watched", {}).get("value"))
            tally.gap_buckets += any(values.get("gaps", {}).values())
            tally.unknown_buckets += bool(values.get("gaps", {}).get("unknown"))
            tally.quality_buckets += bool(values.get("quality", {}).get("fps"))
        tally.exact_pages_of_expired += len(bodies) - inexact if question.stream in self.kept_us else 0

    def _disagreement(self, question: Question, wrong: list[str]) -> Disagreement:
        kept = [f"visits of stream {number} begin {moment_at(since)}" for number, since in self.kept_us.items()]
        return Disagreement(self.world, [*kept, describe_question(question), *wrong[:WRONG_LINES_SHOWN]])


@asynccontextmanager
async def open_player(database_url: str) -> AsyncIterator[Player]:
    """On a migrated database."""
    async with open_reader(database_url) as reader:
        player = Player(reader, Partitions(reader.pool))
        await player.prepare()
        yield player
