"""What is asked of a stream's numbers, and the same numbers by a statement that an engineer writes over the roll-up."""

import random
import statistics
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from math import isclose
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from bench.cost.data_world import DataWorld
from bench.lib.product import say
from onlooker.database import Pool, open_pool
from onlooker.metrics.buckets import count_buckets, page_buckets
from onlooker.metrics.definitions import DIGITS, METRICS
from onlooker.metrics.execution import run_query
from onlooker.metrics.query import PAGE_BUCKETS, Query, Time, parse_query
from onlooker.settings import Settings
from testkit.worlds.data_reader import DataReader, WorldStream, open_reader

# The columns are in the order of the metrics and of their parts.
_SUMS = """
       sum(passing_by) AS passing_by, sum(interested) AS interested,
       sum(still_us) / 1e6 / nullif(sum(interested), 0) AS stop_time,
       sum(looking_us) / 1e6 / nullif(sum(interested), 0) AS attention_time,
       sum(senior_female) AS senior_female, sum(senior_male) AS senior_male,
       sum(young_female) AS young_female, sum(young_male) AS young_male,
       sum(gender_unknown) AS gender_unknown, sum(gender_female) AS gender_female, sum(gender_male) AS gender_male,
       sum(balance) / 1e9 / nullif(sum(balance_of), 0) AS satisfaction,
       sum(age_0_14) AS age_0_14, sum(age_15_24) AS age_15_24, sum(age_25_34) AS age_25_34,
       sum(age_35_44) AS age_35_44, sum(age_45_54) AS age_45_54, sum(age_55_64) AS age_55_64,
       sum(age_65_up) AS age_65_up, sum(age_unknown) AS age_unknown,
       sum(emotion_neutral) AS emotion_neutral, sum(emotion_happiness) AS emotion_happiness,
       sum(emotion_surprise) AS emotion_surprise, sum(emotion_anger) AS emotion_anger,
       sum(emotion_sadness) AS emotion_sadness, sum(emotion_unknown) AS emotion_unknown, sum(stopped) AS stopped
FROM metrics_slot
WHERE stream_id = %(stream_id)s AND slot_at >= %(from_at)s AND slot_at < %(to_at)s"""

BY_HAND = {
    Time.BY_QUARTER_HOUR: f"SELECT slot_at AS bucket,{_SUMS} GROUP BY 1 ORDER BY 1",
    Time.BY_HOUR: f"SELECT date_trunc('hour', slot_at, %(zone)s) AS bucket,{_SUMS} GROUP BY 1 ORDER BY 1",
    Time.BY_DAY: f"SELECT date_trunc('day', slot_at, %(zone)s) AS bucket,{_SUMS} GROUP BY 1 ORDER BY 1",
    Time.BY_WEEK: f"SELECT date_trunc('week', slot_at, %(zone)s) AS bucket,{_SUMS} GROUP BY 1 ORDER BY 1",
    Time.BY_MONTH: f"SELECT date_trunc('month', slot_at, %(zone)s) AS bucket,{_SUMS} GROUP BY 1 ORDER BY 1",
    Time.GLOBAL: f"SELECT 'global' AS bucket,{_SUMS}",
}


@dataclass(frozen=True)
class NumbersQuery:
    """A page of all metrics of a stream, as the endpoint gets it."""

    stream: WorldStream
    parameters: dict[str, str]

    def parse(self) -> tuple[Query, int]:
        stream = self.stream
        return parse_query(self.parameters, stream_id=stream.id, time_zone=stream.zone, now=datetime.now(UTC))

    async def ask(self, pool: Pool) -> dict[str, Any]:
        """As the data endpoint does, from the parameters on."""
        query, page = self.parse()
        return (await run_query(pool, query, page)).entities

    async def request(self, reader: DataReader) -> dict[str, Any]:
        """The whole request, within this process."""
        return await reader.get(self.stream, urlencode(self.parameters))

    def with_quality(self) -> "NumbersQuery":
        """The same page with how much was watched, and how well."""
        return replace(self, parameters=self.parameters | {"metrics": f"{self.parameters['metrics']},watched,quality"})

    def by_hand(self) -> "ByHand":
        query, page = self.parse()
        edges = page_buckets(query, first=(page - 1) * PAGE_BUCKETS, count=PAGE_BUCKETS).edges
        values = {"stream_id": self.stream.id, "zone": self.stream.zone}
        values |= {"from_at": max(edges[0], query.from_at), "to_at": min(edges[-1], query.to_at)}
        return ByHand(BY_HAND[query.time], values)


