"""Where numbers are read: from a standby while it lags by no more than is allowed, else from the primary."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from prometheus_client import Gauge

from onlooker.database import DATABASE_FAILED, Pool, open_direct_pool
from onlooker.logs import fields
from onlooker.settings import Settings, variable_name

log = logging.getLogger(__name__)

CHECK_EVERY_S = 1.0
CHECK_LIMIT_S = 3.0
_POSITION = """
SELECT pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END,
                       '0/0')::bigint AS position"""
"""How far a server has got in the write-ahead log: what is committed lies before it."""

lag_shown = Gauge("onlooker_standby_lag_seconds", "How far the standby for numbers is known to lag")
in_use = Gauge("onlooker_standby_in_use", "1 while numbers are read from the standby, 0 while from the primary")


@dataclass
class NumbersPool:
    """The pool to read numbers from at this moment. Take it once for each query."""

    pool: Pool


class StandbyLag:
    """How old the newest moment is at which a standby had all that the primary had. No clock but our own counts."""

    def __init__(self, now: float) -> None:
        self._complete_at = now
        self._ahead: deque[tuple[float, int]] = deque()
        """When the primary was how far, as long as the standby is not there yet; oldest first."""

    def note(self, now: float, *, primary: int | None, standby: int | None) -> float:
        """Seconds, after a look at both; None: one did not answer."""
        if primary is not None:
            self._ahead.append((now, primary))
        while standby is not None and self._ahead and self._ahead[0][1] <= standby:
            self._complete_at = self._ahead.popleft()[0]
        return now - self._complete_at


@asynccontextmanager
async def open_numbers_pool(settings: Settings, *, size: int | None = None) -> AsyncIterator[NumbersPool]:
    """Direct connections, on which the database ends a statement that takes too long. Closed on leaving."""
    limit_s = settings.data_time_limit_s
    async with AsyncExitStack() as stack:
        primary = await stack.enter_async_context(open_direct_pool(settings, statement_limit_s=limit_s, size=size))
        numbers = NumbersPool(primary)
        if not settings.database_read_url:
            yield numbers
            return
        reading = open_direct_pool(settings, url=settings.database_read_url, statement_limit_s=limit_s, size=size)
        standby = await stack.enter_async_context(reading)
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(_choose(numbers, primary, standby, settings.database_read_lag_s))
            yield numbers
            watching.cancel()


async def _choose(numbers: NumbersPool, primary: Pool, standby: Pool, limit_s: float) -> None:
    """Keep `numbers.pool` right until cancelled. What is not known to be up to date is not read."""
    lag = StandbyLag(time.monotonic() - 2 * limit_s)
    while True:
        looked_at = time.monotonic()
        at_primary, at_standby = await asyncio.gather(_position(primary), _position(standby))
        lag_s = lag.note(looked_at, primary=at_primary, standby=at_standby)
        chosen = standby if at_standby is not None and lag_s <= limit_s else primary
        if chosen is not numbers.pool:
            numbers.pool = chosen
            said = fields(lag_s=round(lag_s, 1), limit_s=limit_s, setting=variable_name("database_read_lag_s"))
            if chosen is standby:
                log.info("numbers are read from the standby", extra=said)
            else:
                log.warning("numbers are read from the primary: the standby lags or is away", extra=said)
        lag_shown.set(lag_s)
        in_use.set(chosen is standby)
        await asyncio.sleep(CHECK_EVERY_S)


async def _position(pool: Pool) -> int | None:
    """None if the server does not answer soon."""
    try:
        async with asyncio.timeout(CHECK_LIMIT_S), pool.connection() as connection:
            row = await (await connection.execute(_POSITION)).fetchone()
    except (*DATABASE_FAILED, TimeoutError):
        return None
    return int(row["position"]) if row and row["position"] is not None else None
