"""When a picture is due: the one nearest to the moment that was asked for, so that equal rates lose none."""

from __future__ import annotations

EARLY = 0.4
"""Part of the time between two pictures by which one may be early."""
LONGEST_INTERVAL_S = 0.5
"""Beyond that a source is no film but a row of pictures, and being early by much would show."""


def is_due(at_s: float, due_s: float, interval_s: float) -> bool:
    """Whether a picture of `at_s` is the one for `due_s`, where the next one comes an interval later."""
    return at_s >= due_s - EARLY * min(interval_s, LONGEST_INTERVAL_S)


class Interval:
    """Learns the time between two pictures of a camera."""

    def __init__(self, first_guess_s: float) -> None:
        self._interval_s = first_guess_s
        self._last_s: float | None = None

    def add(self, at_s: float) -> float:
        """A picture came at this moment; the interval as far as it is known."""
        if self._last_s is not None:
            self._interval_s += 0.1 * (min(at_s - self._last_s, LONGEST_INTERVAL_S) - self._interval_s)
        self._last_s = at_s
        return self._interval_s