@dataclass(frozen=True)
class ByHand:
    """The same, put by somebody who has the database at hand and does not mind the edges of slots."""

    statement: str
    values: dict[str, Any]

    async def ask(self, pool: Pool) -> list[dict[str, Any]]:
        async with pool.connection() as connection:
            return await (await connection.execute(self.statement, self.values, prepare=True)).fetchall()


async def check_agreement(pool: Pool, asked: NumbersQuery) -> int:
    """Both must find the same where no edge cuts a slot and no visit lies across an end; says in how many buckets."""
    zone = ZoneInfo(asked.stream.zone)
    by_hand = {_key(row.pop("bucket"), zone): list(row.values()) for row in await asked.by_hand().ask(pool)}
    for key, metrics in (await asked.ask(pool)).items():
        numbers = [number for metric in metrics.values() for number in metric.values()]
        expected = by_hand.get(key, [None] * len(numbers))
        agree = all(
            isclose(a or 0, b or 0, rel_tol=1e-9, abs_tol=10**-DIGITS) for a, b in zip(numbers, expected, strict=True)
        )
        assert agree, f"{asked}: {key} has {numbers}, by hand {expected}"
    return len(by_hand)


def _key(bucket: datetime | str, zone: ZoneInfo) -> str:
    return bucket if isinstance(bucket, str) else bucket.astimezone(zone).isoformat(timespec="seconds")


