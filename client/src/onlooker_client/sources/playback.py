"""Videos and folders of pictures played as if they were a camera: in real time, once or again and again."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path
from typing import Any, Protocol

from onlooker_client.errors import SourceError
from onlooker_client.sources.opencv import load_opencv
from onlooker_client.sources.source import Picture, is_due
from onlooker_client.sources.video import VideoFile

SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".webp")

CLOSING_S = 1.0


class PictureSequence(Protocol):
    """Pictures in a row, each with its moment."""

    fps: float

    @property
    def at_s(self) -> float: ...
    def grab(self) -> bool: ...
    def retrieve(self) -> Any | None: ...
    def rewind(self) -> None: ...
    def close(self) -> None: ...


class PictureFolder:
    """The pictures of a folder, in the order people count: 2.jpg is before 10.jpg."""

    def __init__(self, folder: Path, *, fps: float) -> None:
        self._opencv = load_opencv()
        self._paths = sorted((path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES), key=_counted)
        if not self._paths:
            raise SourceError(f"{folder} has no pictures. Their names must end with {', '.join(SUFFIXES)}.")
        self.fps = fps
        self._next = 0

    @property
    def at_s(self) -> float:
        return (self._next - 1) / self.fps

    def grab(self) -> bool:
        self._next += 1
        return self._next <= len(self._paths)

    def retrieve(self) -> Any | None:
        return self._opencv.imread(str(self._paths[self._next - 1]), self._opencv.IMREAD_COLOR)

    def rewind(self) -> None:
        self._next = 0

    def close(self) -> None:
        pass


class PlayedSource:
    """Time begins with the first `read`, and goes on as it does before a camera."""

    is_live = False

    def __init__(self, name: str, pictures: PictureSequence, *, loop: bool) -> None:
        self.name = name
        self._pictures = pictures
        self._loop = loop
        self._began_s: float | None = None
        self._has_shown = self._has_damaged = False
        self._finding_since_s: float | None = None
        self._lock = threading.Lock()
        self._closed = threading.Event()

    def read(self, due_s: float) -> Picture | None:
        if self._began_s is None:
            self._began_s = time.monotonic()
        with self._lock:
            while not self._closed.is_set() and self._find(due_s):
                if self._closed.wait(max(0.0, self._began_s + self._pictures.at_s - time.monotonic())):
                    break
                pixels = self._pictures.retrieve()
                if pixels is not None:
                    self._has_shown = True
                    return Picture(pixels, time.time())
                self._has_damaged = True
        return None

    def close(self) -> None:
        self._closed.set()
        if self._lock.acquire(timeout=CLOSING_S):
            self._pictures.close()
            self._lock.release()

    @property
    def stuck_s(self) -> float:
        """For how long a disk has held up the reader; 0 where it does not."""
        since_s = self._finding_since_s
        return time.monotonic() - since_s if since_s is not None else 0.0

    def _find(self, due_s: float) -> bool:
        """Grab the picture that is due."""
        self._finding_since_s = time.monotonic()
        try:
            while self._grab():
                if is_due((self._began_s or 0.0) + self._pictures.at_s, due_s, 1 / self._pictures.fps):
                    return True
            return False
        finally:
            self._finding_since_s = None

    def _grab(self) -> bool:
        if self._pictures.grab():
            return True
        if self._has_damaged and not self._has_shown:
            raise SourceError(f"{self.name} has no picture that can be read.")
        if not self._loop:
            return False
        self._began_s = (self._began_s or 0.0) + self._pictures.at_s + 1 / self._pictures.fps
        self._pictures.rewind()
        return self._pictures.grab()


def play_video(path: Path, *, name: str, loop: bool = False) -> PlayedSource:
    return PlayedSource(name, VideoFile(path), loop=loop)


def play_folder(folder: Path, *, name: str, fps: float, loop: bool = False) -> PlayedSource:
    return PlayedSource(name, PictureFolder(folder, fps=fps), loop=loop)


def _counted(path: Path) -> list[tuple[int, int, str]]:
    """Digits compare as numbers."""
    parts = re.split(r"(\d+)", path.name)
    return [(0, int(part), "") if part.isdigit() else (1, 0, part.lower()) for part in parts]
