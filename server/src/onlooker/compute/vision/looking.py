"""Whether a face looks at the camera: its head above all, its eyes a little."""

import math
from dataclasses import dataclass

from onlooker.compute.vision.head import Direction

LIMIT_RADIANS = math.radians(15)
GAZE_WEIGHT = 0.2
"""The eyes of a face of 40 to 100 pixels are read 10 to 20 degrees wrong, its head 4: the eyes may only nudge."""
SPREAD_RADIANS = 0.05
"""How surely an angle is known: so far from the limit, a verdict is right in about three of four cases."""
STEADY_FROM_PX = 40
"""The head of a smaller face is read less surely."""
CEILING_DROP_RADIANS = math.radians(60)
"""A camera on the ceiling hangs above what it watches for: who looks this far below it, may look at the screen."""


@dataclass(frozen=True)
class Looking:
    """A verdict on one face in one picture."""

    at_camera: bool
    confidence: float
    """That the verdict is right: from one half at the limit to one far from it."""
    angle_radians: float
    """Between where the face looks and the line to the camera."""


def judge_looking(
    head: Direction, gaze: Direction, *, towards_camera: Direction, face_px: float, from_ceiling: bool = False
) -> Looking:
    """Compare where a face looks with where it has the camera; `gaze` is the head's where the eyes can't be read."""
    looks = _nudge(head, gaze)
    if from_ceiling:
        looks = _lifted(looks, towards_camera)
    angle = _angle_between(looks, towards_camera)
    spread = SPREAD_RADIANS * max(1.0, STEADY_FROM_PX / max(face_px, 1.0))
    confidence = 1 / (1 + math.exp(-abs(LIMIT_RADIANS - angle) / spread))
    return Looking(angle <= LIMIT_RADIANS, confidence, angle)


def _nudge(head: Direction, gaze: Direction) -> Direction:
    yaw = math.remainder(gaze.yaw_radians - head.yaw_radians, math.tau)
    pitch = gaze.pitch_radians - head.pitch_radians
    return Direction(head.yaw_radians + GAZE_WEIGHT * yaw, head.pitch_radians + GAZE_WEIGHT * pitch)


def _lifted(looks: Direction, towards_camera: Direction) -> Direction:
    """The same look, raised to the camera if it goes below it by no more than a screen's place explains."""
    below = towards_camera.pitch_radians - looks.pitch_radians
    return Direction(looks.yaw_radians, looks.pitch_radians + min(max(below, 0.0), CEILING_DROP_RADIANS))


def _angle_between(one: Direction, other: Direction) -> float:
    level = math.cos(one.pitch_radians) * math.cos(other.pitch_radians)
    upright = math.sin(one.pitch_radians) * math.sin(other.pitch_radians)
    cosine = upright + level * math.cos(one.yaw_radians - other.yaw_radians)
    return math.acos(max(-1.0, min(1.0, cosine)))
