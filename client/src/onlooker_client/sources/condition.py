"""Whether a camera shows something: notices a picture that stands still, one that is black, and none at all.

Has no clock of its own: the caller passes the time, in seconds of the monotonic clock.
"""

from __future__ import annotations

import enum
import threading
from dataclasses import dataclass
from typing import Any

FROZEN_S = 10.0
BLACK_S = 5.0
NO_FRAME_S = 5.0
STEP_PX = 8
"""Of so many rows and columns one is looked at."""
DARK = 40
"""Of 255; a covered lens shows noise beneath it."""
BRIGHT_PART = 0.01
"""So much of a black picture may be brighter: broken pixels, a lamp on the camera's case."""


class Condition(enum.Enum):
    """How it is with the picture."""

    FINE = "fine"
    FROZEN = "frozen"
    """A sensor is never without noise: the same picture for 10 seconds comes from no sensor."""
    BLACK = "black"
    """The lens is covered, or it is dark."""
    NO_FRAME = "no_frame"


@dataclass(frozen=True)
class Judgement:
    """A condition, and since when: from when it began, not from when it was noticed."""

    condition: Condition
    since_s: float


class ConditionMonitor:
    """Looks at every picture, and may be asked from another thread. Only live sources freeze: films show stills."""

    def __init__(self, began_s: float, *, is_live: bool) -> None:
        self.light: float | None = None
        """Mean of the last picture, 0 to 255; None before the first."""
        self._is_live = is_live
        self._seen_s = began_s
        self._traces = b""
        self._same_since_s = began_s
        self._black_since_s: float | None = None
        self._judgement = Judgement(Condition.FINE, began_s)
        self._lock = threading.Lock()

    def see(self, pixels: Any, at_s: float) -> Judgement:
        """A picture came."""
        sample = pixels[STEP_PX // 2 :: STEP_PX, STEP_PX // 2 :: STEP_PX]
        if sample.ndim == 3:
            sample = sample[:, :, 1]  # green has most of the light
        traces, is_black = sample.tobytes(), _is_black(sample)
        self.light = float(sample.mean()) if sample.size else None
        with self._lock:
            self._remember(traces, is_black, at_s)
            return self._settle(at_s)

    def check(self, now_s: float) -> Judgement:
        """How it is now, where no picture came."""
        with self._lock:
            return self._settle(now_s)

    def _remember(self, traces: bytes, is_black: bool, at_s: float) -> None:
        is_back = at_s - self._seen_s >= NO_FRAME_S
        if is_back or traces != self._traces:
            self._traces, self._same_since_s = traces, at_s
        if not is_black:
            self._black_since_s = None
        elif is_back or self._black_since_s is None:
            self._black_since_s = at_s
        self._seen_s = at_s

    def _settle(self, now_s: float) -> Judgement:
        condition, since_s = self._condition(now_s)
        if condition is not self._judgement.condition:
            self._judgement = Judgement(condition, since_s)
        return self._judgement

    def _condition(self, now_s: float) -> tuple[Condition, float]:
        if now_s - self._seen_s >= NO_FRAME_S:
            return Condition.NO_FRAME, self._seen_s
        if self._black_since_s is not None and now_s - self._black_since_s >= BLACK_S:
            return Condition.BLACK, self._black_since_s
        if self._is_live and now_s - self._same_since_s >= FROZEN_S and self._seen_s > self._same_since_s:
            return Condition.FROZEN, self._same_since_s
        return Condition.FINE, now_s


def _is_black(sample: Any) -> bool:
    return bool((sample >= DARK).sum() <= BRIGHT_PART * sample.size)
