"""Results of synchronous jobs: kept on the bus for as long as their retention."""

import asyncio
import logging
import time
import uuid

import msgspec

from onlooker.bus.buckets import Bucket
from onlooker.bus.connection import Bus, BusError
from onlooker.bus.subjects import RESULTS, SESSION_RESULTS
from onlooker.gateway import counters
from onlooker.settings import Settings

log = logging.getLogger(__name__)


class StoredResult(msgspec.Struct, frozen=True, array_like=True):
    """A result and the job it belongs to."""

    service: str
    version: int
    expires_at: float
    result: bytes


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(StoredResult).decode


def _key(stream_id: int, job_id: uuid.UUID) -> str:
    """The owner is part of the key, so nobody else's look-up can find it."""
    return f"{stream_id}.{job_id.hex}"


class Results:
    """Two buckets: one for frames of a live camera, one for the rest."""

    def __init__(self, bus: Bus, settings: Settings) -> None:
        self._buckets = {
            True: Bucket(bus, SESSION_RESULTS, shards=settings.bucket_shards),
            False: Bucket(bus, RESULTS, shards=settings.bucket_shards),
        }

    async def keep(self, stream_id: int, job_id: uuid.UUID, stored: StoredResult, *, in_session: bool) -> None:
        """Store, or count that it could not be: the answer goes out all the same."""
        try:
            await self._buckets[in_session].put(_key(stream_id, job_id), _encode(stored))
        except BusError:
            counters.results_not_stored.inc()
            log.warning("result not stored")

    async def find(self, stream_id: int, job_id: uuid.UUID) -> StoredResult | None:
        key = _key(stream_id, job_id)
        entries = await asyncio.gather(*(bucket.get(key) for bucket in self._buckets.values()))
        for entry in entries:
            if entry and entry.value:
                stored = _decode(entry.value)
                return stored if stored.expires_at > time.time() else None
        return None

    async def remove(self, stream_id: int, job_id: uuid.UUID) -> None:
        key = _key(stream_id, job_id)
        for bucket in self._buckets.values():
            entry = await bucket.get(key)
            if entry and entry.value:
                await bucket.remove(key)
