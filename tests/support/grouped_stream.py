"""A stream that tells about people in groups, and people who are interested in one of its slots."""

import uuid
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import psycopg

from onlooker.database import Pool
from onlooker.metrics.execution import Answer, run_query
from onlooker.metrics.query import Query, Time
from onlooker.metrics.rollup import fill_slots
from onlooker.slots import SLOT
from onlooker.visits.partitions import Partitions
from onlooker.visits.writer import VisitWriter
from onlooker_pipeline.visits.visit import Visit
from recorder_process import create_stream, visit, with_pool

DAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=3)
NEXT_DAY = DAY + timedelta(days=1)
OVER = NEXT_DAY + timedelta(minutes=2)
"""When the day's last slot is ready, unless something else is missing."""
ABOUT = ("interested", "stop_time", "category", "gender", "satisfaction", "age", "emotion")
HAPPY = (0.0, 1.0, 0.0, 0.0, 0.0)


def slot(number: int) -> datetime:
    """Of the day's 96."""
    return DAY + number * SLOT


@dataclass(frozen=True)
class GroupedStream:
    """Its database, its number, and what tests do with it."""

    url: str
    id: int

    @classmethod
    def create(cls, url: str, *, groups_of: int = 1, retention_days: int = 365, **settings: object) -> "GroupedStream":
        stream = cls(url, create_stream(url, retention_days=retention_days))
        for name, value in ({"groups_of": groups_of} | settings).items():
            stream.set(name, value)
        return stream

    def set(self, name: str, value: object) -> None:
        self.read(f"UPDATE streams_stream SET {name} = %s WHERE id = {self.id} RETURNING 1", value)

    def read(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(query, values)
            return cursor.fetchall() if cursor.description else []

    def blocks(self) -> list[tuple[datetime, datetime, int]]:
        """Where each begins and ends, and how many people it tells about."""
        return self.read(f"SELECT begins_at, ends_at, told FROM metrics_block WHERE stream_id = {self.id} ORDER BY 1")

    def blocked_until(self) -> datetime | None:
        rows = self.read(f"SELECT blocked_until FROM metrics_blockprogress WHERE stream_id = {self.id}")
        return rows[0][0] if rows else None

    def person(self, number: int, gender: str = "female", *, lasts_s: float = 5.5, **changes: Any) -> Visit:
        """Somebody who begins five minutes into a slot, stands still, looks, and is happy."""
        start = round((slot(number) + timedelta(minutes=5)).timestamp() * 1000)
        part = [(start, start + round(lasts_s * 1000))]
        given: dict[str, Any] = {"gender": gender, "gender_confidence": 0.9, "expression": HAPPY}
        given |= {"present": part, "still": part, "looking": part, "id": uuid.uuid4().bytes}
        return visit(self.id, began_ms=start, revision=5, **(given | changes))

    def people(self, counts: dict[int, int]) -> list[Visit]:
        """So many people in each of some slots: every third a man."""
        genders = ("female", "female", "male")
        drawn = [number for number, count in sorted(counts.items()) for _ in range(count)]
        return [self.person(number, genders[place % 3]) for place, number in enumerate(drawn)]

    def run(self, act: Callable[[Pool], Coroutine[Any, Any, None]]) -> None:
        with_pool(self.url, act)

    async def write(self, pool: Pool, visits: Sequence[Visit], *, fill: bool = True) -> None:
        assert await VisitWriter(pool, Partitions(pool)).write(visits) == []
        if fill:
            await fill_slots(pool, due_s=0)

    async def ask(
        self,
        pool: Pool,
        from_at: datetime = DAY,
        to_at: datetime = NEXT_DAY,
        *,
        time: Time = Time.GLOBAL,
        grid: bool = False,
    ) -> Answer:
        query = Query(self.id, ABOUT, from_at, to_at, ZoneInfo("UTC"), time)
        return await run_query(pool, query.on_grid() if grid else query)

    async def genders(self, pool: Pool, from_at: datetime = DAY, to_at: datetime = NEXT_DAY) -> tuple[Any, ...]:
        """How many are unknown, women and men."""
        return tuple((await self.ask(pool, from_at, to_at)).entities["global"]["gender"].values())
