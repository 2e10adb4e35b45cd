"""Timestamps of frames: true to the clock, and never going back while the clock is merely set right."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

JUMP_S = 15.0
"""A clock that is off by more was wrong: its new time is taken at once, and the server starts the scene over."""
SLEW = 0.05
"""By how much seconds may be stretched while the clock is followed."""
STEP_S = 0.001
"""Timestamps have milliseconds."""


@dataclass
class Timestamps:
    """Follows the wall clock with the steady seconds of the monotonic one. Pure: both are given."""

    _ahead_s: float = 0.0
    """Of the monotonic clock."""
    _followed_at: float | None = None
    _last: float = float("-inf")

    def stamp(self, taken_at: float, monotonic_s: float) -> float:
        """Unix time for a frame, later than that of the frame before unless the clock was set back by far."""
        off_s = taken_at - monotonic_s - self._ahead_s
        if self._followed_at is None or abs(off_s) > JUMP_S:
            self._ahead_s += off_s
            self._last = round(taken_at, 3)
        else:
            at_most_s = SLEW * max(0.0, monotonic_s - self._followed_at)
            self._ahead_s += max(-at_most_s, min(at_most_s, off_s))
            self._last = round(max(monotonic_s + self._ahead_s, self._last + STEP_S), 3)
        self._followed_at = monotonic_s
        return self._last


def format_timestamp(unix_s: float) -> str:
    """ISO 8601 with this machine's offset at that moment, to the millisecond."""
    minute, milliseconds = divmod(round(unix_s * 1000), 60_000)
    until_minute, offset = _texts_of(minute)
    return f"{until_minute}{milliseconds // 1000:02}.{milliseconds % 1000:03}{offset}"


@lru_cache(maxsize=2)
def _texts_of(minute: int) -> tuple[str, str]:
    """What all timestamps of a minute have in common: asking the system for the offset costs more than all the rest."""
    whole = datetime.fromtimestamp(minute * 60).astimezone().isoformat(timespec="seconds")
    return whole[:17], whole[19:]
