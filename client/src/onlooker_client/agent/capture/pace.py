"""When the next frame is due, and whether it is worth sending: ten a second, one a second where nothing happens."""

from __future__ import annotations

from dataclasses import dataclass

CALM_S = 2.0
"""How long after the last motion the full rate goes on: a person is confirmed by three sightings."""
TRUSTED_S = 5.0
"""An answer older than this says nothing of who is there now."""


@dataclass
class Pace:
    """Pure: every moment is given, in seconds of a monotonic clock."""

    fps: float = 10.0
    idle_fps: float = 1.0
    _due_at: float = float("-inf")
    _moved_at: float = float("-inf")
    _empty_at: float = float("-inf")
    """When an answer showed nobody; minus infinity since one showed somebody."""
    _sent_at: float = float("-inf")

    def next_due(self, now: float) -> float:
        """When to grab next: on a steady beat, that starts over after more than a beat was missed."""
        beat_s = 1.0 / self.fps
        self._due_at = self._due_at + beat_s if now - self._due_at < 2.0 * beat_s else now
        return self._due_at

    @property
    def needs_motion(self) -> bool:
        """Whether it matters that something moves; while somebody is there, it does not."""
        return self.idle_fps < self.fps and self._empty_at != float("-inf")

    def see_motion(self, now: float) -> None:
        self._moved_at = now

    def see_answer(self, now: float, *, people: int) -> None:
        if people:
            self._empty_at = float("-inf")
            self._moved_at = now  # who was there a moment ago may come back
        else:
            self._empty_at = now

    def is_idle(self, now: float) -> bool:
        """Whether nobody is there and nothing moves."""
        return now - self._empty_at < TRUSTED_S and now - self._moved_at >= CALM_S

    def wants(self, now: float) -> bool:
        """Whether the frame of this moment should be sent."""
        half_a_beat_s = 0.5 / self.fps
        return not self.is_idle(now) or now - self._sent_at >= 1.0 / self.idle_fps - half_a_beat_s

    def send(self, now: float) -> None:
        self._sent_at = now
