"""At most so many bytes a second, on average over a second."""

from __future__ import annotations

from dataclasses import dataclass


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
