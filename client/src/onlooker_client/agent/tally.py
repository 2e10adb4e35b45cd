"""Counts every frame that was grabbed, so that none is lost without a word."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field

from onlooker_client.agent.drops import Drop


@dataclass(frozen=True)
class Counts:
    """At one moment: grabbed = idle + answered + dropped + in_flight."""

    grabbed: int
    idle: int
    """Not sent, as nobody was there and nothing moved."""
    answered: int
    dropped: dict[str, int]
    in_flight: int
    sent_bytes: int

    @property
    def adds_up(self) -> bool:
        return self.grabbed == self.idle + self.answered + sum(self.dropped.values()) + self.in_flight


@dataclass
class Tally:
    """Counts from any thread."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _grabbed: int = 0
    _idle: int = 0
    _answered: int = 0
    _in_flight: int = 0
    _dropped: Counter[Drop] = field(default_factory=Counter)
    _sent_bytes: int = 0

    def skip_idle(self) -> None:
        with self._lock:
            self._grabbed += 1
            self._idle += 1

    def send(self, size_bytes: int) -> None:
        """It is under way now; `answer` or `lose` ends that."""
        with self._lock:
            self._grabbed += 1
            self._in_flight += 1
            self._sent_bytes += size_bytes

    def answer(self) -> None:
        with self._lock:
            self._in_flight -= 1
            self._answered += 1

    def lose(self, reason: Drop) -> None:
        """One that was under way."""
        with self._lock:
            self._in_flight -= 1
            self._dropped[reason] += 1

    def drop(self, reason: Drop) -> None:
        """One that was never sent."""
        with self._lock:
            self._grabbed += 1
            self._dropped[reason] += 1

    @property
    def dropped(self) -> int:
        """For whatever reason."""
        with self._lock:
            return sum(self._dropped.values())

    def read(self) -> Counts:
        with self._lock:
            dropped = {reason.value: count for reason, count in sorted(self._dropped.items())}
            return Counts(
                grabbed=self._grabbed,
                idle=self._idle,
                answered=self._answered,
                dropped=dropped,
                in_flight=self._in_flight,
                sent_bytes=self._sent_bytes,
            )
