"""Processes that write visits: as recorders do, with marks and roll-up, or as bare upserts of the same rows."""

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context

import msgspec
import psutil

from bench.cpu import cpu_seconds
from bench.data_world import World
from onlooker.database import Pool, open_pool
from onlooker.metrics.rollup import fill_slots
from onlooker.settings import Settings
from onlooker.visits.partitions import Partitions
from onlooker.visits.visit import decode_visit
from onlooker.visits.writing import VisitWriter, newest_of, row_of

DUE_S = 2.0
"""A slot passes in some seconds here, so it is filled sooner than in the product."""
LOOK_EVERY_S = 0.2

BARE_TABLE = """
CREATE TABLE bare_visit (LIKE visits_visit INCLUDING ALL, FOREIGN KEY (stream_id) REFERENCES streams_stream (id))
WITH (fillfactor = 80)
"""
BARE_UPSERT = """
INSERT INTO bare_visit (stream_id, began_at, id, revision, ended, session, present, still, looking,
                        age, age_confidence, gender, gender_confidence,
                        neutral, happiness, surprise, anger, sadness, confidence)
SELECT * FROM json_to_recordset(%(visits)s::json) AS given (
    stream_id bigint, began_at timestamptz, id uuid, revision int, ended boolean, session text,
    present tstzmultirange, still tstzmultirange, looking tstzmultirange,
    age real, age_confidence real, gender text, gender_confidence real,
    neutral real, happiness real, surprise real, anger real, sadness real, confidence real)
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
            rows = msgspec.json.encode([row_of(visit) for visit in newest_of(map(decode_visit, batch))])
            async with self._pool.connection() as connection:
                await connection.execute(BARE_UPSERT, {"visits": rows.decode()})


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

    def __init__(self, world: World, processes: list[ProcessPoolExecutor]) -> None:
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
def running_recorders(world: World, count: int) -> Iterator[Recorders]:
    spawning = get_context("spawn")
    with ExitStack() as stack:
        made = [ProcessPoolExecutor(1, spawning, _open, (world.url,)) for _ in range(count)]
        yield Recorders(world, [stack.enter_context(one) for one in made])
