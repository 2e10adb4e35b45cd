"""From a task to a reply: waits for the session's turn, computes, writes the state."""

import logging
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import msgspec

from onlooker.bus.connection import BusError
from onlooker.bus.messages import Outcome, Reply, Task, failure
from onlooker.bus.session_store import SessionState
from onlooker.bus.subjects import visits_subject
from onlooker.compute import counters
from onlooker.compute.service_loader import HostedService
from onlooker.compute.sessions import REMEMBERED_JOBS, Session, Sessions, StateConflict, StateNotKept
from onlooker.compute.threads import ComputeThreads
from onlooker.logs import fields
from onlooker.streams.video_time import SINGLE_JOB_S, count_frame
from onlooker_pipeline.frame_time import FrameClock, FrameTime
from onlooker_pipeline.service_call import BAD_TIMESTAMP, Call, ComputeError, SessionMemory
from onlooker_pipeline.visits.fold import close_session, fold_call
from onlooker_pipeline.visits.sightings import Seen

log = logging.getLogger(__name__)

RESULT_LIMIT_BYTES = 1024**2
CONFLICT_TRIES = 4

Publish = Callable[[str, bytes], Awaitable[object]]
"""Publish to a subject; returns once the message is stored, raises BusError if that is not certain."""


class Computed(msgspec.Struct, frozen=True):
    """The outcome of a call."""

    result: bytes
    state: Any
    error_code: str | None
    compute_s: float
    time: FrameTime
    seen: list[Seen] = []
    skipped: str = ""
    """Why the frame was skipped; empty if it was not."""


class Processor:
    """Processes tasks of the hosted services, at most `threads` at a time."""

    def __init__(self, sessions: Sessions, publish: Publish, *, threads: int) -> None:
        self._sessions = sessions
        self._publish_visit = publish
        self._threads: ComputeThreads[Computed] = ComputeThreads(threads)

    async def process(self, hosted: HostedService, task: Task) -> Reply | None:
        """The reply, or None if nobody waits for it any more."""
        if task.session is None:
            return await self._process_single(hosted, task)
        session = self._sessions.hold(task.session)
        async with session.lock:
            for _ in range(CONFLICT_TRIES):
                if time.time() > task.deadline:
                    return None
                try:
                    state = await self._sessions.read(session)
                    await self._publish(session, task)  # what the previous call could not publish
                    if task.id in state.job_ids:
                        return _kept(Reply(Outcome.DONE, state.result, state.error_code), session)
                    started = time.time()
                    idled = session.state if state is not session.state else None
                    call = _call_of(task, state, memory=session.memory, idled=idled)
                    computed = await self._compute(hosted, call, state.service, task)
                    next_state, video_s = _next_state(hosted, task, state, computed)
                    if idled:
                        next_state.outbox = close_session(idled.visits)
                    self._fold(next_state, task, computed.seen)
                    await self._sessions.write(session, next_state)
                    await self._publish(session, task)
                except StateConflict:
                    continue
                except StateNotKept:
                    break
                return _kept(_reply(hosted, task, computed, started, video_s=video_s), session)
        return Reply(Outcome.NOT_KEPT)

    def _fold(self, state: SessionState, task: Task, seen: list[Seen]) -> None:
        """Fold sightings into the state that is about to be written."""
        if seen and task.session:
            state.visits, visits = fold_call(state.visits, seen, stream_id=task.sender.stream_id, session=task.session)
            state.outbox += visits

    async def _publish(self, session: Session, task: Task) -> None:
        """Visits are stored before the reply is sent. Publishing twice is harmless: a visit has a revision."""
        if session.state is None or not session.state.outbox:
            return
        subject = visits_subject(task.sender.stream_id)
        try:
            for visit in session.state.outbox:
                await self._publish_visit(subject, visit)
                counters.visits("published").inc()
        except BusError as error:
            counters.visits("refused").inc()
            log.warning("visits not kept", extra=fields(request_id=task.request_id, error=repr(error)))
            raise StateNotKept from error
        session.state.outbox = []

    async def _process_single(self, hosted: HostedService, task: Task) -> Reply | None:
        if time.time() > task.deadline:
            return None
        started = time.time()
        computed = await self._compute(hosted, _call_of(task, SessionState(0.0), memory=SessionMemory()), None, task)
        video_s = SINGLE_JOB_S if hosted.service.takes_media and not computed.skipped else 0.0
        return _reply(hosted, task, computed, started, video_s=video_s)

    async def _compute(self, hosted: HostedService, call: Call, state: Any, task: Task) -> Computed:
        computed = await self._threads.run(partial(_call_service, hosted, call, state, task.request_id))
        counters.compute_time(task.service).observe(computed.compute_s)
        return computed


