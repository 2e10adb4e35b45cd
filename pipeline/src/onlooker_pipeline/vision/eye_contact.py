"""Whether a face looks at the camera: decided by the head mostly, by the eyes a little."""

import math
from dataclasses import dataclass

from onlooker_pipeline.vision.head_pose import Direction

LIMIT_RADIANS = math.radians(15)
GAZE_WEIGHT = 0.2
"""In faces of 40 to 100 pixels the error is 10 to 20 degrees for the eyes and 4 for the head."""
SPREAD_RADIANS = 0.05
"""Uncertainty of an angle: this far from the limit, about three of four verdicts are right."""
STEADY_FROM_PX = 40
"""The head of a smaller face is read with less certainty."""
CEILING_DROP_RADIANS = math.radians(60)
"""A camera on the ceiling hangs above the screen: somebody who looks this far below it may look at the screen."""


@dataclass(frozen=True)
class EyeContact:
    """A verdict on one face in one picture."""

    at_camera: bool
    confidence: float
    """That the verdict is right: from 0.5 at the limit to 1 far from it."""
    angle_radians: float
    """Between where the face looks and the line to the camera."""


def judge_eye_contact(
    head: Direction, gaze: Direction, *, towards_camera: Direction, face_px: float, from_ceiling: bool = False
) -> EyeContact:
    """Compare the direction of a face with the direction to the camera; `gaze` is the head's if eyes are unreadable."""
    looks = _nudge(head, gaze)
    if from_ceiling:
        looks = _lifted(looks, towards_camera)
    angle = _angle_between(looks, towards_camera)
    spread = SPREAD_RADIANS * max(1.0, STEADY_FROM_PX / max(face_px, 1.0))
    confidence = 1 / (1 + math.exp(-abs(LIMIT_RADIANS - angle) / spread))
    return EyeContact(angle <= LIMIT_RADIANS, confidence, angle)


def _nudge(head: Direction, gaze: Direction) -> Direction:
    yaw = math.remainder(gaze.yaw_radians - head.yaw_radians, math.tau)
    pitch = gaze.pitch_radians - head.pitch_radians
    return Direction(head.yaw_radians + GAZE_WEIGHT * yaw, head.pitch_radians + GAZE_WEIGHT * pitch)


def _lifted(looks: Direction, towards_camera: Direction) -> Direction:
    """The same direction, raised to the camera by up to CEILING_DROP_RADIANS."""
    below = towards_camera.pitch_radians - looks.pitch_radians
    return Direction(looks.yaw_radians, looks.pitch_radians + min(max(below, 0.0), CEILING_DROP_RADIANS))


def _angle_between(one: Direction, other: Direction) -> float:
    level = math.cos(one.pitch_radians) * math.cos(other.pitch_radians)
    upright = math.sin(one.pitch_radians) * math.sin(other.pitch_radians)
    cosine = upright + level * math.cos(one.yaw_radians - other.yaw_radians)
    return math.acos(max(-1.0, min(1.0, cosine)))
