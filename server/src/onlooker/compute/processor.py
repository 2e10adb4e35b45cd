"""From a task to a reply: waits for the session's turn, computes, writes the state."""

import logging
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

import msgspec

from onlooker.bus.connection import BusError
from onlooker.bus.messages import Outcome, Reply, Task, failure
from onlooker.bus.session_store import SessionState
from onlooker.bus.subjects import visits_subject
from onlooker.compute import counters
from onlooker.compute.call_messages import CallAnswer, CallMessage
from onlooker.compute.fair_turns import Crowded
from onlooker.compute.service_process import ComputedTooLong, ProcessEnded
from onlooker.compute.sessions import REMEMBERED_JOBS, Session, Sessions, StateConflict, StateNotKept
from onlooker.logs import fields
from onlooker.streams.video_time import SINGLE_JOB_S
from onlooker_pipeline.catalogue.service import Service
from onlooker_pipeline.frame_time import (
    FrameClock,
    FrameTime,
    as_milliseconds,
    count_frame,
    read_timestamp_us,
    time_frame,
)
from onlooker_pipeline.service_call import BAD_TIMESTAMP
from onlooker_pipeline.versions import Versions, read_versions
from onlooker_pipeline.visits.fold import close_session, fold_call
from onlooker_pipeline.visits.sightings import Seen

log = logging.getLogger(__name__)

CONFLICT_TRIES = 4
VERSIONS = read_versions()
"""The computing process, which is not believed, has the same files."""

Publish = Callable[[str, bytes], Awaitable[object]]
"""Publish to a subject; returns once the message is stored, raises BusError if that is not certain."""


class Computing(Protocol):
    """What computes calls."""

    async def compute(self, call: CallMessage, deadline: float) -> CallAnswer:
        """The answer; raises ProcessEnded where the call, or one beside it, brought its process down."""


class Processor:
    """Processes tasks: what strangers sent is only ever decoded by `computing`."""

    def __init__(self, sessions: Sessions, publish: Publish, computing: Computing) -> None:
        self._sessions = sessions
        self._publish_visit = publish
        self._computing = computing

    async def process(self, service: Service, task: Task) -> Reply | None:
        """The reply, or None if nobody waits for it any more."""
        try:
            return await (self._process_single(service, task) if task.session is None else self._process(service, task))
        except ProcessEnded:
            return Reply(Outcome.KILLED)
        except Crowded:
            return Reply(Outcome.BUSY)
        except ComputedTooLong:
            sentence = "The computation took longer than its time limit."
            return Reply(Outcome.DONE, failure("time_limit", sentence), "time_limit")
        except TimeoutError:
            return None

    async def _process(self, service: Service, task: Task) -> Reply | None:
        assert task.session
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
                    frame_time = _time_of(task, state)
                    computed = await self._compute(service, task, state, frame_time, memory=session.memory, idled=idled)
                    next_state, video_s = _next_state(service, task, state, computed, frame_time)
                    if idled:
                        next_state.outbox = close_session(idled.visits)
                    self._fold(next_state, task, computed.seen)
                    await self._sessions.write(session, next_state)
                    await self._publish(session, task)
                except StateConflict:
                    continue
                except StateNotKept:
                    break
                return _kept(_reply(service, task, computed, started, frame_time, video_s=video_s), session)
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

    async def _process_single(self, service: Service, task: Task) -> Reply | None:
        if time.time() > task.deadline:
            return None
        started, state = time.time(), SessionState(0.0)
        frame_time = _time_of(task, state)
        computed = await self._compute(service, task, state, frame_time, memory=0)
        video_s = SINGLE_JOB_S if service.takes_media and not computed.skipped else 0.0
        return _reply(service, task, computed, started, frame_time, video_s=video_s)

    async def _compute(
        self,
        service: Service,
        task: Task,
        state: SessionState,
        frame_time: FrameTime,
        *,
        memory: int,
        idled: SessionState | None = None,
    ) -> CallAnswer:
        clock = clock_of(state)

        call = CallMessage(
            number=0,
            service=service.name,
            version=service.version,
            params=task.params,
            attachments=task.attachments,
            in_session=task.session is not None,
            memory=memory,
            arrived_at=task.arrived_at or task.sent_at,
            sender=task.sender,
            time=frame_time,
            previous_ms=as_milliseconds(clock.at_us) if clock else frame_time.at_ms,
            state=state.service,
            idle_state=idled.service if idled else None,
        )
        computed = await self._computing.compute(call, task.deadline)
        counters.compute_time(task.service).observe(computed.compute_s)
        if computed.fault:
            said = fields(request_id=task.request_id, service=task.service, exception=computed.fault)
            log.error("service failed", extra=said)
        return computed


def _time_of(task: Task, state: SessionState) -> FrameTime:
    """When the frame was taken; everything that counts or stores the frame uses this time."""
    told_us = read_timestamp_us(task.params, time_zone=task.sender.time_zone)
    return time_frame(told_us, round((task.arrived_at or task.sent_at) * 1e6), clock_of(state))


def clock_of(state: SessionState) -> FrameClock | None:
    """The clock after the session's last frame; None before the first."""
    if state.last_frame_at is None:
        return None
    # A state of an older release has no more than this.
    told_at = state.told_at or state.last_frame_at
    arrived_at = state.arrived_at or state.last_seen
    seconds = (told_at, state.told_since or arrived_at, arrived_at, state.last_frame_at)
    return FrameClock(*(round(value * 1e6) for value in seconds))


def _next_state(
    service: Service, task: Task, state: SessionState, computed: CallAnswer, frame_time: FrameTime
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
    if not service.takes_media or computed.skipped or computed.error_code == BAD_TIMESTAMP:
        return next_state, 0.0
    gap_s = None if state.last_frame_at is None else frame_time.at_s - state.last_frame_at
    # Only an analysed frame moves the clock: a broken one with a time ahead would make later ones look late.
    if computed.error_code is None:
        _set_clock(next_state, frame_time.clock)
    return next_state, count_frame(gap_s)


def _set_clock(state: SessionState, clock: FrameClock) -> None:
    state.told_at, state.told_since, state.arrived_at, state.last_frame_at = (value / 1e6 for value in clock)


def _reply(
    service: Service, task: Task, computed: CallAnswer, started: float, frame_time: FrameTime, *, video_s: float
) -> Reply:
    if computed.skipped:
        counters.frames_skipped(computed.skipped).inc()
    return Reply(
        Outcome.DONE,
        computed.result,
        computed.error_code,
        video_s=video_s,
        queue_s=max(started - task.sent_at, 0.0),
        compute_s=computed.compute_s,
        frame_at=frame_time.at_s if service.takes_media else 0.0,
        skipped=computed.skipped or "",
        blind=computed.blind or "",
        quality=computed.quality,
        versions=VERSIONS if computed.quality else Versions(),
    )


def _kept(reply: Reply, session: Session) -> Reply:
    """The reply with the revision of the session's state that holds the result."""
    assert session.state
    return msgspec.structs.replace(reply, revision=session.revision, kept_at=session.state.last_seen)
