"""Visits and coverage that are known beforehand, in the place of a device's computing process."""

import hashlib
import json
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from onlooker_client.agent.frame_counts import Drop
from onlooker_client.device.compute_options import ComputeOptions
from onlooker_client.device.computed_frame import ComputedFrame, FrameQualityCounts

WATCHED_S = 1.0
"""That a frame counts; no frame counts more."""
FRAME_EVERY_S = 10.0
"""Between two that count. The camera gives more: one without a picture for 5 seconds would count as blind."""
EARLY_S = 0.5
"""By which a picture may be, so that a beat is not missed."""
ROUND = 4
"""Frames from one person's arrival to the next: seen, told, gone, nobody."""
FACE_BIN = 5


@dataclass
class MadeResults:
    """What the agents of one box were given, however often they started: the oracle of what the server must have."""

    box: str
    frames: int = 0
    visits: dict[str, int] = field(default_factory=dict)
    """The highest revision that was made of each."""
    is_quiet: bool = False
    """Whether it is told to make no more results, so that what waits can be sent."""

    @property
    def watched_ms(self) -> int:
        return round(self.frames * WATCHED_S * 1000)

    def visit_id(self, number: int) -> str:
        return hashlib.sha256(f"{self.box} {number}".encode()).hexdigest()[:32]


current_results: ContextVar[MadeResults] = ContextVar("current_results")
"""Of the box whose agent starts in this thread."""


@dataclass
class MadeSession:
    """One person after the other. The state goes on after a restart, as a real session's does."""

    results: MadeResults
    step: int = 0
    began_ms: int = 0

    @classmethod
    def resumed(cls, results: MadeResults, state: bytes | None) -> "MadeSession":
        said = json.loads(state) if state else {}
        return cls(results, said.get("step", 0), said.get("began_ms", 0))

    def frame(self, at_ms: int) -> ComputedFrame:
        number, phase = divmod(self.step, ROUND)
        visit_id = self.results.visit_id(number)
        self.step += 1
        if phase == 0:
            self.began_ms = at_ms
        visits = [self._visit(visit_id, phase, at_ms)] if phase in (1, 2) else []
        people = [visit_id] if phase < 2 else []
        self.results.frames += 1
        return ComputedFrame(
            at_ms,
            {"entities": {person: {} for person in people}},
            visits,
            WATCHED_S,
            quality=FrameQualityCounts(face_bins=[FACE_BIN] * len(people), models="made", pipeline="1"),
            state=json.dumps({"step": self.step, "began_ms": self.began_ms}).encode(),
        )

    def skipped(self, at_ms: int) -> ComputedFrame:
        """An answer that counts nothing: an agent without one for 5 seconds would call itself offline."""
        number, phase = divmod(self.step, ROUND)
        people = [self.results.visit_id(number)] if phase in (1, 2) else []
        return ComputedFrame(at_ms, {"entities": {person: {} for person in people}})

    def _visit(self, visit_id: str, revision: int, at_ms: int) -> dict[str, Any]:
        present = [[self.began_ms, max(at_ms, self.began_ms + 1)]]
        self.results.visits[visit_id] = revision
        return {
            "id": visit_id,
            "revision": revision,
            "ended": revision == ROUND - 2,
            "present": present,
            "still": present,
            "looking": [],
            "confidence": 0.95,
        }


class MadeComputation:
    """As `Computation`, without a process: a frame is answered in the thread that hands it over."""

    restarts = 0
    is_confined = True

    def __init__(
        self,
        options: ComputeOptions,
        *,
        state: bytes | None = None,
        on_frame: Callable[[ComputedFrame], None],
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._on_frame = on_frame
        self._session = MadeSession.resumed(current_results.get(), state)
        self._lock = threading.Lock()
        self._is_closed = False
        self._next_at = time.monotonic()

    def start(self, is_over: Callable[[], bool] = lambda: False) -> None:
        """It is ready."""

    def refusal(self, now: float) -> Drop | None:
        return Drop.BUSY if self._is_closed else None

    def busy_s(self, now: float) -> float:
        return 0.0

    def compute(self, pixels: Any, at_s: float) -> None:
        at_ms, now = round(at_s * 1000), time.monotonic()
        with self._lock:
            if self._is_closed:  # nothing stores it any more, so it must not count as made
                self._on_frame(ComputedFrame(at_ms, refused="failed"))
            elif self._session.results.is_quiet or now < self._next_at:
                self._on_frame(self._session.skipped(at_ms))
            else:
                self._next_at = now + FRAME_EVERY_S - EARLY_S
                self._on_frame(self._session.frame(at_ms))

    def close(self, *, source_ended: bool = False) -> list[ComputedFrame]:
        with self._lock:
            self._is_closed = True
        return []
