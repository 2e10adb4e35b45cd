"""Results of calls in a session: read from the session's own past states, so that a frame costs one write, not two."""

import uuid

from onlooker.bus.session_bucket import SessionBucket
from onlooker.bus.session_state import SessionState, decode_state
from onlooker.catalogue.service import Service

VERSION = 8
"""Of a UUID whose bits have a meaning of our own (RFC 9562)."""
_SEQUENCE_BITS, _SHARD_BITS, _TASK_BITS = 48, 6, 62


def name_job(task_id: str, *, shard: int, revision: int) -> uuid.UUID:
    """The job's id: where its state is, and enough of the task's own random id to be nobody else's."""
    task = uuid.UUID(task_id).int & ((1 << _TASK_BITS) - 1)
    bits = (revision << 80) | (VERSION << 76) | (shard << 64) | (0b10 << 62) | task
    return uuid.UUID(int=bits)


def is_session_job(job_id: uuid.UUID) -> bool:
    return job_id.version == VERSION


class SessionResults:
    """Finds the state that a job left behind."""

    def __init__(self, sessions: SessionBucket) -> None:
        self._sessions = sessions

    async def find(self, stream_id: int, service: Service, job_id: uuid.UUID) -> SessionState | None:
        """The state after a job, if the job was this stream's and this service's."""
        revision = job_id.int >> 80
        shard = (job_id.int >> 64) & ((1 << _SHARD_BITS) - 1)
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
