"""What the checks share: settings, some seconds of watching the camera, and what earlier checks found."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Callable

from onlooker_client.config import Config
from onlooker_client.doctor.picture import Light
from onlooker_client.errors import ConfigError, SourceError
from onlooker_client.sources.source import Picture, Source
from onlooker_client.wire.transport import Transport, basic_authorization

SETTLE_S = 1.0
"""A camera that was just opened still adapts to the light."""
LOOK_S = 3.0
KEEP_EVERY_S = 0.4
EVERY = 0.0
"""Due since long ago: the next picture, whichever it is."""
STEP = 16
"""Every so many rows and columns are compared: noise changes some of them in every picture of a living sensor."""


@dataclass
class Observation:
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


class CameraObserver:
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

    def observe(self) -> Observation:
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

    def _watch(self, seconds: float) -> Observation:
        observation = Observation()
        began_at = time.monotonic()
        first_at = last_at = keep_at = began_at
        while time.monotonic() < began_at + seconds:
            picture = self._read()
            if picture is None:
                break
            last_at = time.monotonic()
            first_at = first_at if observation.frames else last_at
            observation.frames += 1
            observation.size_px = (picture.pixels.shape[1], picture.pixels.shape[0])
            observation.changes = self._differs(picture) or observation.changes
            if last_at >= keep_at:
                keep_at = last_at + KEEP_EVERY_S
                observation.pictures.append(Picture(self._encoder.scaled(picture.pixels), picture.taken_at))
        observation.span_s = last_at - first_at
        return observation

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


@dataclass(frozen=True)
class CameraView:
    """What was seen through the camera."""

    observer: CameraObserver
    observation: Observation
    light: Light


@dataclass
class Examination:
    """One run of doctor; each check fills in what later ones need."""

    config: Config
    clock: Callable[[], float]
    """Unix time of this machine."""
    fps: float = 10.0
    """Frames a second that the agent will send."""
    view_degrees: float | None = None
    """How wide the lens sees, from the left edge to the right one; None if nobody has said so."""
    source: Source | None = None
    view: CameraView | None = None
    jpegs: list[tuple[float, bytes]] = field(default_factory=list)
    """Some pictures of the camera as they are sent, with their Unix times."""
    transport: Transport | None = None
    stream: dict[str, Any] = field(default_factory=dict)
    """What the server says of the stream; empty where it is too old to say."""

    def seen(self) -> CameraView:
        """For checks that come after the camera's."""
        if self.view is None:
            raise SourceError("The camera gave no picture.")
        return self.view

    def connect(self) -> Transport:
        """To the server, with Login and Password where they are set."""
        if self.transport is None:
            config = self.config
            if not config.url:
                raise ConfigError("The server's address is not set.")
            authorization = ""
            if config.client_id and config.access_token:
                authorization = basic_authorization(config.client_id, config.access_token)
            self.transport = Transport(config.url, authorization=authorization, ca_file=config.ca_file)
        return self.transport

    @property
    def jpeg_bytes(self) -> float:
        """Mean size of a picture; 0 where there is none."""
        return sum(len(jpeg) for _, jpeg in self.jpegs) / len(self.jpegs) if self.jpegs else 0.0

    def close(self) -> None:
        if self.source is not None:
            self.source.close()
        if self.transport is not None:
            self.transport.close()
