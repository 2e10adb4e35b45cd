"""Visits a second into the database, with marks and roll-up, beside bare upserts of the same rows."""

import random
import statistics
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

import msgspec

from bench.data_recorders import BARE_TABLE, Recorders, Round, running_recorders
from bench.data_world import World
from bench.product import say
from onlooker.visits.visit import Visit, encode_visit

RECORDERS = (1, 2)
"""Processes at a time."""
BATCHES = (200, 500)
"""The setting's default, and a larger one."""
REVISIONS = 2
"""How often a visit is written: while the person is there, and when they have gone."""
REVISED_AFTER = 1000
"""So many other visits begin in between: the two are never in one batch, of which only the last would be written."""
HOUR_MS = 3_600_000


def draw_messages(streams: Sequence[int], count: int, *, begins_ms: int, lasts_ms: int) -> list[bytes]:
    """So many visits in order of time, each in two revisions, as they come from the bus."""
    drawing = random.Random(begins_ms)
    begins = sorted(begins_ms + drawing.randrange(lasts_ms) for _ in range(count))
    visits = [_draw_visit(drawing, drawing.choice(streams), began_ms) for began_ms in begins]
    firsts = (msgspec.structs.replace(visit, revision=1, ended=False, present=visit.present[:1]) for visit in visits)
    both = zip_longest(firsts, chain([None] * REVISED_AFTER, visits))
    return [encode_visit(visit) for pair in both for visit in pair if visit]


def _draw_visit(drawing: random.Random, stream_id: int, began_ms: int) -> Visit:
    length = 2_000 + int(118_000 * drawing.random() ** 3)
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

    def __init__(self, world: World, *, hourly: float) -> None:
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


def measure_ingest(world: World, *, visits: int, rounds: int, hourly: float) -> list[Ingest]:
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
