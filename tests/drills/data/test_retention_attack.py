"""An attacker with a token who asks as often as they like finds a deleted visit's slot, and nothing finer."""

import asyncio
import random
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from itertools import pairwise
from typing import Any

from onlooker.metrics.definitions import METRICS
from onlooker.metrics.rollup import fill_slots
from onlooker.visits.partitions import Partitions
from onlooker.visits.retention import remove_expired
from onlooker.visits.writer import VisitWriter
from onlooker_pipeline.visits.visit import Visit
from testkit.worlds.clocks import moment_at, unix_s
from testkit.worlds.data_reader import DataReader, WorldStream, open_reader

pytest_plugins = ["migrated"]

TOLD_TO = 1e-6
"""The digits that an answer has of a mean."""
VISITS = 40
STREAMS = 8
AT_ONCE = 4
BESIDE_SHARE = 0.2
"""Of the visits, of which also the slot before or after is looked through."""
HOURS_OF_MONROVIA = (3, 7, 12)
HOURS = (*HOURS_OF_MONROVIA * 2, 60)
"""Between both ends of a range; of sixty hours there are two pages."""
TIMES = ("global", "by_hour", "by_day", "by_hour", "by_day", "by_quarter_hour", "by_week", "by_month")
MS, SLOT, HOUR = 1_000, 900_000_000, 3_600_000_000
"""In microseconds."""
ERA = ("2026-02-10T00:00", "2026-03-10T00:00")
ERA_OF_MONROVIA = ("1972-01-02T00:00", "1972-01-06T00:00")
"""Its hours began in the middle of a slot, at 44 minutes and 30 seconds."""
RETENTION_DAYS = 30
NOW_S = unix_s("2026-04-15T00:00")
"""February is dropped as a month; of March visits are deleted."""
MONTHS = (date(1972, 1, 1), date(2026, 2, 1), date(2026, 3, 1))
ZONES = ("UTC", "Europe/Paris", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Chatham", "America/St_Johns")
MONROVIA = "Africa/Monrovia"
LENGTHS_S = ((1, 60), (1, 60), (1, 60), (60, 1800), (1800, 40_000))

Sight = tuple[list[bool], dict[str, Any]]
"""Of each page whether it is exact, and all buckets in which somebody is."""


@dataclass
class Found:
    """What the attacker has learned."""

    queries: int = 0
    slots: int = 0
    """Visits of which the slot was found."""
    moments: list[str] = field(default_factory=list)
    """Changes of an answer inside a slot."""
    sums: list[float] = field(default_factory=list)
    """Seconds and hundredths that are not whole."""


@dataclass(frozen=True)
class Attack:
    """On one visit of which slots are known: where each of its moments would be looked for."""

    reader: DataReader
    stream: WorldStream
    visit: Visit
    draw: random.Random
    found: Found

    async def run(self) -> None:
        begins_us, ends_us = (MS * edge // SLOT * SLOT for edge in (self.visit.began_ms, self.visit.present[-1][1]))
        await self._find_slot(begins_us)
        beside = {ends_us + self.draw.choice((-SLOT, SLOT))} if self.draw.random() < BESIDE_SHARE else set()
        for slot_us in sorted({begins_us, ends_us} | beside):
            for moves_from in (True, False):
                await self._look_inside(slot_us, moves_from=moves_from)

    async def _find_slot(self, slot_us: int) -> None:
        """A range that begins with the slot has the visit, one that begins later has not: this much may be known."""
        whole, cut = [await self._see(edge, slot_us + SLOT, "global", "UTC") for edge in (slot_us, slot_us + 1)]
        self.found.slots += whole != cut
        self._add_up(whole[1].get("global"))

    def _add_up(self, values: dict[str, Any] | None) -> None:
        """The sums of the slot, of which most have a single visit."""
        if values and values["interested"]["value"]:
            interested, unread = values["interested"]["value"], values["emotion"]["?"]
            sums = [values[name]["value"] * interested for name in ("stop_time", "attention_time")]
            sums.append(100 * (values["satisfaction"]["value"] or 0) * (interested - unread))
            # A mean is told with six digits, so a sum that is made of it is as rough as there are people in it.
            rough = [interested * TOLD_TO, interested * TOLD_TO, 100 * interested * TOLD_TO]
            self.found.sums += [one for one, apart in zip(sums, rough, strict=True) if abs(one - round(one)) > apart]

    async def _look_inside(self, slot_us: int, *, moves_from: bool) -> None:
        """Move one end of a range through a slot; where the answer changes on the way, find out when."""
        time, zone = self.draw.choice(TIMES), self.draw.choice((*ZONES, self.stream.zone))
        hours = self.draw.choice(HOURS_OF_MONROVIA if self.stream.zone == MONROVIA else HOURS)
        other_us = (slot_us // HOUR + (1 + hours if moves_from else -hours)) * HOUR

        async def see(at_us: int) -> Sight:
            return await self._see(*((at_us, other_us) if moves_from else (other_us, at_us)), time, zone)

        moments = [slot_us + 1, self._moment_in(slot_us), slot_us + SLOT - 1]
        sights = [await see(moment) for moment in moments]
        for before, after in pairwise(zip(moments, sights, strict=True)):
            if before[1] != after[1]:
                self.found.moments.append(await _find_change(see, *before, after[0]))

    def _moment_in(self, slot_us: int) -> int:
        """While the person was there, if they were: no luck is needed."""
        began_us, left_us = (MS * edge for edge in self.visit.present[0])
        low, high = max(slot_us + 2, began_us), min(slot_us + SLOT - 2, left_us)
        return self.draw.randrange(low, high) if low < high else slot_us + self.draw.randrange(2, SLOT - 2)

    async def _see(self, from_us: int, to_us: int, time: str, zone: str) -> Sight:
        parameters = {"from_date": _written(from_us), "to_date": _written(to_us), "time": time, "tz": zone}
        bodies = await self.reader.walk(self.stream, parameters | {"metrics": ",".join(METRICS)})
        self.found.queries += len(bodies)
        buckets = [bucket for body in bodies for bucket in body["entities"].items()]
        return [body.get("exact", True) for body in bodies], {key: one for key, one in buckets if _has_people(one)}


async def _find_change(see: Callable[[int], Awaitable[Sight]], low_us: int, before: Sight, high_us: int) -> str:
    """By halves, to the millisecond."""
    while high_us - low_us > MS:
        middle_us = (low_us + high_us) // 2
        low_us, high_us = (middle_us, high_us) if await see(middle_us) == before else (low_us, middle_us)
    return moment_at(high_us).isoformat()


def _written(at_us: int) -> str:
    return moment_at(at_us).replace(tzinfo=None).isoformat() + "Z"


def _has_people(values: dict[str, dict[str, float | None]]) -> bool:
    return any(number for value in values.values() for number in value.values())


def random_visit(stream: WorldStream, draw: random.Random) -> Visit:
    """Most are short and interested; some last for hours."""
    begins, ends = (1000 * unix_s(edge) for edge in (ERA_OF_MONROVIA if stream.zone == MONROVIA else ERA))
    start = draw.randrange(begins, ends)
    length = draw.randrange(*(1000 * edge for edge in draw.choice(LENGTHS_S)))
    still, look = (sorted(start + draw.randrange(length + 1) for _ in range(2)) for _ in range(2))
    shares = [draw.random() for _ in range(5)]
    return Visit(
        id=uuid.UUID(int=draw.getrandbits(128)).bytes,
        stream_id=stream.id,
        session="attack",
        revision=1,
        ended=True,
        present=[(start, start + length)],
        still=[(still[0], still[1])] if still[0] < still[1] else [],
        looking=[(look[0], look[1])] if look[0] < look[1] else [],
        age=draw.choice((None, 30.0)),
        age_confidence=draw.random(),
        gender="female",
        gender_confidence=draw.random(),
        expression=draw.choice((None, tuple(share / sum(shares) for share in shares))),
    )


async def write_and_delete(reader: DataReader, visits: Sequence[Visit]) -> None:
    """As recorders do."""
    partitions = Partitions(reader.pool)
    for month in MONTHS:
        await partitions.require({month}, datetime(month.year, month.month, 1, tzinfo=UTC).timestamp())
    assert await VisitWriter(reader.pool, partitions).write(visits) == []
    while await fill_slots(reader.pool, due_s=0):
        pass
    await remove_expired(reader.pool, partitions, now=NOW_S)
    query = """SELECT (SELECT count(*) FROM visits_visit)::int AS visits,
                      (SELECT sum(passing_by) FROM metrics_slot)::int AS people,
                      to_regclass('visits_visit_y2026m02')::text AS february,
                      to_regclass('visits_visit_y2026m03')::text AS march"""
    async with reader.pool.connection() as connection:
        row = await (await connection.execute(query)).fetchone()
    assert row == {"visits": 0, "people": len(visits), "february": None, "march": "visits_visit_y2026m03"}


async def attack_all(url: str, draw: random.Random) -> Found:
    zones = [draw.choice(ZONES) for _ in range(STREAMS - 3)] + [MONROVIA] * 3
    found, places = Found(), asyncio.Semaphore(AT_ONCE)
    async with open_reader(url) as reader:
        streams = await reader.make_streams(zones, retention_days=RETENTION_DAYS)
        chosen = [draw.choice(streams) for _ in range(VISITS)]
        visits = [random_visit(stream, draw) for stream in chosen]
        await write_and_delete(reader, visits)

        async def attack(stream: WorldStream, visit: Visit) -> None:
            async with places:
                await Attack(reader, stream, visit, draw, found).run()

        await asyncio.gather(*(attack(*pair) for pair in zip(chosen, visits, strict=True)))
    return found


def test_no_deleted_visit_is_located_finer_than_its_slot(url: str) -> None:
    seed = random.randrange(2**32)
    found = asyncio.run(attack_all(url, random.Random(seed)))
    print(f"seed {seed}, {found.queries} queries")
    assert found.slots == VISITS
    assert not found.moments, f"{len(found.moments)} moments inside a slot, such as {found.moments[:5]}"
    assert not found.sums, f"{len(found.sums)} sums that are not whole, such as {found.sums[:5]}"
