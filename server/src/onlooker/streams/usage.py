"""How much computed video of the month a stream has used."""

import time
from datetime import date

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from onlooker.database import Pool, load_queries
from onlooker.streams.meter import Meter
from onlooker.streams.video_time import month_of

NEAR_SHARE = 0.5
"""From here on a month's use is written without delay, so that several gateways together stop at its quota. The rest is
more than a stream can use while the others are written."""

_queries = load_queries("onlooker.streams")


class UsageMeter(Meter[tuple[int, date]]):
    """Computed video by stream and month."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool)
        self._written: dict[tuple[int, date], tuple[float, float]] = {}
        """The month's use according to the database, and when it was read."""
        self._seen: set[int] = set()
        """Streams whose camera sent something since the last write."""
        self._near: set[int] = set()
        """Streams that were near their quota when they were last asked about."""

    def add(self, stream_id: int, video_s: float, *, is_trial: bool = False) -> None:
        """A trial counts towards the month as well, but does not show that the stream's camera is connected."""
        if video_s:
            self._count((stream_id, month_of(time.time())), video_s)
            if not is_trial:
                self._seen.add(stream_id)

    def used_s(self, stream_id: int, *, known_s: float) -> float:
        """Use of this month: the latest figure of the database, plus what is not written yet."""
        key = (stream_id, month_of(time.time()))
        written, _ = self._written.get(key, (0.0, 0.0))
        return max(known_s, written) + self._unwritten.get(key, 0.0)

    def note_used(self, stream_id: int, month: date, video_s: float) -> None:
        """What another transaction of this process wrote."""
        self._written[stream_id, month] = (video_s, time.monotonic())

    def is_used_up(self, stream_id: int, *, known_s: float, quota_s: float) -> bool:
        """Whether nothing is left of this month's quota."""
        used_s = self.used_s(stream_id, known_s=known_s)
        if used_s >= NEAR_SHARE * quota_s:
            self._near.add(stream_id)
        return used_s >= quota_s

    def _is_urgent(self, key: tuple[int, date]) -> bool:
        return key[0] in self._near or super()._is_urgent(key)

    async def flush(self) -> None:
        await super().flush()
        self._forget_idle()

    async def _write(self, connection: AsyncConnection[DictRow], batch: dict[tuple[int, date], float]) -> None:
        values = {
            "stream_ids": [stream_id for stream_id, _ in batch],
            "months": [month for _, month in batch],
            "video_s": list(batch.values()),
            "seen": [stream_id in self._seen for stream_id, _ in batch],
        }
        now = time.monotonic()
        for row in await (await connection.execute(_queries["add_usage"], values)).fetchall():
            self._written[row["stream_id"], row["month"]] = (row["video_s"], now)
        written = {stream_id for stream_id, _ in batch}
        self._seen -= written
        self._near -= written  # until they are asked about again

    def _forget_idle(self) -> None:
        """For streams that sent nothing for two minutes, the figure that comes with their credentials is used."""
        limit = time.monotonic() - 120
        self._written = {key: value for key, value in self._written.items() if value[1] > limit}
