"""Visits a second into the database, with marks and roll-up, beside bare upserts of the same rows."""

import asyncio
import random
import statistics
import time
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, zip_longest
from multiprocessing import get_context

import msgspec
import psutil

from bench.cost.data_world import DataWorld
from bench.lib.processes import cpu_seconds
from bench.lib.product import say
from onlooker.database import Pool, open_pool
from onlooker.metrics.rollup import fill_slots
from onlooker.settings import Settings
from onlooker.visits.partitions import Partitions
from onlooker.visits.visit_columns import columns_of
from onlooker.visits.writer import VisitWriter, newest_of
from onlooker_pipeline.visits.visit import Visit, decode_visit, encode_visit

RECORDERS = (1, 2)
"""Processes at a time."""
BATCHES = (200, 500)
"""The setting's default, and a larger one."""
REVISIONS = 2
"""How often a visit is written: while the person is there, and when they have gone."""
REVISED_AFTER = 1000
"""So many other visits begin in between: the two are never in one batch, of which only the last would be written."""
HOUR_MS = 3_600_000
LONGEST_MS = 118_000
"""Of a visit, beyond two seconds."""
DUE_S = 2.0
"""A slot passes in some seconds here, so it is filled sooner than in the product."""
LOOK_EVERY_S = 0.2

BARE_TABLE = """
CREATE TABLE bare_visit (LIKE visits_visit INCLUDING ALL, FOREIGN KEY (stream_id) REFERENCES streams_stream (id))
WITH (fillfactor = 70)
"""
BARE_UPSERT = """
INSERT INTO bare_visit (stream_id, began_at, id, revision, ended, session, present, still, looking,
                        age, age_confidence, gender, gender_confidence,
                        neutral, happiness, surprise, anger, sadness, confidence)
SELECT * FROM unnest(
    %(stream_id)s::bigint[], %(began_at)s::timestamptz[], %(id)s::uuid[], %(revision)s::int[], %(ended)s::boolean[],
    %(session)s::text[], %(present)s::tstzmultirange[], %(still)s::tstzmultirange[], %(looking)s::tstzmultirange[],
    %(age)s::real[], %(age_confidence)s::real[], %(gender)s::text[], %(gender_confidence)s::real[],
    %(neutral)s::real[], %(happiness)s::real[], %(surprise)s::real[], %(anger)s::real[], %(sadness)s::real[],
    %(confidence)s::real[]) AS given (stream_id, began_at, id)
ORDER BY stream_id, began_at, id
ON CONFLICT (stream_id, began_at, id) DO UPDATE SET
    revision = excluded.revision, ended = excluded.ended, session = excluded.session,
    present = excluded.present, still = excluded.still, looking = excluded.looking,
    age = excluded.age, age_confidence = excluded.age_confidence,
    gender = excluded.gender, gender_confidence = excluded.gender_confidence,
    neutral = excluded.neutral, happiness = excluded.happiness, surprise = excluded.surprise,
    anger = excluded.anger, sadness = excluded.sadness, confidence = excluded.confidence, written_at = now()
WHERE bare_visit.revision < excluded.revision
"""


@dataclass(frozen=True)
class Round:
    """What it took until all was written and no slot waited to be filled."""

    wall_s: float
    cpu_s: float


class _Recorder:
    """A process's own connections, and the batches of messages that it is to write."""

    def __init__(self, url: str) -> None:
        self.batches: list[list[bytes]] = []
        self._loop = asyncio.new_event_loop()
        self._pool = open_pool(Settings(database_url=url))
        self._loop.run_until_complete(self._pool.open())

    def write(self, *, bare: bool) -> None:
        self._loop.run_until_complete(self._write_bare() if bare else self._write_whole())

    async def _write_whole(self) -> None:
        """As in the product, with slots filled beside it; at the end all of them."""
        filling = asyncio.ensure_future(_fill_for_ever(self._pool))
        writer = VisitWriter(self._pool, Partitions(self._pool))
        for batch in self.batches:
            assert not await writer.write(map(decode_visit, batch))
        filling.cancel()
        await asyncio.wait([filling])
        while await fill_slots(self._pool, due_s=0):
            pass

    async def _write_bare(self) -> None:
        for batch in self.batches:
            columns = columns_of(newest_of(map(decode_visit, batch)))
            async with self._pool.connection() as connection:
                await connection.execute(BARE_UPSERT, columns)


async def _fill_for_ever(pool: Pool) -> None:
    while True:
        if not await fill_slots(pool, due_s=DUE_S):
            await asyncio.sleep(LOOK_EVERY_S)


_recorder: _Recorder


def _open(url: str) -> None:
    global _recorder  # noqa: PLW0603
    _recorder = _Recorder(url)


def _take(batches: list[list[bytes]]) -> None:
    _recorder.batches = batches


def _write(*, bare: bool) -> None:
    _recorder.write(bare=bare)


class Recorders:
    """Some processes that write, each as a recorder does."""

    def __init__(self, world: DataWorld, processes: list[ProcessPoolExecutor]) -> None:
        self._world = world
        self._processes = processes

    def run(self, batches: list[list[bytes]], *, bare: bool) -> Round:
        for number, process in enumerate(self._processes):
            process.submit(_take, batches[number :: len(self._processes)]).result()
        before, started = self._cpu_by_process(), time.perf_counter()
        for begun in [process.submit(_write, bare=bare) for process in self._processes]:
            begun.result()
        wall_s = time.perf_counter() - started
        used = {pid: seconds - before.get(pid, 0.0) for pid, seconds in self._cpu_by_process().items()}
        return Round(wall_s, sum(used.values()))

    def _cpu_by_process(self) -> dict[int, float]:
        """Of those that write, and of all of PostgreSQL."""
        found: dict[int, float] = {}
        server = psutil.Process(self._world.server_pid)
        for process in (*psutil.Process().children(), server, *server.children()):
            with suppress(psutil.NoSuchProcess):
                found[process.pid] = cpu_seconds([process.pid])
        return found


