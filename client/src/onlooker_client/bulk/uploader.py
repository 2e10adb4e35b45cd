"""Uploads frames to a session over one pipelined connection, each until it is answered: none is lost or reordered."""

from __future__ import annotations

import http.client
import math
import socket
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from statistics import median
from typing import Any, Callable

from onlooker_client.agent.sending.backoff import STREAM_CLOSED
from onlooker_client.bulk.frames import VideoFrame
from onlooker_client.bulk.plan import VideoPlan
from onlooker_client.errors import LinkError, NotNow, NotTrusted, OnlookerError, Refused, TimedOut
from onlooker_client.session import Session
from onlooker_client.wire.answers import read_json, read_refusal
from onlooker_client.wire.connection import PIECE_BYTES, Answer
from onlooker_client.wire.response_parser import AnswerReader
from onlooker_client.wire.sockets import link_fault
from onlooker_client.wire.transport import TIMEOUT_S, Transport, pause_s

RATE_LIMITED, CREATED = 429, 201
OLDER_EACH_TIME = timedelta(milliseconds=1)
"""Two frames with one timestamp are two pictures to the server; one that is older than the last, it passes over."""
LAST_WORD_S = 2.0
"""How long frames in flight may take after a stop."""

Answered = tuple[VideoFrame, dict[str, Any]]
LEARN_FROM = 10
"""Answers, one after the other, that show how long the way is."""
WANTED_FPS = 90.0
"""By default the server takes 100 requests a second from a stream."""
MOST_FRAMES = 8


class Stopped(OnlookerError):
    """Somebody asked to stop."""


class FrameUploader:
    """A frame that may have reached the server is sent again as a little older: it is never counted twice."""

    def __init__(self, session: Session, plan: VideoPlan, fields: dict[str, Any], *, patience_s: float) -> None:
        self._session = session
        self._plan = plan
        self._fields = {**fields, "store": True, "state": session.state}
        self._patience_s = patience_s
        self._transport = session.service.transport
        self._pipeline = RequestPipeline(self._transport)
        self._lookahead = Lookahead()
        self._under_way: deque[VideoFrame] = deque()
        self._again: deque[VideoFrame] = deque()
        """To be sent once more, before anything new."""
        self._failures, self._failing_since = 0, 0.0
        self._is_stopped = threading.Event()
        self.on_wait: Callable[[OnlookerError, float], None] = lambda error, waited_s: None
        """Told why it waits, and for how long it has."""
        self.longest_wait_s = 0.0
        self.overtaken = 0
        """Frames that the server refused for the moment, and then took a later one."""

    def answers(self, frames: Iterable[VideoFrame]) -> Iterator[Answered]:
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

    def _send_ahead(self, coming: Iterator[VideoFrame]) -> None:
        while len(self._under_way) < self._lookahead.frames and not self._is_stopped.is_set():
            frame = self._again.popleft() if self._again else next(coming, None)
            if frame is None:
                return
            self._under_way.append(frame)
            self._is_stopped.wait(self._lookahead.pause_s(time.monotonic()))
            self._lookahead.take_sent(time.monotonic())
            self._send(frame)

    def _send(self, frame: VideoFrame) -> None:
        service = self._session.service
        taken_at = self._plan.moment(frame.seconds) - frame.unanswered * OLDER_EACH_TIME
        body = service.body(self._fields, frame.image, taken_at)
        self._pipeline.send(service.jobs_path, self._transport.headers(body.content_type), body.content)

    def _doubt_under_way(self) -> None:
        self._under_way = deque(map(_doubted, self._under_way))

    def _take_refused(self, status: int) -> VideoFrame:
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
        if isinstance(error, Refused) and error.code == STREAM_CLOSED:  # of this frame's time; others may be open
            yield self._under_way.popleft(), {"error": error.detail, "error_code": error.code}
            return
        if not isinstance(error, NotNow):
            raise error
        self._lookahead.narrow()
        passed: deque[VideoFrame] = deque([self._take_refused(error.status)])
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


def _doubted(frame: VideoFrame) -> VideoFrame:
    """The server may have it, or not."""
    return replace(frame, unanswered=frame.unanswered + 1)


class Lookahead:
    """Pure: the clock is given. A server that refuses for the moment gets one frame at a time from then on."""

    def __init__(self) -> None:
        self.frames = 1
        self._sent_at: deque[float] = deque(maxlen=MOST_FRAMES)
        self._took_s: list[float] = []
        self._may_grow = True

    def take_sent(self, now: float) -> None:
        self._sent_at.append(now)

    def take_answer(self, now: float) -> None:
        if self._may_grow and len(self._took_s) < LEARN_FROM:
            self._took_s.append(now - self._sent_at[-1])
            if len(self._took_s) == LEARN_FROM:
                self.frames = max(1, min(MOST_FRAMES, math.ceil(median(self._took_s) * WANTED_FPS)))

    def narrow(self) -> None:
        self._may_grow, self.frames = False, 1

    def pause_s(self, now: float) -> float:
        """Before the next is sent. One at a time needs none: if it is too quick, it is refused, and sent again."""
        if self.frames == 1 or not self._sent_at:
            return 0.0
        return max(0.0, self._sent_at[-1] + 1 / WANTED_FPS - now)


class RequestPipeline:
    """HTTP/1.1 pipelining: the way of the bytes is hidden, and nothing can overtake anything."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._opened: socket.socket | None = None
        self._reader: AnswerReader | None = None
        self._is_cancelled = False

    def send(self, path: str, headers: bytes, body: bytes) -> None:
        """A POST; `receive` gives its answer after those of all earlier ones."""
        head = f"POST {path} HTTP/1.1\r\nHost: {self._transport.address.authority}\r\nContent-Length: {len(body)}\r\n"
        opened = self._opened or self._open()
        try:
            opened.sendall(b"%s%s\r\n%s" % (head.encode("ascii"), headers, body))
        except OSError as error:
            raise self._fault(error) from None

    def receive(self) -> Answer:
        """The next answer. After a failure, everything that has none must be sent again."""
        if self._reader is None:
            raise LinkError("The connection was closed.")
        try:
            answer = self._reader.read("POST")
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise self._fault(error) from None
        if answer.is_last:
            self.close()
        return Answer(answer.status, answer.headers, answer.body)

    def cancel(self) -> None:
        """End what is in flight, and everything later; from another thread."""
        self._is_cancelled = True
        opened = self._opened
        if opened is not None:
            with suppress(OSError):  # it may have ended by itself
                # Not SSLSocket's own, which drops its encryption first: the other thread might write in the clear.
                socket.socket.shutdown(opened, socket.SHUT_RDWR)

    def close(self) -> None:
        opened, self._opened, self._reader = self._opened, None, None
        if opened is not None:
            opened.close()

    def _open(self) -> socket.socket:
        if self._is_cancelled:
            raise LinkError("The connection was closed.")
        self._opened = opened = self._transport.dial(TIMEOUT_S)
        if self._is_cancelled:  # while it was being opened, when `cancel` had nothing to end yet
            self.close()
            raise LinkError("The connection was closed.")
        opened.settimeout(TIMEOUT_S)
        self._reader = AnswerReader(lambda: opened.recv(PIECE_BYTES))
        return opened

    def _fault(self, error: Exception) -> LinkError:
        self.close()
        if isinstance(error, socket.timeout):
            return TimedOut(f"{self._transport.address} did not answer within {TIMEOUT_S:g} s.")
        return link_fault(self._transport.address, error)
