"""What every source of pictures is: a camera, a video, a folder, standard input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


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