@contextmanager
def running_recorders(world: DataWorld, count: int) -> Iterator[Recorders]:
    spawning = get_context("spawn")
    with ExitStack() as stack:
        made = [ProcessPoolExecutor(1, spawning, _open, (world.url,)) for _ in range(count)]
        yield Recorders(world, [stack.enter_context(one) for one in made])


def draw_messages(streams: Sequence[int], count: int, *, begins_ms: int, lasts_ms: int) -> list[bytes]:
    """So many visits in order of time, each in two revisions, as they come from the bus."""
    drawing = random.Random(begins_ms)
    begins = sorted(begins_ms + drawing.randrange(lasts_ms) for _ in range(count))
    visits = [draw_visit(drawing, drawing.choice(streams), began_ms) for began_ms in begins]
    firsts = (msgspec.structs.replace(visit, revision=1, ended=False, present=visit.present[:1]) for visit in visits)
    both = zip_longest(firsts, chain([None] * REVISED_AFTER, visits))
    return [encode_visit(visit) for pair in both for visit in pair if visit]


def draw_visit(drawing: random.Random, stream_id: int, began_ms: int, *, longest_ms: int = LONGEST_MS) -> Visit:
    """An ended one."""
    length = 2_000 + int(longest_ms * drawing.random() ** 3)
    looks, stops = drawing.random() < 0.55, drawing.random() < 0.5
    happy = drawing.random()
    half = began_ms + length // 2
    return Visit(
        id=uuid.UUID(int=drawing.getrandbits(128)).bytes,
        stream_id=stream_id,
        session=f"{stream_id}.scene_analysis-1.{began_ms // 86_400_000:032x}",
        revision=REVISIONS,
        ended=True,
        present=[(began_ms, half), (half + 200, began_ms + length)],
        still=[(began_ms + 500, half)] if stops else [],
        looking=[(began_ms + 800, half), (half + 400, began_ms + length - 200)] if looks else [],
        age=8 + 70 * drawing.random() if looks else None,
        age_confidence=0.8 if looks else 0.0,
        gender=drawing.choice(["male", "female"]) if looks else None,
        gender_confidence=drawing.random() if looks else 0.0,
        expression=(0.8 - 0.8 * happy, 0.7 * happy, 0.3 * happy, 0.1, 0.1) if looks else None,
        confidence=0.9,
    )


class Day:
    """Hours after the world's last day, with as many visits an hour as it had; each message is sent once."""

    def __init__(self, world: DataWorld, *, hourly: float) -> None:
        self._streams = [stream.id for stream in world.streams]
        self._begins_ms = int(world.ends_at.timestamp() * 1000)
        self._hourly = hourly * len(self._streams)

    def draw(self, visits: int) -> list[bytes]:
        begins_ms, lasts_ms = self._begins_ms, int(visits / self._hourly * HOUR_MS)
        self._begins_ms += lasts_ms
        return draw_messages(self._streams, visits, begins_ms=begins_ms, lasts_ms=lasts_ms)


@dataclass(frozen=True)
class Ingest:
    """How fast so many recorders with such batches were, in a typical round."""

    recorders: int
    batch: int
    per_second: float
    """Visits, each written twice, and its slot filled."""
    bare_per_second: float
    ratio: float
    cpu_us: float
    """Of a visit, over all processes."""

    def describe(self) -> str:
        written = f"{self.per_second:6.0f} visits a second ({REVISIONS * self.per_second:.0f} revisions)"
        cost = f"{self.ratio:.2f} of bare upserts, {self.cpu_us:.0f} us CPU a visit"
        return f"{self.recorders} recorders, batches of {self.batch}: {written}, {cost}"


def measure_ingest(world: DataWorld, *, visits: int, rounds: int, hourly: float) -> list[Ingest]:
    """By recorders and batch; `hourly` is how many visits a stream has in an hour."""
    world.execute(BARE_TABLE)
    day = Day(world, hourly=hourly)
    found: list[Ingest] = []
    for recorders in RECORDERS:
        with running_recorders(world, recorders) as running:
            for batch in BATCHES:
                taken = [
                    _run_both(running, day.draw(visits), batch=batch, bare_first=number % 2 == 0)
                    for number in range(rounds)
                ]
                found.append(_typical(taken, recorders=recorders, batch=batch, visits=visits))
                say(f"  {found[-1].describe()}")
    return found


def _run_both(running: Recorders, messages: list[bytes], *, batch: int, bare_first: bool) -> dict[bool, Round]:
    """The same messages both ways, by whether they were bare."""
    batches = [messages[first : first + batch] for first in range(0, len(messages), batch)]
    return {bare: running.run(batches, bare=bare) for bare in (bare_first, not bare_first)}


def _typical(taken: list[dict[bool, Round]], *, recorders: int, batch: int, visits: int) -> Ingest:
    whole_s, bare_s = (statistics.median(one[bare].wall_s for one in taken) for bare in (False, True))
    return Ingest(
        recorders=recorders,
        batch=batch,
        per_second=visits / whole_s,
        bare_per_second=visits / bare_s,
        ratio=statistics.median(one[True].wall_s / one[False].wall_s for one in taken),
        cpu_us=statistics.median(one[False].cpu_s for one in taken) / visits * 1e6,
    )
