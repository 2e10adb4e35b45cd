"""Writes what was answered into a video, without a screen; its time is the scene's time."""

from __future__ import annotations

import os
import queue
import shutil
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from onlooker_client.errors import ConfigError
from onlooker_client.preview.caption import Caption, read_taken_at
from onlooker_client.preview.drawing import draw_answer, with_colours
from onlooker_client.preview.opening import Warn
from onlooker_client.preview.people import Answer
from onlooker_client.preview.reel import Reel

WAITING_FRAMES = 32
"""More are left out; the picture before them stands."""
SPARE_BYTES = 64 * 1024 * 1024
"""Less room on the disk ends the film: a device whose disk is full does nothing any more."""
CLOSING_S = 20.0
PRIVATE = 0o600
"""Mode of the file: there are people in it."""

Shown = tuple[Any, Answer]


class Film:
    """Takes pictures on any thread, draws and writes on its own."""

    def __init__(self, path: Path, fps: float, warn: Warn, *, spare_bytes: int = SPARE_BYTES) -> None:
        _check_writable(path)
        self._path = path
        self._fps = fps
        self._warn = warn
        self._spare_bytes = spare_bytes
        self._is_closed = False
        self._waiting: queue.Queue[Shown | None] = queue.Queue(WAITING_FRAMES)
        self._thread = threading.Thread(target=self._write_all, name="film", daemon=True)
        self._thread.start()

    def show(self, pixels: Any, answer: Answer) -> None:
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
        reel, caption = Reel(self._path, self._fps), Caption()
        try:
            for pixels, answer in iter(self._waiting.get, None):
                self._check_room()
                drawn = with_colours(pixels)
                draw_answer(drawn, answer, caption.read(answer))
                taken_at = read_taken_at(answer)
                reel.add(drawn, taken_at.timestamp() if taken_at else time.time())
        except OSError as error:
            self._warn(f"The film {self._path} ends here: {error.strerror}. Everything else goes on.")
        except Exception as error:  # noqa: BLE001 - the edge of a thread: what can't be drawn must not be silent
            self._warn(f"The film {self._path} ends here: it can't be drawn ({error!r}). Everything else goes on.")
        finally:
            reel.close()

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
