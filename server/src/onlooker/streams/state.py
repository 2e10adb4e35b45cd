"""Whether a stream may compute, and the log of how that changed."""

import enum
import time
from datetime import date

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from onlooker.database import Pool, load_queries
from onlooker.streams.meter import Meter
from onlooker.streams.video_time import month_of

_queries = load_queries("onlooker.streams")


class State(enum.StrEnum):
    """What a stream may do. A closed list: it is stored."""

    ENABLED = "enabled"
    DISABLED = "disabled"
    """Its owner switched it off."""
    QUOTA = "quota"
    """A developer stream that has used up its month."""


class StateLog(Meter[int]):
    """Logs changes that a gateway noticed: a quota was used up, or a new month began."""

    def __init__(self, pool: Pool, *, quota_s: float) -> None:
        super().__init__(pool)
        self._quota_s = quota_s

    def look_at(self, stream_id: int) -> None:
        """The stream may be in a different state than the log says."""
        self._count(stream_id, 1)

    async def _write(self, connection: AsyncConnection[DictRow], batch: dict[int, float]) -> None:
        """One stream at a time under its lock: the first of several gateways writes, the others find it written."""
        for stream_id in batch:
            async with connection.transaction():
                await connection.execute(_queries["lock_stream"], {"stream_id": stream_id})
                await connection.execute(_queries["log_state"], state_values(stream_id, quota_s=self._quota_s))


def state_values(stream_id: int, *, quota_s: float) -> dict[str, int | float | date]:
    """What the query `log_state` needs."""
    return {"stream_id": stream_id, "quota_s": quota_s, "month": month_of(time.time())}
