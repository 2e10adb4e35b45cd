"""Pictures as a camera sends them: grey JPEG of quality 80, fitted into 640 x 480."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

FRAME_WIDTH, FRAME_HEIGHT = 640, 480
BACKDROP = 90


def fit(picture: Any) -> Any:
    """The picture as large as it fits, in the middle of a grey frame."""
    height, width = picture.shape[:2]
    scale = min(FRAME_WIDTH / width, FRAME_HEIGHT / height)
    size = round(width * scale), round(height * scale)
    resized = cv2.resize(picture, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    frame = np.full((FRAME_HEIGHT, FRAME_WIDTH, *picture.shape[2:]), BACKDROP, np.uint8)
    top, left = (FRAME_HEIGHT - size[1]) // 2, (FRAME_WIDTH - size[0]) // 2
    frame[top : top + size[1], left : left + size[0]] = resized
    return frame


def as_sent(picture: Any, *, quality: int = 80) -> bytes:
    """Grey JPEG."""
    grey = picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    return bytes(cv2.imencode(".jpg", grey, [cv2.IMWRITE_JPEG_QUALITY, quality])[1])


def as_frame(picture: Any) -> bytes:
    return as_sent(fit(picture))


def shrink(picture: Any) -> tuple[Any, float]:
    """A picture of at most 640 x 480, and by how much it was made smaller."""
    height, width = picture.shape[:2]
    scale = min(1.0, FRAME_WIDTH / width, FRAME_HEIGHT / height)
    if scale == 1.0:
        return picture, scale
    return cv2.resize(picture, (round(width * scale), round(height * scale)), interpolation=cv2.INTER_AREA), scale


def as_shot(picture: Any) -> tuple[bytes, float]:
    """The bytes that are sent of a picture, and its scale."""
    small, scale = shrink(picture)
    return as_sent(small), scale


SLOW_FPS = 5.0
DROPPED = 0.2
JITTER_S = 0.05
LEAST_STEP_S = 0.001


@dataclass(frozen=True)
class Shot:
    """One frame that is sent."""

    frame: int
    seconds: float


Variant = Callable[[int, float], list[Shot]]
"""Of a scene with so many frames and so many of them a second."""


def as_filmed(frames: int, fps: float) -> list[Shot]:
    return [Shot(number, number / fps) for number in range(frames)]


def slowly(frames: int, fps: float) -> list[Shot]:
    """Five frames a second."""
    step = max(1, round(fps / SLOW_FPS))
    return as_filmed(frames, fps)[::step]


def with_losses(frames: int, fps: float) -> list[Shot]:
    chance = random.Random(frames)
    return [shot for shot in as_filmed(frames, fps) if chance.random() >= DROPPED]


def with_jitter(frames: int, fps: float) -> list[Shot]:
    """Times off by up to 50 ms to both sides; no frame overtakes another."""
    chance = random.Random(frames)
    shots: list[Shot] = []
    for shot in as_filmed(frames, fps):
        seconds = shot.seconds + chance.uniform(-JITTER_S, JITTER_S)
        if shots:
            seconds = max(seconds, shots[-1].seconds + LEAST_STEP_S)
        shots.append(Shot(shot.frame, round(seconds, 3)))
    return shots


VARIANTS: dict[str, Variant] = {
    "at_5_fps": slowly,
    "with_20_percent_lost": with_losses,
    "with_50_ms_jitter": with_jitter,
}
