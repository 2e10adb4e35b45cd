"""Results of synchronous jobs: kept on the bus for as long as their retention."""

import logging
import time
import uuid

import msgspec

from onlooker.bus.buckets import Bucket
from onlooker.bus.connection import BusError
from onlooker.bus.messages import Reply, Task
from onlooker.bus.session_bucket import SessionBucket
from onlooker.catalogue.service import Service
from onlooker.gateway import counters
from onlooker.gateway.session_results import SessionResults, is_session_job, name_job
from onlooker.settings import Settings

log = logging.getLogger(__name__)


class StoredResult(msgspec.Struct, frozen=True, array_like=True):
    """A result and the job it belongs to; without a result, a job that was deleted."""

    service: str
    version: int
    expires_at: float
    result: bytes


class Kept(msgspec.Struct, frozen=True):
    """Under which id a result can be read again, and until when."""

    job_id: uuid.UUID
    expires_at: float


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(StoredResult).decode


def _key(stream_id: int, job_id: uuid.UUID) -> str:
    """The owner is part of the key, so nobody else's look-up can find it."""
    return f"{stream_id}.{job_id.hex}"


class Results:
    """A bucket for jobs without a session; the session's own states for the others."""

    def __init__(self, results: Bucket, sessions: SessionBucket, settings: Settings) -> None:
        self._results = results
        self._sessions = sessions
        self._session_results = SessionResults(sessions)
        self._settings = settings

    async def keep(self, stream_id: int, task: Task, reply: Reply) -> Kept:
        """Store a result, if its session's state does not hold it already."""
        settings = self._settings
        if task.session and reply.revision:
            job_id = name_job(task.id, shard=self._sessions.shard(task.session), revision=reply.revision)
            return Kept(job_id, reply.kept_at + settings.session_result_retention_s)
        retention_s = settings.session_result_retention_s if task.session else settings.result_retention_s
        kept = Kept(uuid.UUID(task.id), time.time() + retention_s)
        stored = StoredResult(task.service, task.version, kept.expires_at, reply.result)
        try:
            await self._results.put(_key(stream_id, kept.job_id), _encode(stored))
        except BusError:
            # The answer goes out all the same.
            counters.results_not_stored.inc()
            log.warning("result not stored")
        return kept

    async def find(self, stream_id: int, service: Service, job_id: uuid.UUID) -> StoredResult | None:
        """A result that is neither too old nor deleted, for its owner and under its service only."""
        stored = await self._find_stored(stream_id, job_id)
        if stored is None and is_session_job(job_id):
            stored = await self._find_in_session(stream_id, service, job_id)
        if stored is None or not stored.result or stored.expires_at <= time.time():
            return None
        return stored if (stored.service, stored.version) == (service.name, service.version) else None

    async def _find_stored(self, stream_id: int, job_id: uuid.UUID) -> StoredResult | None:
        entry = await self._results.get(_key(stream_id, job_id))
        return _decode(entry.value) if entry and entry.value else None

    async def _find_in_session(self, stream_id: int, service: Service, job_id: uuid.UUID) -> StoredResult | None:
        state = await self._session_results.find(stream_id, service, job_id)
        if state is None:
            return None
        expires_at = state.last_seen + self._settings.session_result_retention_s
        return StoredResult(service.name, service.version, expires_at, state.result)

    async def remove(self, stream_id: int, job_id: uuid.UUID, found: StoredResult) -> None:
        """A session's state can't be taken from it, so what is left is a note that the job was deleted."""
        deleted = msgspec.structs.replace(found, result=b"")
        await self._results.put(_key(stream_id, job_id), _encode(deleted))
