"""A camera that makes its pictures: opened by its text, as ReconnectingSource, and as often as one likes."""

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from onlooker_client.errors import SourceError
from onlooker_client.sources.opener import SourceOptions
from onlooker_client.sources.reconnection import SourceEvent, SourceState
from onlooker_client.sources.source import Picture

BROKEN = "/dev/video97"
"""Can't be opened."""
BLIND = "/dev/video98"
"""Gives one picture when it is tried, and none when it is used."""


class MadeCamera:
    """Noise, at whatever rate is asked for."""

    is_live = True
    stuck_s = 0.0

    def __init__(
        self, text: str, options: SourceOptions, *, on_change: Callable[[SourceEvent], None] | None = None
    ) -> None:
        if text == "/dev/nothing":
            raise SourceError("There is no such camera.")
        self.name = f"camera {text}"
        self._text = text
        self._on_change = on_change
        self._closed = threading.Event()
        self._dice = np.random.default_rng(1)
        self._given = 0

    def read(self, due_s: float) -> Picture | None:
        if self._text == BROKEN:
            if self._on_change is not None:
                self._on_change(SourceEvent(SourceState.WAITING, "There is no camera 97."))
            self._closed.wait()
        if self._text == BLIND and self._given:
            self._closed.wait()
        if self._closed.wait(max(due_s - time.monotonic(), 0.0)):
            return None
        self._given += 1
        pixels: Any = self._dice.integers(60, 200, (240, 320), np.uint8)
        return Picture(pixels, time.time())

    def close(self) -> None:
        self._closed.set()
