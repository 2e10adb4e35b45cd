"""A recorded video, read as fast as one can, at most so many pictures of each second of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onlooker_client.errors import SourceError
from onlooker_client.sources.film import Film
from onlooker_client.sources.pacing import is_due


class Recording:
    """Iterates over (seconds from its start, pixels), once."""

    def __init__(self, film: Film, *, fps: float, start_s: float) -> None:
        self._film = film
        self._fps = fps
        self._start_s = start_s
        self.duration_s = film.frames / film.fps
        """As the video's head says: an estimate, 0 where it does not say."""
        rest_s = max(0.0, self.duration_s - start_s)
        self.frames_expected = math.ceil(rest_s * min(fps, film.fps))
        """For a progress bar; there may be some more or less."""

    def __iter__(self) -> Iterator[tuple[float, Any]]:
        step = 0
        is_there = self._film.seek(self._start_s)
        while is_there:
            at_s = self._film.at_s
            if is_due(at_s, self._start_s + step / self._fps, 1 / self._film.fps):
                pixels = self._film.retrieve()
                if pixels is not None:
                    yield at_s, pixels
                    step = max(step + 1, math.floor((at_s - self._start_s) * self._fps))
            is_there = self._film.grab()

    def close(self) -> None:
        self._film.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()


def open_recording(path: str | Path, *, fps: float, start_s: float = 0.0) -> Recording:
    """From `start_s` on; its pictures' seconds count from the video's first one all the same.

    Raises SourceError where it is no video.
    """
    if not fps > 0:
        raise SourceError("A rate must be more than 0 frames a second.")
    return Recording(Film(Path(path).expanduser()), fps=fps, start_s=max(0.0, start_s))
