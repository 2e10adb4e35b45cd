"""Sends frames to a session, each until it is answered: none is lost, and none overtakes another."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, Callable

from onlooker_client.bulk.frames import Frame
from onlooker_client.bulk.lookahead import Lookahead
from onlooker_client.bulk.pipeline import Pipeline
from onlooker_client.bulk.plan import Plan
from onlooker_client.errors import LinkError, NotNow, NotTrusted, OnlookerError
from onlooker_client.session import Session
from onlooker_client.wire.answers import read_json, read_refusal
from onlooker_client.wire.transport import pause_s

RATE_LIMITED, CREATED = 429, 201
OLDER_EACH_TIME = timedelta(milliseconds=1)
"""Two frames with one timestamp are two pictures to the server; one that is older than the last, it passes over."""
LAST_WORD_S = 2.0
"""What is under way when somebody stops it has so long."""

Answered = tuple[Frame, dict[str, Any]]


class Stopped(OnlookerError):
    """Somebody asked to stop."""


class Sender:
    """A frame that may have reached the server is sent again as a little older: it is never counted twice."""

    def __init__(self, session: Session, plan: Plan, fields: dict[str, Any], *, patience_s: float) -> None:
        self._session = session
        self._plan = plan
        self._fields = {**fields, "store": True, "state": session.state}
        self._patience_s = patience_s
        self._transport = session.service.transport
        self._pipeline = Pipeline(self._transport)
        self._lookahead = Lookahead()
        self._under_way: deque[Frame] = deque()
        self._again: deque[Frame] = deque()
        """To be sent once more, before anything new."""
        self._failures, self._failing_since = 0, 0.0
        self._is_stopped = threading.Event()
        self.on_wait: Callable[[OnlookerError, float], None] = lambda error, waited_s: None
        """Told why it waits, and for how long it has."""
        self.longest_wait_s = 0.0
        self.overtaken = 0
        """Frames that the server refused for the moment, and then took a later one."""

    def answers(self, frames: Iterable[Frame]) -> Iterator[Answered]:
        """Each frame with its answer, in order."""
        coming = iter(frames)
        while True:
            try:
                self._send_ahead(coming)
                if not self._under_way:
                    break
                answer = self._pipeline.receive()
            except (LinkError, NotNow) as error:
                self._doubt_under_way()
                self._send_again(error)
                continue
            if answer.status == CREATED:
                self._failures = 0
                self._lookahead.take_answer(time.monotonic())
                yield self._under_way.popleft(), read_json(answer)
            else:
                yield from self._settle_refusal(read_refusal(answer, self._transport.address))
        if self._is_stopped.is_set():
            raise Stopped("Stopped.")

    def stop(self) -> None:
        """From another thread or a signal."""
        self._is_stopped.set()
        cut = threading.Timer(LAST_WORD_S, self._pipeline.cancel)
        cut.daemon = True
        cut.start()

    def close(self) -> None:
        self._pipeline.close()

    def _send_ahead(self, coming: Iterator[Frame]) -> None:
        while len(self._under_way) < self._lookahead.frames and not self._is_stopped.is_set():
            frame = self._again.popleft() if self._again else next(coming, None)
            if frame is None:
                return
            self._under_way.append(frame)
            self._is_stopped.wait(self._lookahead.pause_s(time.monotonic()))
            self._lookahead.take_sent(time.monotonic())
            self._send(frame)

    def _send(self, frame: Frame) -> None:
        service = self._session.service
        taken_at = self._plan.moment(frame.seconds) - frame.unanswered * OLDER_EACH_TIME
        body = service.body(self._fields, frame.image, taken_at)
        self._pipeline.send(service.jobs_path, self._transport.headers(body.content_type), body.content)

    def _doubt_under_way(self) -> None:
        self._under_way = deque(map(_doubted, self._under_way))

    def _take_refused(self, status: int) -> Frame:
        """The frame at the head. Only too many requests say for sure that the server does not have it."""
        frame = self._under_way.popleft()
        return frame if status == RATE_LIMITED else _doubted(frame)

    def _send_again(self, error: LinkError | NotNow) -> None:
        """What has no answer, after a while."""
        self._again.extendleft(reversed(self._under_way))
        self._under_way.clear()
        self._pipeline.close()
        if self._is_stopped.is_set():
            raise Stopped("Stopped.")
        self._wait(error)

    def _settle_refusal(self, error: OnlookerError) -> Iterator[Answered]:
        """The frame at the head was refused. Those behind it may have been taken; from now on they wait their turn."""
        if not isinstance(error, NotNow):
            raise error
        self._lookahead.narrow()
        passed: deque[Frame] = deque([self._take_refused(error.status)])
        while self._under_way:
            try:
                answer = self._pipeline.receive()
            except LinkError:
                self._doubt_under_way()
                break  # the rest is sent again
            if answer.status == CREATED:
                self.overtaken += len(passed)
                passed.clear()
                yield self._under_way.popleft(), read_json(answer)
            else:
                passed.append(self._take_refused(answer.status))
        self._under_way.extendleft(reversed(passed))
        self._send_again(error)

    def _wait(self, error: LinkError | NotNow) -> None:
        """As long as the server asks for, else longer each time. Too many requests are no failure, but our pace."""
        if isinstance(error, NotNow) and error.status == RATE_LIMITED:
            self._is_stopped.wait(1.0 if error.retry_after_s is None else error.retry_after_s)
            return
        now = time.monotonic()
        self._failures += 1
        self._failing_since = now if self._failures == 1 else self._failing_since
        waited_s = now - self._failing_since
        self.longest_wait_s = max(self.longest_wait_s, waited_s)
        if isinstance(error, NotTrusted) or waited_s > self._patience_s:
            raise error
        self.on_wait(error, waited_s)
        asked_s = error.retry_after_s if isinstance(error, NotNow) else None
        self._is_stopped.wait(asked_s if asked_s is not None else pause_s(self._failures))


def _doubted(frame: Frame) -> Frame:
    """The server may have it, or not."""
    return replace(frame, unanswered=frame.unanswered + 1)
