"""Watches the camera for some seconds: how many pictures come, and some of them to judge."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from onlooker_client.errors import SourceError
from onlooker_client.sources.source import Picture, Source

SETTLE_S = 1.0
"""A camera that was just opened still adapts to the light."""
LOOK_S = 3.0
KEEP_EVERY_S = 0.4
EVERY = 0.0
"""Due since long ago: the next picture, whichever it is."""
STEP = 16
"""Every so many rows and columns are compared: noise changes some of them in every picture of a living sensor."""


@dataclass
class Look:
    """What was seen."""

    pictures: list[Picture] = field(default_factory=list)
    """Some of them, grey, in the size in which they are sent."""
    frames: int = 0
    span_s: float = 0.0
    """From the first to the last of `frames`."""
    size_px: tuple[int, int] = (0, 0)
    """Width and height, as the camera gives them."""
    changes: bool = False
    """Whether any picture differs from the first one."""

    @property
    def pixels(self) -> list[Any]:
        return [picture.pixels for picture in self.pictures]

    @property
    def rate(self) -> float:
        """Pictures a second."""
        return (self.frames - 1) / self.span_s if self.frames > 1 and self.span_s > 0 else 0.0


class Looker:
    """Looks through one open source."""

    def __init__(self, source: Source, encoder: Any) -> None:
        self._source = source
        self._encoder = encoder
        self._first: bytes | None = None
        self.failure: SourceError | None = None
        """Why the pictures ended, where they did."""

    @property
    def is_live(self) -> bool:
        return self._source.is_live

    def look(self) -> Look:
        """Let the camera settle, then count. A video that ends early is judged by what it had."""
        self._read()  # the first one may take its time
        early = self._watch(SETTLE_S)
        later = self._watch(LOOK_S)
        later.changes = later.changes or early.changes
        return later if later.frames > 1 else early

    def wait_for_change(self, seconds: float) -> bool:
        """Whether a picture that differs from the first one comes within so many seconds."""
        give_up_at = time.monotonic() + seconds
        while time.monotonic() < give_up_at:
            picture = self._source.read(EVERY)
            if picture is None:
                return False
            if self._differs(picture):
                return True
        return False

    def _watch(self, seconds: float) -> Look:
        look = Look()
        began_at = time.monotonic()
        first_at = last_at = keep_at = began_at
        while time.monotonic() < began_at + seconds:
            picture = self._read()
            if picture is None:
                break
            last_at = time.monotonic()
            first_at = first_at if look.frames else last_at
            look.frames += 1
            look.size_px = (picture.pixels.shape[1], picture.pixels.shape[0])
            look.changes = self._differs(picture) or look.changes
            if last_at >= keep_at:
                keep_at = last_at + KEEP_EVERY_S
                look.pictures.append(Picture(self._encoder.scaled(picture.pixels), picture.taken_at))
        look.span_s = last_at - first_at
        return look

    def _read(self) -> Picture | None:
        try:
            picture = self._source.read(EVERY)
        except SourceError as error:
            if self._first is None:
                raise
            self.failure = error
            return None
        if picture is not None and self._first is None:
            self._first = _sample(picture)
        return picture

    def _differs(self, picture: Picture) -> bool:
        return _sample(picture) != self._first


def _sample(picture: Picture) -> bytes:
    return bytes(picture.pixels[::STEP, ::STEP].tobytes())
