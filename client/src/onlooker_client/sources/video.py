"""Video files as OpenCV reads them, picture by picture, and recordings read as fast as possible."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onlooker_client.errors import SourceError
from onlooker_client.sources.kinds import EXAMPLES
from onlooker_client.sources.opencv import load_opencv
from onlooker_client.sources.source import EARLY, is_due

FPS_WHERE_UNKNOWN = 25.0
FASTEST_FPS = 1000.0
SEEK_BEYOND_S = 4.0
"""What is nearer than that is found by reading on."""


class VideoFile:
    """Grabs on demand; `at_s` is the moment of the picture that was grabbed last, from 0 on."""

    def __init__(self, path: Path) -> None:
        cv2 = load_opencv()
        _check_file(path)
        self._path = path
        self._settings = cv2
        self._capture: Any = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG)
        if not self._capture.isOpened():
            raise SourceError(f"{path} is not a video that OpenCV can read.")
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
        """To the first picture. Opens it again: not every file can be rewound."""
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


class Recording:
    """Iterates over (seconds from its start, pixels), once."""

    def __init__(self, video: VideoFile, *, fps: float, start_s: float) -> None:
        self._video = video
        self._fps = fps
        self._start_s = start_s
        self.duration_s = video.frames / video.fps
        """As the video's head says: an estimate, 0 where it does not say."""
        rest_s = max(0.0, self.duration_s - start_s)
        self.frames_expected = math.ceil(rest_s * min(fps, video.fps))
        """For a progress bar; there may be some more or less."""

    def __iter__(self) -> Iterator[tuple[float, Any]]:
        step = 0
        is_there = self._video.seek(self._start_s)
        while is_there:
            at_s = self._video.at_s
            if is_due(at_s, self._start_s + step / self._fps, 1 / self._video.fps):
                pixels = self._video.retrieve()
                if pixels is not None:
                    yield at_s, pixels
                    step = max(step + 1, math.floor((at_s - self._start_s) * self._fps))
            is_there = self._video.grab()

    def close(self) -> None:
        self._video.close()

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
    return Recording(VideoFile(Path(path).expanduser()), fps=fps, start_s=max(0.0, start_s))
