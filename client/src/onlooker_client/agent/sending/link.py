"""Whether a frame may be sent now: state of the link, congestion window and bandwidth limit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable

from onlooker_client.agent.frame_counts import Drop

SILENT_S = 1.5
"""Without any answer for so long, a link may be dead: new attempts start beside the old ones."""
SILENT_AT_MOST_S = 6.0
"""The same where answers were that slow already."""
ATTEMPT_EVERY_S = 0.9
MOST_IN_FLIGHT = 12
"""Attempts beside one another on a link that says nothing."""
DEADLINE_S = 10.0
"""Over a link with two seconds of delay, a handshake and a request take eight."""
PAUSES_S = (0.0, 0.1, 0.3, ATTEMPT_EVERY_S)
"""After so many failures in a row."""
MOST = 4
"""The server takes the frames of a session one after another; more than these would only wait there."""
QUICK_S = 0.25
"""Faster than this is fresh, however much slower it is than the fastest."""
SLOW_S = 0.35
QUEUED_S = 1.0
"""Slower than this, more frames in flight would only make each older."""
MEASURE_EVERY_S = 15.0
"""How often the speed of a single frame is measured again: links change."""


@dataclass
class CongestionWindow:
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


@dataclass
class Link:
    """What is known of the way to the server. Pure: every moment is given, in seconds of a monotonic clock."""

    spread: Callable[[], float] = lambda: 1.0
    """A factor for pauses, so that a thousand devices do not come back in the same moment."""
    window: CongestionWindow = field(default_factory=CongestionWindow)
    failures: int = 0
    """In a row."""
    _in_flight: dict[int, float] = field(default_factory=dict)
    """When each frame in flight was sent, by its number."""
    _answered_at: float = float("-inf")
    _attempted_at: float = float("-inf")
    _pause_s: float = 0.0
    _latency_s: float = 0.0
    _turned_away: bool = False

    @property
    def in_flight(self) -> int:
        return len(self._in_flight)

    def refusal(self, now: float) -> Drop | None:
        """Why no frame may be sent now; None where one may."""
        if self.in_flight >= MOST_IN_FLIGHT:
            return Drop.UNREACHABLE
        if self.failures and now < self._attempted_at + self._pause_s:
            return Drop.UNREACHABLE
        if self.in_flight < self.window.allowed:
            return None
        if self.is_silent(now):
            return None if now >= self._attempted_at + ATTEMPT_EVERY_S else Drop.UNREACHABLE
        self._turned_away = True
        return Drop.BUSY

    def is_silent(self, now: float) -> bool:
        """Whether something is in flight, and nothing came back for longer than it should take."""
        if not self._in_flight:
            return False
        since = max(self._answered_at, min(self._in_flight.values()))
        return now - since >= min(max(SILENT_S, 2.0 * self._latency_s), SILENT_AT_MOST_S)

    def send(self, number: int, now: float) -> None:
        self._in_flight[number] = now
        self._attempted_at = now

    def answer(self, number: int, now: float) -> list[int]:
        """The server answered, in whatever way; returns the older frames that are not worth waiting for any more."""
        sent_at = self._in_flight.pop(number)
        self._answered_at = now
        self._latency_s = now - sent_at
        self.failures = 0
        self.window.answer(now, self._latency_s, wanted_more=self._turned_away)
        self._turned_away = False
        return [older for older, at in self._in_flight.items() if at < sent_at and now - at >= SILENT_S]

    def lose(self, number: int) -> None:
        """Nothing came back, and nothing will."""
        del self._in_flight[number]
        self.failures += 1
        self._pause_s = PAUSES_S[min(self.failures, len(PAUSES_S)) - 1] * self.spread()

    def give_up(self, number: int) -> None:
        """The frame is not waited for any more; that says nothing of the link."""
        del self._in_flight[number]

    def overdue(self, now: float) -> list[int]:
        """Frames in flight for too long."""
        return [number for number, at in self._in_flight.items() if now - at >= DEADLINE_S]


@dataclass
class Bandwidth:
    """A bucket that fills steadily. A frame's size is known once it is encoded, so the last one may overdraw it."""

    bytes_per_second: float
    """0: no limit."""
    _left: float = 0.0
    _filled_at: float = float("-inf")

    def has_room(self, now: float) -> bool:
        if not self.bytes_per_second:
            return True
        elapsed_s = min(now - self._filled_at, 3600.0)
        self._left = min(self._left + elapsed_s * self.bytes_per_second, self.bytes_per_second)
        self._filled_at = now
        return self._left > 0.0

    def spend(self, size_bytes: int) -> None:
        self._left -= size_bytes
