"""Results of synchronous jobs, stored on the bus until their retention ends; those of sessions are in past states."""

import logging
import time
import uuid
from hashlib import blake2b

import msgspec

from onlooker.bus.buckets import Bucket
from onlooker.bus.connection import BusError
from onlooker.bus.messages import Reply, Task
from onlooker.bus.session_store import SessionBucket, SessionState, decode_state
from onlooker.gateway import counters
from onlooker.settings import Settings
from onlooker_pipeline.catalogue.service import Service

log = logging.getLogger(__name__)


class StoredResult(msgspec.Struct, frozen=True, array_like=True):
    """A result and the job it belongs to; without a result, a job that was deleted."""

    service: str
    version: int
    expires_at: float
    result: bytes


class ResultReference(msgspec.Struct, frozen=True):
    """The id under which a result can be read again, and until when."""

    job_id: uuid.UUID
    expires_at: float


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(StoredResult).decode


def _key(stream_id: int, job_id: uuid.UUID) -> str:
    """The owner is part of the key, so that no other stream can find it."""
    return f"{stream_id}.{job_id.hex}"


class Results:
    """A bucket for jobs without a session; the session's own states for the others."""

    def __init__(self, results: Bucket, sessions: SessionBucket, settings: Settings) -> None:
        self._results = results
        self._sessions = sessions
        self._names = JobNames(settings.nats_password)
        self._session_results = SessionResults(sessions, self._names)
        self._settings = settings

    async def keep(self, stream_id: int, task: Task, reply: Reply) -> ResultReference:
        """Store a result, if its session's state does not hold it already."""
        settings = self._settings
        if task.session and reply.revision:
            job_id = self._names.name(task.id, shard=self._sessions.shard(task.session), revision=reply.revision)
            return ResultReference(job_id, reply.kept_at + settings.session_result_retention_s)
        retention_s = settings.session_result_retention_s if task.session else settings.result_retention_s
        kept = ResultReference(uuid.UUID(task.id), time.time() + retention_s)
        stored = StoredResult(task.service, task.version, kept.expires_at, reply.result)
        try:
            await self._results.put(_key(stream_id, kept.job_id), _encode(stored))
        except BusError:
            # The answer is sent all the same.
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


VERSION = 8
"""Of a UUID whose bits have a meaning of our own (RFC 9562)."""
_SEQUENCE_BITS, _SHARD_BITS, _TASK_BITS = 48, 6, 62


class JobNames:
    """Ids of jobs in sessions: where the state is, and enough of the task's own random id to be unique.

    Where it is counts the writes of all streams, so it is masked, differently for each task.
    """

    def __init__(self, secret: str) -> None:
        self._key = blake2b(secret.encode(), digest_size=32, person=b"job ids").digest()

    def name(self, task_id: str, *, shard: int, revision: int) -> uuid.UUID:
        task = uuid.UUID(task_id).int & ((1 << _TASK_BITS) - 1)
        place = (revision << _SHARD_BITS | shard) ^ self._mask(task)
        high, low = place >> _SHARD_BITS, place & ((1 << _SHARD_BITS) - 1)
        return uuid.UUID(int=(high << 80) | (VERSION << 76) | (low << 64) | (0b10 << 62) | task)

    def find(self, job_id: uuid.UUID) -> tuple[int, int]:
        """Shard and revision of its state; of an id that is not ours, any."""
        task = job_id.int & ((1 << _TASK_BITS) - 1)
        low = (job_id.int >> 64) & ((1 << _SHARD_BITS) - 1)
        place = ((job_id.int >> 80) << _SHARD_BITS | low) ^ self._mask(task)
        return place & ((1 << _SHARD_BITS) - 1), place >> _SHARD_BITS

    def _mask(self, task: int) -> int:
        digest = blake2b(task.to_bytes(8, "big"), key=self._key, digest_size=8).digest()
        return int.from_bytes(digest, "big") >> (64 - _SEQUENCE_BITS - _SHARD_BITS)


def is_session_job(job_id: uuid.UUID) -> bool:
    return job_id.version == VERSION


class SessionResults:
    """Results of calls in a session: read from its own past states, so that a frame costs one write, not two."""

    def __init__(self, sessions: SessionBucket, names: JobNames) -> None:
        self._sessions = sessions
        self._names = names

    async def find(self, stream_id: int, service: Service, job_id: uuid.UUID) -> SessionState | None:
        """The state after a job, if the job was this stream's and this service's."""
        shard, revision = self._names.find(job_id)
        found = await self._sessions.get_past(shard, revision)
        if found is None or not found.key.startswith(f"{stream_id}.{service.name}-{service.version}."):
            return None
        state = decode_state(found.value)
        task = f"{job_id.int & ((1 << _TASK_BITS) - 1):032x}"
        if state is None or not any(_same_task(known, task) for known in state.job_ids):
            return None
        return state


def _same_task(known: str, task: str) -> bool:
    return (int(known, 16) ^ int(task, 16)) & ((1 << _TASK_BITS) - 1) == 0
