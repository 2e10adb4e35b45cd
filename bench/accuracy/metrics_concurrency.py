"""Writers, fillers and readers of the same slots at once: no visit is ever counted twice, or missed."""

import asyncio
import random
import uuid
from dataclasses import dataclass, field

import msgspec

from onlooker.visits.partitions import Partitions
from onlooker.visits.writer import VisitWriter
from onlooker_pipeline.visits.visit import Visit
from testkit.worlds.clocks import unix_s
from testkit.worlds.data_reader import WorldStream
from testkit.worlds.player import Player

VISITS = 600
REVISIONS = 4
WRITERS = 2
FILLERS = 2
BATCH = 10
SLOTS_AT_ONCE = 2
START_MS = 1000 * unix_s("2026-01-14T09:00")
LENGTH_MS = 2 * 3_600_000
QUERY = "metrics=passing_by&from_date=2026-01-14T08:59:59.5Z&to_date=2026-01-14T12:00:00.5Z&time="


@dataclass
class Storm:
    """One of them on one stream."""

    player: Player
    stream: WorldStream
    counts: list[int] = field(default_factory=list)
    """Of the readings, in their order."""
    wrong: list[str] = field(default_factory=list)
    over: bool = False

    async def rage(self, chance: random.Random) -> None:
        visits = [_visit(self.stream.id, chance) for _ in range(VISITS)]
        heaps = [visits[number::WRITERS] for number in range(WRITERS)]
        companions = [asyncio.create_task(self._fill()) for _ in range(FILLERS)]
        companions.append(asyncio.create_task(self._read()))
        await asyncio.gather(*(self._write(heap, random.Random(chance.random())) for heap in heaps))
        self.over = True
        await asyncio.gather(*companions)
        await self._conclude()

    async def _write(self, visits: list[Visit], chance: random.Random) -> None:
        """All revisions of these visits in any order."""
        writer = VisitWriter(self.player.reader.pool, Partitions(self.player.reader.pool))
        revisions = [_revised(visit, number) for visit in visits for number in range(1, REVISIONS + 1)]
        chance.shuffle(revisions)
        for first in range(0, len(revisions), BATCH):
            await writer.write(revisions[first : first + BATCH])

    async def _fill(self) -> None:
        while not self.over:
            if not await self.player.fill(SLOTS_AT_ONCE):
                await asyncio.sleep(0)

    async def _read(self) -> None:
        while not self.over:
            self.counts.append(await self._count("global"))
            hours = await self._count("by_hour")
            if not self.counts[-1] <= hours <= VISITS:
                self.wrong.append(f"{self.counts[-1]} people, but {hours} by hour a moment later")
            self.counts.append(hours)

    async def _count(self, time: str) -> int:
        body = await self.player.reader.get(self.stream, QUERY + time)
        return sum(bucket["passing_by"]["value"] for bucket in body["entities"].values())

    async def _conclude(self) -> None:
        """Whatever order things came in: all are there, before the rest is filled and after."""
        ends = [await self._count("global")]
        while await self.player.fill(1000):
            pass
        ends.append(await self._count("by_hour"))
        if ends != [VISITS, VISITS]:
            self.wrong.append(f"{ends} people at the end instead of {VISITS}")
        falls = [pair for pair in zip(self.counts, self.counts[1:], strict=False) if pair[0] > pair[1]]
        self.wrong += [f"{before} people became {after}" for before, after in falls[:10]]


def _visit(stream_id: int, chance: random.Random) -> Visit:
    start_ms = START_MS + chance.randrange(LENGTH_MS)
    return Visit(uuid.uuid4().bytes, stream_id, "storm", 1, False, [(start_ms, start_ms + 2000)], [], [])


def _revised(visit: Visit, revision: int) -> Visit:
    """Longer with every revision; some reach into the slots after theirs."""
    present = [(visit.began_ms, visit.began_ms + 2000 + 400_000 * (revision - 1))]
    return msgspec.structs.replace(visit, revision=revision, present=present)


async def ride_out_storm(player: Player, *, seed: int) -> Storm:
    (stream,) = await player.reader.make_streams(["UTC"])
    storm = Storm(player, stream)
    await storm.rage(random.Random(seed))
    return storm
