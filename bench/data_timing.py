"""How long answers take: through our own query, by hand, and as whole requests."""

import statistics
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from bench.data_asking import Asked, Asking, check_agreement
from bench.data_world import World
from bench.product import say
from onlooker.database import Pool, open_pool
from onlooker.metrics.query import Time
from onlooker.settings import Settings
from onlooker.testing.worlds.reading import open_reader

AGREEMENTS = 20
SAID_EVERY = 50
SEED = 7


@dataclass
class Times:
    """Milliseconds that queries of one kind took, in turns."""

    ours: list[float] = field(default_factory=list)
    by_hand: list[float] = field(default_factory=list)
    request: list[float] = field(default_factory=list)
    """The whole request, within this process: routing, token, query, JSON."""

    def ratio(self, rank: int) -> float:
        return percentile(self.ours, rank) / percentile(self.by_hand, rank)


def percentile(values: list[float], rank: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[rank - 1]


Measured = dict[Time, Times]


@asynccontextmanager
async def _opened(worlds: dict[str, World]) -> AsyncIterator[dict[str, Pool]]:
    """A pool for each."""
    pools = {name: open_pool(Settings(database_url=world.url)) for name, world in worlds.items()}
    try:
        for pool in pools.values():
            await pool.open()
        yield pools
    finally:
        for pool in pools.values():
            await pool.close()


async def measure(worlds: dict[str, World], *, queries: int) -> dict[str, Measured]:
    """By world and kind of query. All in turns, so that the machine's mood hits all alike."""
    times = {name: {kind: Times() for kind in Time} for name in worlds}
    asking = {name: Asking(world, seed=SEED) for name, world in worlds.items()}
    async with _opened(worlds) as pools:
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


async def _time_both(pool: Pool, asked: Asked, times: Times, *, ours_first: bool) -> None:
    """Whoever goes first finds less in memory, so each does every other time."""
    by_hand = asked.by_hand()
    if ours_first:
        times.ours.append(await _time(asked.ask(pool)))
    times.by_hand.append(await _time(by_hand.ask(pool)))
    if not ours_first:
        times.ours.append(await _time(asked.ask(pool)))


async def _time(asking: Awaitable[Any]) -> float:
    started = time.perf_counter()
    await asking
    return (time.perf_counter() - started) * 1000


async def measure_requests(world: World, measured: Measured, *, queries: int) -> None:
    """Whole requests, for whoever wants to know; there is no target."""
    asking = Asking(world, seed=SEED + 1)
    async with open_reader(world.url) as reader:
        for kind, times in measured.items():
            for _ in range(queries):
                times.request.append(await _time(asking.draw(kind).request(reader)))
