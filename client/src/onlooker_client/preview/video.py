"""Writes annotated pictures into a video, without a screen; its time is the scene's time."""

from __future__ import annotations

import os
import queue
import shutil
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Callable

from onlooker_client.errors import ConfigError
from onlooker_client.preview.overlay import Caption, cv2, draw_answer, read_taken_at, with_colours
from onlooker_client.scene import SceneAnswer

WAITING_FRAMES = 32
"""More are left out; the picture before them stands."""
SPARE_BYTES = 64 * 1024 * 1024
"""Less room on the disk ends the film: a device whose disk is full does nothing any more."""
CLOSING_S = 20.0
PRIVATE = 0o600
"""Mode of the file: there are people in it."""

Shown = tuple[Any, SceneAnswer]
LONGEST_STILL_S = 10.0
"""A longer gap becomes this long: hours without a server must not become gigabytes."""


class PreviewVideo:
    """Takes pictures on any thread, draws and writes on its own."""

    def __init__(self, path: Path, fps: float, warn: Callable[[str], None], *, spare_bytes: int = SPARE_BYTES) -> None:
        _check_writable(path)
        self._path = path
        self._fps = fps
        self._warn = warn
        self._spare_bytes = spare_bytes
        self._is_closed = False
        self._waiting: queue.Queue[Shown | None] = queue.Queue(WAITING_FRAMES)
        self._thread = threading.Thread(target=self._write_all, name="film", daemon=True)
        self._thread.start()

    def show(self, pixels: Any, answer: SceneAnswer) -> None:
        if self._thread.is_alive() and not self._is_closed:
            with suppress(queue.Full):  # the disk or the processor is too slow: the picture before stands
                self._waiting.put_nowait((pixels, answer))

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        give_up_at = time.monotonic() + CLOSING_S
        while self._thread.is_alive() and time.monotonic() < give_up_at:
            try:
                self._waiting.put(None, timeout=0.2)
                break
            except queue.Full:
                continue
        self._thread.join(max(0.0, give_up_at - time.monotonic()))

    def _write_all(self) -> None:
        writer, caption = TimedVideoWriter(self._path, self._fps), Caption()
        try:
            for pixels, answer in iter(self._waiting.get, None):
                self._check_room()
                drawn = with_colours(pixels)
                draw_answer(drawn, answer, caption.read(answer))
                taken_at = read_taken_at(answer)
                writer.add(drawn, taken_at.timestamp() if taken_at else time.time())
        except OSError as error:
            self._warn(f"The video {self._path} ends here: {error.strerror}. Everything else continues.")
        except Exception as error:  # noqa: BLE001 - the edge of a thread: what can't be drawn must not be silent
            self._warn(f"The video {self._path} ends here: it can't be drawn ({error!r}). Everything else continues.")
        finally:
            writer.close()

    def _check_room(self) -> None:
        """OpenCV does not say when a disk is full, and what it wrote can then not be played."""
        if shutil.disk_usage(self._path.parent).free < self._spare_bytes:
            raise OSError(0, "the disk is nearly full")


def _check_writable(path: Path) -> None:
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, PRIVATE))
        path.chmod(PRIVATE)  # one that was there may be open to all
    except OSError as error:
        raise ConfigError(f"{path} can't be written: {error.strerror}.") from None


class TimedVideoWriter:
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
