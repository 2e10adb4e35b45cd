"""Whether a frame may be sent now: on a link that works, on one that fails, and on one that says nothing at all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable

from onlooker_client.agent.drops import Drop
from onlooker_client.agent.sending.window import Window

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


@dataclass
class Link:
    """What is known of the way to the server. Pure: every moment is given, in seconds of a monotonic clock."""

    spread: Callable[[], float] = lambda: 1.0
    """A factor for pauses, so that a thousand devices do not come back in the same moment."""
    window: Window = field(default_factory=Window)
    failures: int = 0
    """In a row."""
    _in_flight: dict[int, float] = field(default_factory=dict)
    """When each frame under way was sent, by its number."""
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
        """Whether something is under way, and nothing came back for longer than it should take."""
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
        """Frames that were under way for too long."""
        return [number for number, at in self._in_flight.items() if now - at >= DEADLINE_S]
