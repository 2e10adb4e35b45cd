"""A video file that grows picture by picture, each at its moment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onlooker_client.preview.drawing import cv2

LONGEST_STILL_S = 10.0
"""A longer gap becomes this long: hours without a server must not become gigabytes."""


class Reel:
    """Opens with the first picture, whose size all others get."""

    def __init__(self, path: Path, fps: float) -> None:
        self._path = path
        self._fps = fps
        self._writer: Any = None
        self._size = (0, 0)
        self._standing: Any = None
        self._began_at = 0.0
        self.frames = 0
        """Written so far, the pictures that stood included."""

    def add(self, pixels: Any, taken_at: float) -> None:
        """Show it from its moment (Unix time) on; until then the one before stands."""
        if self._writer is None:
            self._open(pixels, taken_at)
        fits = pixels.shape[1::-1] == self._size
        picture = pixels if fits else cv2.resize(pixels, self._size, interpolation=cv2.INTER_AREA)
        number = round((taken_at - self._began_at) * self._fps)
        longest = self.frames - 1 + round(LONGEST_STILL_S * self._fps)
        if not self.frames <= number <= longest:  # a long gap, or the clock was set back
            wanted = longest if number > longest else self.frames
            self._began_at += (number - wanted) / self._fps
            number = wanted
        while self.frames < number:
            self._write(self._standing)
        self._write(picture)
        self._standing = picture

    def close(self) -> None:
        """Only a closed file can be played."""
        if self._writer is not None:
            self._writer.release()

    def _open(self, pixels: Any, taken_at: float) -> None:
        self._size, self._standing, self._began_at = pixels.shape[1::-1], pixels, taken_at
        self._writer = cv2.VideoWriter(str(self._path), cv2.VideoWriter.fourcc(*"mp4v"), self._fps, self._size)
        if not self._writer.isOpened():
            raise OSError(0, f"OpenCV can't write a video named {self._path.name}; name it .mp4", str(self._path))

    def _write(self, pixels: Any) -> None:
        self._writer.write(pixels)
        self.frames += 1