class Asking:
    """Draws pages for random streams."""

    def __init__(self, world: DataWorld, *, seed: int) -> None:
        self._world = world
        self._drawing = random.Random(seed)

    def draw(self, time: Time) -> NumbersQuery:
        """A range of all days, or of 2 to 30 for hours and their quarters, from any moment to any; any of its pages."""
        from_at = self._world.begins_at + self._moment()
        lasts = timedelta(days=self._world.days)
        if time.is_short:
            from_at += timedelta(days=self._drawing.randrange(max(1, self._world.days - 30)))
            lasts = timedelta(hours=self._drawing.randrange(48, 720)) + self._moment()
        return self._page(self._drawing.choice(self._world.streams), time, between=(from_at, from_at + lasts))

    def draw_days(self, time: Time) -> NumbersQuery:
        """From midnight to midnight: no shop is open then, so no visit lies across an end."""
        stream = self._drawing.choice(self._world.streams)
        midnight, days = self._world.begins_at.replace(tzinfo=ZoneInfo(stream.zone)), range(self._world.days + 1)
        first, last = sorted(self._drawing.sample(days, 2))
        return self._page(stream, time, between=(midnight + timedelta(days=first), midnight + timedelta(days=last)))

    def _page(self, stream: WorldStream, time: Time, *, between: tuple[datetime, datetime]) -> NumbersQuery:
        from_at, to_at = between
        parameters = {"metrics": ",".join(METRICS), "time": time.value}
        parameters |= {"from_date": from_at.isoformat(), "to_date": to_at.isoformat()}
        query, _ = NumbersQuery(stream, parameters).parse()
        pages = -(-count_buckets(query) // PAGE_BUCKETS)
        return NumbersQuery(stream, parameters | {"page": str(self._drawing.randint(1, pages))})

    def _moment(self) -> timedelta:
        """Some time of a day: a whole hour, a whole minute, or any millisecond."""
        unit_ms = self._drawing.choice([3_600_000, 60_000, 1])
        return timedelta(milliseconds=self._drawing.randrange(0, 86_400_000, unit_ms))


AGREEMENTS = 20
SAID_EVERY = 50
WARM_UP = 10
COUNTED = ("passing_by", "interested")
SEED = 7


@dataclass
class Times:
    """Milliseconds that queries of one kind took, in turns."""

    ours: list[float] = field(default_factory=list)
    by_hand: list[float] = field(default_factory=list)
    request: list[float] = field(default_factory=list)
    """The whole request, within this process: routing, token, query, JSON."""
    request_with_quality: list[float] = field(default_factory=list)
    """The same pages with `watched` and `quality`."""

    @property
    def quality_ratio(self) -> float:
        """Of each page with `watched` and `quality` to the same page without, the median."""
        pairs = zip(self.request_with_quality, self.request, strict=True)
        return statistics.median(quality / plain for quality, plain in pairs)

    def ratio(self, rank: int) -> float:
        return percentile(self.ours, rank) / percentile(self.by_hand, rank)


def percentile(values: list[float], rank: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[rank - 1]


Measured = dict[Time, Times]


@asynccontextmanager
async def opened(worlds: dict[str, DataWorld]) -> AsyncIterator[dict[str, Pool]]:
    """A pool for each."""
    pools = {name: open_pool(Settings(database_url=world.url)) for name, world in worlds.items()}
    try:
        for pool in pools.values():
            await pool.open()
        yield pools
    finally:
        for pool in pools.values():
            await pool.close()


async def measure(worlds: dict[str, DataWorld], *, queries: int) -> dict[str, Measured]:
    """By world and kind of query. All in turns, so that the machine's mood hits all alike."""
    times = {name: {kind: Times() for kind in Time} for name in worlds}
    asking = {name: Asking(world, seed=SEED) for name, world in worlds.items()}
    async with opened(worlds) as pools:
        for name, pool in pools.items():
            await _check(pool, asking[name])
        for number in range(queries):
            for kind in Time:
                for name, pool in pools.items():
                    await _time_both(pool, asking[name].draw(kind), times[name][kind], ours_first=number % 2 == 0)
            if (number + 1) % SAID_EVERY == 0:
                say(f"  {number + 1} of {queries} queries of each kind")
    return times


async def _check(pool: Pool, asking: Asking) -> None:
    """That both sides find the same; it warms them up as well."""
    buckets = [await check_agreement(pool, asking.draw_days(kind)) for kind in Time for _ in range(AGREEMENTS)]
    assert sum(buckets), "nothing was compared"


async def _time_both(pool: Pool, asked: NumbersQuery, times: Times, *, ours_first: bool) -> None:
    """The first to run finds less in memory, so they take turns at it."""
    by_hand = asked.by_hand()
    if ours_first:
        times.ours.append(await time_ms(asked.ask(pool)))
    times.by_hand.append(await time_ms(by_hand.ask(pool)))
    if not ours_first:
        times.ours.append(await time_ms(asked.ask(pool)))


async def time_ms(asking: Awaitable[Any]) -> float:
    started = time.perf_counter()
    await asking
    return (time.perf_counter() - started) * 1000


async def measure_groups(singly: DataWorld, grouped: DataWorld, *, queries: int) -> dict[Time, float]:
    """How many times as long a page takes where people are told about in groups: the median of the same pages."""
    ratios: dict[Time, list[float]] = {kind: [] for kind in Time}
    asking = [Asking(world, seed=SEED + 2) for world in (singly, grouped)]
    async with opened({"singly": singly, "grouped": grouped}) as pools:
        for number in range(queries + WARM_UP):
            for kind in Time:
                pages = [(one.draw(kind), pool) for one, pool in zip(asking, pools.values(), strict=True)]
                taken = [0.0, 0.0]
                for place in (0, 1) if number % 2 else (1, 0):
                    page, pool = pages[place]
                    taken[place] = await time_ms(page.ask(pool))
                if number < WARM_UP:
                    await _check_counts(pages)
                else:
                    ratios[kind].append(taken[1] / taken[0])
    return {kind: statistics.median(found) for kind, found in ratios.items()}


async def _check_counts(pages: list[tuple[NumbersQuery, Pool]]) -> None:
    """Groups change nothing of who was there; and somebody is told about."""
    plain, grouped = [await page.ask(pool) for page, pool in pages]
    for key, values in plain.items():
        assert [values[name] for name in COUNTED] == [grouped[key][name] for name in COUNTED], key


async def measure_requests(world: DataWorld, measured: Measured, *, queries: int) -> None:
    """Whole requests, without and with `watched` and `quality`, which take turns at being first."""
    asking = Asking(world, seed=SEED + 1)
    async with open_reader(world.url) as reader:
        for kind, times in measured.items():
            for number in range(queries):
                asked = asking.draw(kind)
                turns = [(asked, times.request), (asked.with_quality(), times.request_with_quality)]
                for page, taken in turns if number % 2 else turns[::-1]:
                    taken.append(await time_ms(page.request(reader)))
