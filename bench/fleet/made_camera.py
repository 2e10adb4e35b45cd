"""Cameras of simulated devices, by name: one that works, one that dies after a picture, one that is not there."""

import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from onlooker_client.sources.opener import SourceOptions
from onlooker_client.sources.reconnection import SourceEvent, SourceState
from onlooker_client.sources.source import Picture

WORKING, DYING, MISSING = "/dev/video0", "/dev/video7", "/dev/video9"
"""The second passes the look that an agent takes before it uses a new camera; so only a trial finds it out."""
_PICTURES = {DYING: 1, MISSING: 0}
COUNT = 8
WIDTH_PX, HEIGHT_PX = 160, 120


@cache
def drawn_pictures() -> tuple[Any, ...]:
    """Each a little different, as those of a sensor are."""
    noise = np.random.default_rng(0)
    shades = np.linspace(60, 190, WIDTH_PX, dtype=np.float32)[None, :, None]
    return tuple(
        np.clip(shades + noise.normal(0, 12, (HEIGHT_PX, WIDTH_PX, 3)), 0, 255).astype(np.uint8) for _ in range(COUNT)
    )


class MadeCamera:
    """In the place of a `ReconnectingSource`; may be open several times."""

    is_live = True
    stuck_s = 0.0

    def __init__(
        self, text: str, options: SourceOptions, *, on_change: Callable[[SourceEvent], None] | None = None
    ) -> None:
        self.name = text
        self._left = _PICTURES.get(text, 2**62)
        self._on_change = on_change
        self._given = 0
        self._closed = threading.Event()

    def read(self, due_s: float) -> Picture | None:
        if self._given >= self._left:
            self._say(SourceState.LOST if self._given else SourceState.WAITING, f"{self.name} gives no pictures.")
            self._closed.wait()
            return None
        if self._closed.wait(max(0.0, due_s - time.monotonic())):
            return None
        self._given += 1
        if self._given == 1:
            self._say(SourceState.OPENED)
        pictures = drawn_pictures()
        return Picture(pictures[self._given % len(pictures)], time.time())

    def close(self) -> None:
        self._closed.set()

    def _say(self, state: SourceState, reason: str = "") -> None:
        if self._on_change is not None:
            self._on_change(SourceEvent(state, reason))
