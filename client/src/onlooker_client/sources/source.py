"""What every source of pictures has in common: its interface, its feed, and when a picture is due."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

EARLY = 0.4
"""Part of the time between two pictures by which one may be early."""
LONGEST_INTERVAL_S = 0.5
"""Beyond that a source is no video but a row of pictures, and being early by much would show."""


@dataclass(frozen=True)
class Picture:
    """One picture, as OpenCV has it: rows of pixels, blue, green and red, or grey alone."""

    pixels: Any
    taken_at: float
    """Unix time."""


class Source(Protocol):
    """Gives pictures while it is open."""

    name: str
    """As people call it, for logs; never with a password in it."""
    is_live: bool
    """Whether it shows the world now: a camera, or what comes through a pipe. Videos and folders only play it."""

    def read(self, due_s: float) -> Picture | None:
        """The first picture at or after this moment of the monotonic clock; None after the last one, or once closed.

        One that is early by less than half of the time between two counts as on time: so a camera of 10 frames a
        second, read 10 times a second, loses none. Pictures before it are skipped as cheaply as can be. Blocks until
        there is one; raises SourceError when the source broke, or gave nothing for too long.
        """

    def close(self) -> None:
        """May be called twice, and from another thread; a `read` that waits returns None."""


class Feed(Protocol):
    """Used by one thread alone."""

    def open(self) -> None:
        """Raises SourceError where that can't be done."""

    def grab(self) -> bool:
        """Wait for the next picture; False after the last one. Raises SourceError when it broke."""

    def retrieve(self) -> Any | None:
        """The pixels of the picture that was grabbed; None where it is damaged."""

    def release(self) -> None:
        """Give back what `open` took, also where it failed."""


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
