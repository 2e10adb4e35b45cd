"""How it goes with camera, link and answers at any moment, gathered from all threads."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass, field

from onlooker_client.agent.camera import Camera, CameraWatch
from onlooker_client.agent.drops import Drop
from onlooker_client.agent.pace import TRUSTED_S
from onlooker_client.agent.sending.lane import Flight
from onlooker_client.agent.tally import Tally
from onlooker_client.errors import ComputationFailed, Refused
from onlooker_client.scene import count_people

OFFLINE_S = 5.0
"""Without an answer for so long, the agent says that it is offline."""
STARTING_S = 15.0
"""A camera and a server have so long to be there before it is news that they are not."""
LATENCIES = 600


@dataclass(frozen=True)
class Trouble:
    """Why frames have no answer, as of the last one."""

    reason: Drop
    text: str


@dataclass(frozen=True)
class Situation:
    """At one moment."""

    state: str
    """starting, running, degraded, offline, refused, no_camera or stopping."""
    people: int | None
    """In view, as of the last answer; None where there is none, or an old one."""
    answer_age_s: float | None
    """How old the newest frame is that was answered."""
    latency_s: float | None
    """Middle of the last ones."""
    camera: Camera
    trouble: Trouble | None


@dataclass
class Awareness:
    """Hears of every frame's end (it is the sender's observer) and of the camera."""

    tally: Tally
    camera: CameraWatch
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
    _people: int | None = None
    _newest_taken_at: float | None = None
    _latencies: deque[float] = field(default_factory=lambda: deque(maxlen=LATENCIES))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answered(self, flight: Flight, *, latency_s: float) -> bool:
        """Whether it is the newest frame that was answered so far."""
        people = count_people(flight.answer)
        with self._lock:
            self.answered_at = time.monotonic()
            self.dropped_before = self.tally.dropped
            self.trouble = self.refused = None
            self._latencies.append(latency_s)
            if self._newest_taken_at is not None and flight.taken_at < self._newest_taken_at:
                return False
            self._newest_taken_at = flight.taken_at
            self._people = people
            return True

    def lost(self, flight: Flight, reason: Drop) -> None:
        said = str(flight.error) if flight.error is not None else str(ComputationFailed(flight.answer))
        with self._lock:
            self.trouble = Trouble(reason, said)
            if flight.error is not None:
                self.refused = flight.error if isinstance(flight.error, Refused) else None
            if reason is Drop.COMPUTATION_FAILED:
                self.failed_at = self.answered_at = time.monotonic()

    def take_latencies(self) -> list[float]:
        """Those since it was asked last, sorted."""
        with self._lock:
            taken, self._latencies = sorted(self._latencies), deque(maxlen=LATENCIES)
            return taken

    def read(self, now: float) -> Situation:
        with self._lock:
            latencies = sorted(list(self._latencies)[-50:])
            age_s = None if self._newest_taken_at is None else now - self._newest_taken_at
            return Situation(
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
        if self.refused is not None and self.trouble is not None and self.trouble.reason is not Drop.SERVER_BUSY:
            return "refused"
        if self.answered_at is None:
            return "starting" if is_young else "offline"
        if now - max(self.answered_at, camera.since) >= OFFLINE_S:
            return "offline"
        is_well = camera.condition == "fine" and now - self.failed_at >= OFFLINE_S
        return "running" if is_well else "degraded"
