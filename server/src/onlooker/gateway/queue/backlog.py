"""How many accepted jobs of a stream wait, and of how many bytes; counted rarely while there is room for many more."""

import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from onlooker.database import Pool, load_queries
from onlooker.errors import overloaded
from onlooker.settings import Settings

COUNT_HOLDS_S = 1.0
"""For so long a count is used, and a stream that was refused is refused again without another."""
GATEWAYS_AT_MOST = 4
"""Each takes a part of the room that a count has left, then counts again."""
STREAMS_REMEMBERED = 10_000

_queries = load_queries("onlooker.gateway")


@dataclass
class _Room:
    """What a gateway may take in for a stream before it counts again."""

    jobs: int
    size_bytes: int
    until: float
    is_full: bool

    def fits(self, size_bytes: int) -> bool:
        return not self.is_full and self.jobs > 0 and size_bytes <= self.size_bytes


class Backlog:
    """Counting ten thousand rows for each job would cost more than taking it in."""

    def __init__(self, pool: Pool, settings: Settings) -> None:
        self._pool = pool
        self._jobs_limit = settings.async_jobs_per_stream
        self._bytes_limit = settings.async_bytes_per_stream
        self._rooms: OrderedDict[int, _Room] = OrderedDict()
        self._uncommitted: Counter[int] = Counter()
        """Jobs of each stream that are being taken in: a count does not see them yet."""

    @asynccontextmanager
    async def taking_in(self, stream_id: int, size_bytes: int) -> AsyncIterator[None]:
        """Until the job is committed. Raises `overloaded`."""
        self._uncommitted[stream_id] += 1
        try:
            await self._permit(stream_id, size_bytes)
            yield
        finally:
            self._uncommitted[stream_id] -= 1
            if not self._uncommitted[stream_id]:
                del self._uncommitted[stream_id]

    async def _permit(self, stream_id: int, size_bytes: int) -> None:
        room = self._rooms.get(stream_id)
        if room is None or time.monotonic() > room.until or not (room.is_full or room.fits(size_bytes)):
            room = await self._count(stream_id, size_bytes)
        if room.is_full:
            raise overloaded(
                "Too many accepted jobs of this stream wait already, or too many bytes. Wait for some to end.",
                retry_after_s=5,
            )
        room.jobs -= 1
        room.size_bytes -= size_bytes

    async def _count(self, stream_id: int, size_bytes: int) -> _Room:
        values = {"stream_id": stream_id, "waiting_limit": self._jobs_limit}
        async with self._pool.connection() as connection:
            row = await (await connection.execute(_queries["count_waiting"], values)).fetchone()
        assert row is not None
        others = self._uncommitted[stream_id] - 1
        jobs_left, bytes_left = self._jobs_limit - row["jobs"] - others, self._bytes_limit - row["size_bytes"]
        room = self._rooms[stream_id] = _Room(
            jobs=max(1, jobs_left // GATEWAYS_AT_MOST),
            size_bytes=max(size_bytes, bytes_left // GATEWAYS_AT_MOST),
            until=time.monotonic() + COUNT_HOLDS_S,
            is_full=jobs_left < 1 or bytes_left < size_bytes,
        )
        self._rooms.move_to_end(stream_id)
        if len(self._rooms) > STREAMS_REMEMBERED:
            self._rooms.popitem(last=False)
        return room
