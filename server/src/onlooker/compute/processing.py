"""From a task to a reply: the session's turn, the computation, the state that is kept."""

import logging
import time
from functools import partial
from typing import Any

import msgspec

from onlooker.bus.messages import Outcome, Reply, Task, failure
from onlooker.bus.session_state import SessionState
from onlooker.catalogue.service import parse_timestamp
from onlooker.compute import counters
from onlooker.compute.call import Call, ComputeError, Memory
from onlooker.compute.hosting import Hosted
from onlooker.compute.sessions import REMEMBERED_JOBS, Session, Sessions, StateConflict, StateNotKept
from onlooker.compute.threads import ComputeThreads
from onlooker.logs import fields
from onlooker.streams.video_time import SINGLE_JOB_S, count_frame

log = logging.getLogger(__name__)

RESULT_LIMIT_BYTES = 1024**2
CONFLICT_TRIES = 4


class Computed(msgspec.Struct, frozen=True):
    """What a service made of a call."""

    result: bytes
    state: Any
    error_code: str | None
    compute_s: float


class Processor:
    """Processes tasks of the hosted services, at most `threads` at a time."""

    def __init__(self, sessions: Sessions, *, threads: int) -> None:
        self._sessions = sessions
        self._threads: ComputeThreads[Computed] = ComputeThreads(threads)

    async def process(self, hosted: Hosted, task: Task) -> Reply | None:
        """The answer, or None when nobody waits for it any more."""
        if task.session is None:
            return await self._process_single(hosted, task)
        session = self._sessions.hold(task.session)
        async with session.lock:
            for _ in range(CONFLICT_TRIES):
                if time.time() > task.deadline:
                    return None
                try:
                    state = await self._sessions.read(session)
                    if task.id in state.job_ids:
                        return _kept(Reply(Outcome.DONE, state.result, state.error_code), session)
                    started = time.time()
                    computed = await self._compute(hosted, task, state.service, session.memory)
                    next_state, video_s = _next_state(hosted, task, state, computed, started)
                    await self._sessions.write(session, next_state)
                except StateConflict:
                    continue
                except StateNotKept:
                    break
                return _kept(_reply(task, computed, started, video_s), session)
        return Reply(Outcome.NOT_KEPT)

    async def _process_single(self, hosted: Hosted, task: Task) -> Reply | None:
        if time.time() > task.deadline:
            return None
        started = time.time()
        computed = await self._compute(hosted, task, None, Memory())
        return _reply(task, computed, started, SINGLE_JOB_S if hosted.service.takes_media else 0.0)

    async def _compute(self, hosted: Hosted, task: Task, state: Any, memory: Memory) -> Computed:
        call = Call(task.params, task.attachments, in_session=task.session is not None, memory=memory)
        computed = await self._threads.run(partial(_call_service, hosted, call, state, task.request_id))
        counters.compute_time(task.service).observe(computed.compute_s)
        return computed


def _call_service(hosted: Hosted, call: Call, state: Any, request_id: str) -> Computed:
    """Runs in a compute thread: whatever a service does, a result or an `error` comes back."""
    started = time.perf_counter()
    error_code: str | None = None
    try:
        members, state = hosted.compute(call, state)
        result = msgspec.json.encode(members)
        if len(result) > RESULT_LIMIT_BYTES:
            raise ComputeError("result_too_large", "The result is larger than 1 MiB.")
    except ComputeError as error:
        error_code, result = error.code, failure(error.code, error.sentence)
    except Exception:
        log.exception("service failed", extra=fields(request_id=request_id, service=hosted.service.name))
        error_code = "internal_error"
        result = failure(error_code, "The service failed on this input. The server's log says why.")
    return Computed(result, state, error_code, time.perf_counter() - started)


def _next_state(
    hosted: Hosted, task: Task, state: SessionState, computed: Computed, started: float
) -> tuple[SessionState, float]:
    """The session's next state, and the video time that the call counts."""
    next_state = SessionState(
        last_seen=time.time(),
        service=computed.state,
        job_ids=[*state.job_ids[-(REMEMBERED_JOBS - 1) :], task.id],
        result=computed.result,
        error_code=computed.error_code,
        last_frame_at=state.last_frame_at,
    )
    if not hosted.service.takes_media:
        return next_state, 0.0
    timestamp = task.params.get("timestamp")
    moment = parse_timestamp(timestamp) if isinstance(timestamp, str) else None
    next_state.last_frame_at = moment.timestamp() if moment else started
    gap_s = None if state.last_frame_at is None else next_state.last_frame_at - state.last_frame_at
    return next_state, count_frame(gap_s)


def _reply(task: Task, computed: Computed, started: float, video_s: float) -> Reply:
    return Reply(
        Outcome.DONE,
        computed.result,
        computed.error_code,
        video_s=video_s,
        queue_s=max(started - task.sent_at, 0.0),
        compute_s=computed.compute_s,
    )


def _kept(reply: Reply, session: Session) -> Reply:
    """The same, with where the session's state holds the result."""
    assert session.state
    return msgspec.structs.replace(reply, revision=session.revision, kept_at=session.state.last_seen)
