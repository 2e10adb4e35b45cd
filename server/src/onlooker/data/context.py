"""The context of a data endpoint: everything its handlers work with, how it is opened, how a request finds it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from starlette.requests import Request

from onlooker.audit.readings import ReadingLog
from onlooker.clock_check import ClockCheck
from onlooker.database import Pool, open_pool
from onlooker.errors import overloaded
from onlooker.keys.bearer_keys import BearerKeys
from onlooker.keys.key_uses import KeyUses
from onlooker.settings import Settings
from onlooker.standby import NumbersPool, open_numbers_pool
from onlooker.streams.bearer_tokens import Bearer, BearerTokens
from onlooker.streams.rate_limit import RateLimit

RESERVED_CONNECTIONS = 2
"""For tokens and health, however many queries are running."""
WAIT_LIMIT_S = 5.0


@dataclass
class _StreamQueue:
    """The queries of one stream."""

    free: asyncio.Semaphore
    inside: int = 0


class ConcurrentQueries:
    """How many queries the database is sent at a time: a limit for all, and half of it for one stream.

    `async with queries.take(stream_id):` waits for its turn, but not for long.
    """

    def __init__(self, limit: int) -> None:
        self._free = asyncio.Semaphore(limit)
        self._per_stream = max(1, limit // 2)
        self._queues: dict[int, _StreamQueue] = {}

    @asynccontextmanager
    async def take(self, stream_id: int, *, wait_s: float | None = None) -> AsyncIterator[None]:
        """`wait_s` replaces the usual time."""
        limit_s = WAIT_LIMIT_S if wait_s is None else wait_s
        queue = self._queues.setdefault(stream_id, _StreamQueue(asyncio.Semaphore(self._per_stream)))
        queue.inside += 1
        try:
            await _acquire(queue.free, limit_s)
            try:
                await _acquire(self._free, limit_s)
                try:
                    yield
                finally:
                    self._free.release()
            finally:
                queue.free.release()
        finally:
            queue.inside -= 1
            if not queue.inside:
                del self._queues[stream_id]


async def _acquire(semaphore: asyncio.Semaphore, limit_s: float) -> None:
    try:
        async with asyncio.timeout(limit_s):
            await semaphore.acquire()
    except TimeoutError:
        detail = "Too many queries are running. Try again in a moment, with fewer at a time."
        raise overloaded(detail, retry_after_s=2) from None


@dataclass(frozen=True, kw_only=True)
class DataContext:
    """Everything one data endpoint consists of."""

    settings: Settings
    pool: Pool
    """For tokens, keys and health."""
    numbers: NumbersPool
    bearers: BearerTokens
    bearer_keys: BearerKeys
    key_uses: KeyUses
    rates: RateLimit
    concurrent_queries: ConcurrentQueries
    readings: ReadingLog
    clock: ClockCheck
    checks: dict[str, bool]
    """What must work before requests are sent to this process, and whether it does."""


@asynccontextmanager
async def open_context(settings: Settings) -> AsyncIterator[DataContext]:
    """Closed on leaving."""
    connections = max(1, settings.database_pool_size - RESERVED_CONNECTIONS)
    async with (
        open_pool(settings, size=RESERVED_CONNECTIONS) as pool,
        open_numbers_pool(settings, size=connections) as numbers,
    ):
        key_uses = KeyUses(pool)
        context = DataContext(
            settings=settings,
            pool=pool,
            numbers=numbers,
            bearers=BearerTokens(pool, issuer=settings.console_url),
            bearer_keys=BearerKeys(pool, key_uses),
            key_uses=key_uses,
            rates=RateLimit(per_second=settings.data_rate_limit_per_second, burst=settings.data_rate_limit_burst),
            concurrent_queries=ConcurrentQueries(min(settings.data_requests_limit, connections)),
            readings=ReadingLog(pool),
            clock=ClockCheck(settings),
            checks={"database": False, "clock": True},
        )
        yield context
        await key_uses.flush()


def context_of(request: Request) -> DataContext:
    context = request.scope["app"]
    assert isinstance(context, DataContext)
    return context


def bearer_of(request: Request) -> Bearer:
    """The bearer of the request's token, and the stream it is for."""
    bearer = request.scope["bearer"]
    assert isinstance(bearer, Bearer)
    return bearer
