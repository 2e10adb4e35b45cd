"""How much computed video of the month a stream has used."""

import asyncio
import logging
import time
from datetime import date

import psycopg
from psycopg_pool import PoolTimeout

from onlooker.database import Pool, load_queries
from onlooker.logs import fields
from onlooker.streams.video_time import month_of

log = logging.getLogger(__name__)

FLUSH_EVERY_S = 2.0

_queries = load_queries("onlooker.streams")


class UsageMeter:
    """Counts in memory and writes every two seconds, so that a frame costs no query."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._unwritten: dict[tuple[int, date], float] = {}
        self._written: dict[tuple[int, date], tuple[float, float]] = {}
        """What the database said the month held, and when."""

    def add(self, stream_id: int, video_s: float) -> None:
        if video_s:
            key = (stream_id, month_of(time.time()))
            self._unwritten[key] = self._unwritten.get(key, 0.0) + video_s

    def used_s(self, stream_id: int, *, known_s: float) -> float:
        """Use of this month: the newest figure the database gave, and what is not written yet."""
        key = (stream_id, month_of(time.time()))
        written, _ = self._written.get(key, (0.0, 0.0))
        return max(known_s, written) + self._unwritten.get(key, 0.0)

    async def run(self) -> None:
        """Write for ever; what can't be written now is kept and written later."""
        while True:
            await asyncio.sleep(FLUSH_EVERY_S)
            await self.flush()

    async def flush(self) -> None:
        if not self._unwritten:
            self._forget_idle()
            return
        batch, self._unwritten = self._unwritten, {}
        try:
            async with self._pool.connection() as connection:
                for stream_id, month in list(batch):
                    values = {"stream_id": stream_id, "month": month, "video_s": batch[stream_id, month]}
                    cursor = await connection.execute(_queries["add_usage"], values)
                    row = await cursor.fetchone()
                    del batch[stream_id, month]
                    if row:
                        self._written[stream_id, month] = (row["video_s"], time.monotonic())
        except (psycopg.OperationalError, PoolTimeout) as error:
            log.warning("usage not written yet", extra=fields(error=repr(error)))
        for key, video_s in batch.items():
            self._unwritten[key] = self._unwritten.get(key, 0.0) + video_s
        self._forget_idle()

    def _forget_idle(self) -> None:
        """Streams that sent nothing for two minutes are known through their credentials again."""
        limit = time.monotonic() - 120
        self._written = {key: value for key, value in self._written.items() if value[1] > limit}