def _call_of(task: Task, state: SessionState, *, memory: SessionMemory, idled: SessionState | None = None) -> Call:
    return Call(
        task.params,
        task.attachments,
        in_session=task.session is not None,
        memory=memory,
        arrived_at=task.arrived_at or task.sent_at,
        sender=task.sender,
        clock=clock_of(state),
        idle_state=idled.service if idled else None,
    )


def clock_of(state: SessionState) -> FrameClock | None:
    """The clock after the session's last frame; None before the first."""
    if state.last_frame_at is None:
        return None
    # A state of an older release has no more than this.
    told_at = state.told_at or state.last_frame_at
    arrived_at = state.arrived_at or state.last_seen
    seconds = (told_at, state.told_since or arrived_at, arrived_at, state.last_frame_at)
    return FrameClock(*(round(value * 1e6) for value in seconds))


def _call_service(hosted: HostedService, call: Call, state: Any, request_id: str) -> Computed:
    """Runs in a compute thread; returns a result or an `error`, whatever the service does."""
    started = time.perf_counter()
    try:
        members, next_state = hosted.compute(call, state)
        result = msgspec.json.encode(members)
        if len(result) > RESULT_LIMIT_BYTES:
            raise ComputeError("result_too_large", "The result is larger than 1 MiB.")
    except ComputeError as error:
        code, result = error.code, failure(error.code, error.sentence)
    except Exception:
        log.exception("service failed", extra=fields(request_id=request_id, service=hosted.service.name))
        code = "internal_error"
        result = failure(code, "The service failed on this input. The server's log says why.")
    else:
        skipped = call.skipped[-1] if call.skipped else ""
        return Computed(result, next_state, None, time.perf_counter() - started, call.time, call.seen, skipped)
    return Computed(result, state, code, time.perf_counter() - started, call.time)


def _next_state(
    hosted: HostedService, task: Task, state: SessionState, computed: Computed
) -> tuple[SessionState, float]:
    """The session's next state, and the video time of the call."""
    next_state = SessionState(
        last_seen=time.time(),
        service=computed.state,
        job_ids=[*state.job_ids[-(REMEMBERED_JOBS - 1) :], task.id],
        result=computed.result,
        error_code=computed.error_code,
        last_frame_at=state.last_frame_at,
        visits=state.visits,
        told_at=state.told_at,
        told_since=state.told_since,
        arrived_at=state.arrived_at,
    )
    if not hosted.service.takes_media or computed.skipped or computed.error_code == BAD_TIMESTAMP:
        return next_state, 0.0
    gap_s = None if state.last_frame_at is None else computed.time.at_s - state.last_frame_at
    # Only an analysed frame moves the clock: a broken one with a time ahead would make later ones look late.
    if computed.error_code is None:
        _set_clock(next_state, computed.time.clock)
    return next_state, count_frame(gap_s)


def _set_clock(state: SessionState, clock: FrameClock) -> None:
    state.told_at, state.told_since, state.arrived_at, state.last_frame_at = (value / 1e6 for value in clock)


def _reply(hosted: HostedService, task: Task, computed: Computed, started: float, *, video_s: float) -> Reply:
    if computed.skipped:
        counters.frames_skipped(computed.skipped).inc()
    return Reply(
        Outcome.DONE,
        computed.result,
        computed.error_code,
        video_s=video_s,
        queue_s=max(started - task.sent_at, 0.0),
        compute_s=computed.compute_s,
        frame_at=computed.time.at_s if hosted.service.takes_media else 0.0,
        skipped=computed.skipped,
    )


def _kept(reply: Reply, session: Session) -> Reply:
    """The reply with the revision of the session's state that holds the result."""
    assert session.state
    return msgspec.structs.replace(reply, revision=session.revision, kept_at=session.state.last_seen)
