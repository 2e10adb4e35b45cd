"""A video file as OpenCV gives it: one picture after the other, each with its moment in the film."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from onlooker_client.errors import SourceError
from onlooker_client.sources.naming import EXAMPLES
from onlooker_client.sources.opencv import load_opencv
from onlooker_client.sources.pacing import EARLY

FPS_WHERE_UNKNOWN = 25.0
FASTEST_FPS = 1000.0
SEEK_BEYOND_S = 4.0
"""What is nearer than that is found by reading on."""


class Film:
    """Grabs on demand; `at_s` is the moment of the picture that was grabbed last, from 0 on."""

    def __init__(self, path: Path) -> None:
        cv2 = load_opencv()
        _check_file(path)
        self._path = path
        self._settings = cv2
        self._capture: Any = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG)
        if not self._capture.isOpened():
            raise SourceError(f"{path} is no video that OpenCV can read.")
        fps = self._capture.get(cv2.CAP_PROP_FPS)
        self.fps = fps if math.isfinite(fps) and 0 < fps <= FASTEST_FPS else FPS_WHERE_UNKNOWN
        self.frames = max(0, int(self._capture.get(cv2.CAP_PROP_FRAME_COUNT)))
        """As its head says; 0 where it does not."""
        self.at_s = 0.0
        self._first_s: float | None = None

    def grab(self) -> bool:
        """False after the last picture."""
        if not self._capture.grab():
            return False
        stamp_s = self._capture.get(self._settings.CAP_PROP_POS_MSEC) / 1000.0
        if self._first_s is None:
            self._first_s = stamp_s
            return True
        stamp_s -= self._first_s
        # Damaged files have stamps that stand still or go back: then the rate that its head says has to do.
        self.at_s = stamp_s if stamp_s > self.at_s else self.at_s + 1 / self.fps
        return True

    def retrieve(self) -> Any | None:
        is_whole, pixels = self._capture.retrieve()
        return pixels if is_whole else None

    def seek(self, at_s: float) -> bool:
        """Grab the first picture at or after this moment; False where there is none."""
        if not self.grab():
            return False
        if at_s > SEEK_BEYOND_S:
            self._jump(at_s - SEEK_BEYOND_S / 2)
            if self.at_s > at_s:  # not every file says truly where its pictures are
                self.rewind()
                self.grab()
        while self.at_s < at_s - EARLY / self.fps:
            if not self.grab():
                return False
        return True

    def _jump(self, at_s: float) -> None:
        self._capture.set(self._settings.CAP_PROP_POS_MSEC, (at_s + (self._first_s or 0.0)) * 1000.0)
        self.grab()

    def rewind(self) -> None:
        """To the first picture. Opens it anew: not every file can be wound back."""
        self.close()
        self._capture = self._settings.VideoCapture(str(self._path), self._settings.CAP_FFMPEG)
        self.at_s, self._first_s = 0.0, None

    def close(self) -> None:
        self._capture.release()


def _check_file(path: Path) -> None:
    try:
        with path.open("rb") as file:
            if not file.read(1):
                raise SourceError(f"{path} is empty.")
    except FileNotFoundError:
        raise SourceError(f"{path} does not exist. {EXAMPLES}") from None
    except OSError as error:
        raise SourceError(f"{path} can't be read: {error.strerror}.") from None
