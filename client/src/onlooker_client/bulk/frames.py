"""The frames of a recording, read and encoded ahead by a thread of their own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from onlooker_client.errors import OnlookerError, SourceError
from onlooker_client.jpeg import JpegEncoder

AHEAD_FRAMES = 8
"""Enough that the server never waits for the video; few enough for a small memory."""


@dataclass(frozen=True)
class VideoFrame:
    """What is sent of one picture."""

    seconds: float
    """From the start of the video."""
    image: bytes
    pixels: Any = None
    """What was encoded, where somebody wants to see it."""
    unanswered: int = 0
    """How often it was sent without an answer: each time the server may have it, or not."""


class FramesAhead:
    """Iterates once; `close` ends the thread."""

    def __init__(
        self, pictures: Iterable[tuple[float, Any]], encoder: JpegEncoder, *, keep: bool, encodes: bool = True
    ) -> None:
        self._pictures = pictures
        self._encoder = encoder
        self._keep = keep
        self._encodes = encodes
        self._ready: queue.Queue[VideoFrame | OnlookerError | None] = queue.Queue(AHEAD_FRAMES)
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._fill, name="encode", daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[VideoFrame]:
        while True:
            item = self._ready.get()
            if item is None:
                return
            if isinstance(item, OnlookerError):
                raise item
            yield item

    def close(self) -> None:
        self._is_closed.set()
        while self._thread.is_alive():
            try:
                self._ready.get_nowait()  # the thread may wait for room
            except queue.Empty:
                self._thread.join(0.05)

    def _fill(self) -> None:
        try:
            for seconds, pixels in self._pictures:
                if self._is_closed.is_set():
                    return
                self._ready.put(self._frame(seconds, pixels))
            self._ready.put(None)
        except OnlookerError as error:
            self._ready.put(error)
        except Exception as error:  # noqa: BLE001 (the edge of a thread: the reader of frames must learn of it)
            self._ready.put(SourceError(f"The video can't be read any further: {error}"))

    def _frame(self, seconds: float, pixels: Any) -> VideoFrame:
        scaled = self._encoder.scaled(pixels)
        image = self._encoder.encode_scaled(scaled) if self._encodes else b""
        return VideoFrame(seconds, image, scaled if self._keep else None)
