"""How many frames may be under way at once: enough to fill a long link, never so many that they queue."""

from __future__ import annotations

from dataclasses import dataclass

MOST = 4
"""The server takes the frames of a session one after another; more than these would only wait there."""
QUICK_S = 0.25
"""Faster than this is fresh, however much slower it is than the fastest."""
SLOW_S = 0.35
QUEUED_S = 1.0
"""Slower than this, more frames under way would only make each older."""
MEASURE_EVERY_S = 15.0
"""How often it is looked anew how fast one frame alone is: links change."""


@dataclass
class Window:
    """Grows while answers stay about as fast as for one frame alone, shrinks when they take twice as long.

    Pure: times are seconds of any one clock.
    """

    allowed: int = 2
    _changed_at: float = float("-inf")
    _fastest_s: float = float("inf")
    _measured_at: float = float("-inf")

    def answer(self, now: float, latency_s: float, *, wanted_more: bool) -> None:
        """A frame was answered; `wanted_more` says whether another was turned away meanwhile."""
        if now - self._measured_at > MEASURE_EVERY_S:
            self._measure(now, latency_s)
            return
        self._fastest_s = min(self._fastest_s, latency_s)
        if now - latency_s < self._changed_at:
            return  # it was sent under the allowance before
        if latency_s > max(2.0 * self._fastest_s, SLOW_S):
            self._set(now, max(1, self.allowed - 1))
        elif wanted_more and latency_s < min(max(1.5 * self._fastest_s, QUICK_S), QUEUED_S):
            self._set(now, min(MOST, self.allowed + 1))

    def _measure(self, now: float, latency_s: float) -> None:
        """What was the fastest is forgotten; where frames may have waited for one another, the next one goes alone."""
        self._measured_at = now
        self._fastest_s = latency_s
        if latency_s > QUICK_S:
            self._set(now, 1)

    def _set(self, now: float, allowed: int) -> None:
        if allowed != self.allowed:
            self.allowed = allowed
            self._changed_at = now
