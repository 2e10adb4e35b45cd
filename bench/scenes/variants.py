"""Which frames of a scene are sent, and when each says it was taken."""

import random
from collections.abc import Callable
from dataclasses import dataclass

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
