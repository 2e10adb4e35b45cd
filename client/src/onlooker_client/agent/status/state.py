"""The state of camera, link and answers at any moment, gathered from all threads."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass, field, replace

from onlooker_client.agent.capture.pace import TRUSTED_S
from onlooker_client.agent.delivery import DeliveredFrame
from onlooker_client.agent.frame_counts import Drop, Tally
from onlooker_client.agent.status.log import AgentLog, format_duration
from onlooker_client.errors import ComputationFailed, Refused
from onlooker_client.scene import count_people
from onlooker_client.sources.reconnection import SourceEvent, SourceState

TELL_EVERY_S = 60.0
OFFLINE_S = 5.0
"""Without an answer for so long, the agent says that it is offline."""
STARTING_S = 15.0
"""A camera and a server have so long to be there before it is news that they are not."""
LATENCIES = 600


@dataclass(frozen=True)
class CameraStatus:
    """At one moment."""

    state: str = "opening"
    """opening, open, lost or waiting."""
    detail: str = ""
    since: float = float("-inf")
    condition: str = "fine"
    """fine, frozen, black or no_frame."""
    size_px: tuple[int, int] | None = None
    condition_since: float = float("-inf")
    """When the condition began; as old as the camera, where it never changed."""


class CameraMonitor:
    """Hears of the camera from the thread that grabs and from the one that watches, and tells the log."""

    def __init__(self, log: AgentLog) -> None:
        self.now = CameraStatus()
        self.name = ""
        self._log = log
        self._lock = threading.Lock()
        self._told_at = float("-inf")
        """When the log last heard of a loss."""
        self._untold = 0

    def change(self, event: SourceEvent) -> None:
        """The source says so. That it is open counts with its first picture."""
        with self._lock:
            before, at = self.now, time.monotonic()
            if event.state is SourceState.LOST:
                self.now = CameraStatus("lost", event.reason, at)
                self._tell_loss(event.reason, at)
            elif event.state is SourceState.WAITING:
                state, since = ("lost", before.since) if before.state == "lost" else ("waiting", at)
                self.now = CameraStatus(state, event.reason, since)
                say = self._log.debug if self._untold else self._log.warning
                say("camera_waiting", f"{event.reason} The agent waits for it.")

    def take_size(self, size_px: tuple[int, int]) -> None:
        """A picture came; its size was another, or it is the first since the camera was opened."""
        with self._lock:
            before, at = self.now, time.monotonic()
            if before.state == "open":
                self.now = replace(before, size_px=size_px)
                return
            self.now = CameraStatus("open", "", at, "fine", size_px)
        away = f", back after {format_duration(at - before.since)}" if before.state == "lost" else ""
        say = self._log.debug if self._untold else self._log.info
        say("camera_opened", f"Camera opened: {self.name}, {size_px[0]}x{size_px[1]}{away}")

    def _tell_loss(self, reason: str, at: float) -> None:
        """A camera that comes and goes does not fill the log."""
        if at - self._told_at < TELL_EVERY_S:
            self._untold += 1
            self._log.debug("camera_lost", f"Camera lost: {reason}")
            return
        before = f" It was lost {self._untold} more times since the last message." if self._untold else ""
        self._log.warning("camera_lost", f"Camera lost: {reason} It will be reopened when it is back.{before}")
        self._told_at, self._untold = at, 0

    def judge(self, condition: str, since: float) -> None:
        """How the picture is now, and since when; one that is not open has none."""
        with self._lock:
            if self.now.state == "open" and self.now.condition != condition:
                self.now = replace(self.now, condition=condition, condition_since=since)


@dataclass(frozen=True)
class Trouble:
    """Why frames have no answer, as of the last one."""

    reason: Drop
    text: str


@dataclass(frozen=True)
class AgentStatus:
    """At one moment."""

    state: str
    """starting, running, degraded, offline, refused, closed, no_camera or stopping."""
    people: int | None
    """In view, as of the last answer; None where there is none, or an old one."""
    answer_age_s: float | None
    """How old the newest frame is that was answered."""
    latency_s: float | None
    """Middle of the last ones."""
    camera: CameraStatus
    trouble: Trouble | None


@dataclass
class StatusTracker:
    """Hears of every frame's end (it is told by the delivery) and of the camera."""

    tally: Tally
    camera: CameraMonitor
    began_at: float = field(default_factory=time.monotonic)
    is_stopping: bool = False
    trouble: Trouble | None = None
    refused: Refused | None = None
    """The last refusal, until a frame is taken."""
    answered_at: float | None = None
    """When the last answer came."""
    dropped_before: int = 0
    """Frames without an answer when the last answer came."""
    failed_at: float = float("-inf")
    """When a computation failed."""
    is_closed: bool = False
    """Whether the stream is closed now."""
    opened_at: float = float("-inf")
    """When that was last over."""
    _people: int | None = None
    _newest_taken_at: float | None = None
    _latencies: deque[float] = field(default_factory=lambda: deque(maxlen=LATENCIES))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answered(self, frame: DeliveredFrame, *, latency_s: float) -> bool:
        """Whether it is the newest frame that was answered so far."""
        people = count_people(frame.answer)
        with self._lock:
            self.answered_at = time.monotonic()
            self.dropped_before = self.tally.dropped
            self.trouble = self.refused = None
            self._latencies.append(latency_s)
            if self._newest_taken_at is not None and frame.taken_at < self._newest_taken_at:
                return False
            self._newest_taken_at = frame.taken_at
            self._people = people
            return True

    def lost(self, frame: DeliveredFrame, reason: Drop) -> None:
        said = str(frame.error) if frame.error is not None else str(ComputationFailed(frame.answer))
        with self._lock:
            self.trouble = Trouble(reason, said)
            if frame.error is not None:
                self.refused = frame.error if isinstance(frame.error, Refused) else None
            if reason is Drop.COMPUTATION_FAILED:
                self.failed_at = self.answered_at = time.monotonic()

    def note_closed(self, is_closed: bool, now: float) -> bool:
        """Whether the stream is closed now; returns whether that is new."""
        with self._lock:
            is_new = is_closed != self.is_closed
            self.is_closed = is_closed
            if is_new and not is_closed:
                self.opened_at = now
            return is_new

    def take_latencies(self) -> list[float]:
        """Those since it was asked last, sorted."""
        with self._lock:
            taken, self._latencies = sorted(self._latencies), deque(maxlen=LATENCIES)
            return taken

    def read(self, now: float) -> AgentStatus:
        with self._lock:
            latencies = sorted(list(self._latencies)[-50:])
            age_s = None if self._newest_taken_at is None else now - self._newest_taken_at
            return AgentStatus(
                state=self._state(now),
                people=self._people if age_s is not None and age_s < TRUSTED_S else None,
                answer_age_s=age_s,
                latency_s=latencies[len(latencies) // 2] if latencies else None,
                camera=self.camera.now,
                trouble=self.trouble,
            )

    def _state(self, now: float) -> str:
        camera = self.camera.now
        is_young = now - self.began_at < STARTING_S
        if self.is_stopping:
            return "stopping"
        if camera.state != "open" or camera.condition == "no_frame":
            return "starting" if is_young and self.answered_at is None else "no_camera"
        return "closed" if self.is_closed else self._state_of_answers(now, is_young=is_young)

    def _state_of_answers(self, now: float, *, is_young: bool) -> str:
        camera = self.camera.now
        if self.refused is not None and self.trouble is not None and self.trouble.reason is not Drop.SERVER_BUSY:
            return "refused"
        if self.answered_at is None:
            return "starting" if is_young else "offline"
        if now - max(self.answered_at, camera.since, self.opened_at) >= OFFLINE_S:
            return "offline"
        is_well = camera.condition == "fine" and now - self.failed_at >= OFFLINE_S
        return "running" if is_well else "degraded"
