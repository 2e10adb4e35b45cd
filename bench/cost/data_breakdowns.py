"""What breakdowns and filters cost beside a statement that an engineer writes over the visits themselves."""

import random
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import isclose
from typing import Any
from zoneinfo import ZoneInfo

from bench.cost.data_queries import opened, time_ms
from bench.cost.data_world import DataWorld
from onlooker.database import Pool
from onlooker.metrics.execution import CELLS, run_query
from onlooker.metrics.query import parse_query
from testkit.worlds.data_reader import WorldStream

SEED = 11
WARM_UP = 3
METRICS = "interested,passing_by,stop_time"
_JUDGED = """
       count(*) FILTER (WHERE longest >= '3 s' AND looked > '1 s') AS interested,
       count(*) FILTER (WHERE seen >= '1 s') AS passing_by,
       avg(extract(epoch FROM stood)) FILTER (WHERE longest >= '3 s' AND looked > '1 s') AS stop_time
FROM visits_visit
CROSS JOIN LATERAL (SELECT sum(upper(part) - lower(part)) AS seen FROM unnest(present) part) presence
CROSS JOIN LATERAL (SELECT sum(upper(part) - lower(part)) AS stood, max(upper(part) - lower(part)) AS longest
                    FROM unnest(still) part) stops
CROSS JOIN LATERAL (SELECT sum(upper(part) - lower(part)) AS looked FROM unnest(looking) part) looks
WHERE stream_id = %(stream_id)s AND began_at >= %(from_at)s AND began_at < %(to_at)s"""
_AGE = "CASE WHEN age_confidence > 0.5 THEN width_bucket(age::float8, ARRAY[0, 15, 25, 35, 45, 55, 65]::float8[]) END"
_GENDER = "CASE WHEN gender_confidence > 0.5 THEN gender END"
_STOP = (
    "width_bucket(extract(epoch FROM coalesce(stood, '0'))::float8, ARRAY[1, 3, 5, 10, 20, 30, 60, 120, 300]::float8[])"
)
_HOUR = "extract(isodow FROM began_at AT TIME ZONE %(zone)s), extract(hour FROM began_at AT TIME ZONE %(zone)s)"


@dataclass(frozen=True)
class Kind:
    """A question, and the same by hand."""

    parameters: dict[str, str]
    by_hand: str


KINDS = {
    "crossed": Kind({"by": "age,gender"}, f"SELECT {_AGE}, {_GENDER}, {_JUDGED} GROUP BY 1, 2"),
    "histogram": Kind({"by": "stop_band"}, f"SELECT {_STOP}, {_JUDGED} GROUP BY 1"),
    "heat_map": Kind({"by": "weekday,hour_of_day"}, f"SELECT {_HOUR}, {_JUDGED} GROUP BY 1, 2"),
    "filtered": Kind({"filter": "gender:female"}, f"SELECT {_JUDGED} AND {_GENDER} = 'female'"),
}


@dataclass(frozen=True)
class _Asked:
    """One question of a stream over some days, from midnight to midnight: nobody is there then."""

    kind: Kind
    stream: WorldStream
    from_at: datetime
    to_at: datetime

    async def ask(self, pool: Pool) -> dict[str, Any]:
        dates = {"from_date": self.from_at.isoformat(), "to_date": self.to_at.isoformat()}
        parameters = {"metrics": METRICS, **dates, **self.kind.parameters}
        query, page = parse_query(
            parameters, stream_id=self.stream.id, time_zone=self.stream.zone, now=datetime.now(UTC)
        )
        return dict((await run_query(pool, query, page)).entities["global"])

    async def ask_by_hand(self, pool: Pool) -> list[dict[str, Any]]:
        values = {"stream_id": self.stream.id, "zone": self.stream.zone, "from_at": self.from_at, "to_at": self.to_at}
        async with pool.connection() as connection:
            return await (await connection.execute(self.kind.by_hand, values, prepare=True)).fetchall()

    async def check(self, pool: Pool) -> None:
        """Both must find the same cells, in whatever order."""
        bucket, rows = await self.ask(pool), await self.ask_by_hand(pool)
        ours = sorted(map(_numbers_of, bucket.get(CELLS, [bucket])))
        by_hand = sorted((row["interested"], row["passing_by"], float(row["stop_time"] or 0)) for row in rows)
        ours, by_hand = ([row for row in one if any(row)] for one in (ours, by_hand))
        same = len(ours) == len(by_hand) and all(
            isclose(a, b, abs_tol=1e-5)
            for one, other in zip(ours, by_hand, strict=True)
            for a, b in zip(one, other, strict=True)
        )
        assert same, f"{self}: {ours}, by hand {by_hand}"


def _numbers_of(cell: dict[str, Any]) -> tuple[float, float, float]:
    interested, passing_by, stop_time = (cell[name]["value"] or 0 for name in METRICS.split(","))
    return interested, passing_by, stop_time


def _draw(world: DataWorld, kind: Kind) -> Iterator[_Asked]:
    drawing = random.Random(SEED)
    while True:
        stream = drawing.choice(world.streams)
        midnight = world.begins_at.replace(tzinfo=ZoneInfo(stream.zone))
        first, last = sorted(drawing.sample(range(world.days + 1), 2))
        yield _Asked(kind, stream, midnight + timedelta(days=first), midnight + timedelta(days=last))


async def measure_breakdowns(world: DataWorld, *, queries: int) -> dict[str, float]:
    """By kind, how many times as long as by hand it takes: the median of the same questions, in turns."""
    ratios: dict[str, list[float]] = {name: [] for name in KINDS}
    asking = {name: _draw(world, kind) for name, kind in KINDS.items()}
    async with opened({"world": world}) as pools:
        for number in range(queries + WARM_UP):
            for name in KINDS:
                asked, pool = next(asking[name]), pools["world"]
                if number < WARM_UP:
                    await asked.check(pool)
                    continue
                await asked.ask_by_hand(pool)  # so that neither has to read from the disk what the other then finds
                ours_first = number % 2 == 0
                ours = await time_ms(asked.ask(pool)) if ours_first else 0.0
                by_hand = await time_ms(asked.ask_by_hand(pool))
                ours = ours or await time_ms(asked.ask(pool))
                ratios[name].append(ours / by_hand)
    return {name: statistics.median(found) for name, found in ratios.items()}
