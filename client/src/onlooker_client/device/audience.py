"""Who is in view now, without identity: what the local feed says after a frame."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable

from onlooker_client.device.computed_frame import ComputedFrame
from onlooker_client.scene import ids_in_view

AGE_BANDS = {"0-14": 0, "15-24": 15, "25-34": 25, "35-44": 35, "45-54": 45, "55-64": 55, "65+": 65}
"""The lowest age of each band, as in the metrics."""
GENDERS = ("female", "male")
UNTOLD = {"age_band": None, "gender": None}
"""Of people who are told about in groups alone."""
MOST_PEOPLE = 64
"""Nobody reads more of them, and the computing process may be mistaken."""
LOOK_BRIDGE_S = 0.5
"""A look goes on over a shorter time in which the face is hidden or a single frame says otherwise."""
LIMIT_RADIANS = math.radians(15)
GAZE_WEIGHT = 0.2
CEILING_DROP_RADIANS = math.radians(60)
"""The same rule as the pipeline's: its answer has the angles, not the verdict."""
HEAD_OF_BODY = 1 / 8
"""Where the middle of the head is, from the top of a body."""


@dataclass
class Onlooker:
    """Somebody in view; forgotten when they leave."""

    number: int
    came_s: float
    look_began_s: float = 0.0
    looked_s: float = -math.inf
    """When they were last seen looking."""


class Audience:
    """Numbers people in the order in which they come, and remembers since when each looks."""

    def __init__(
        self,
        *,
        camera_position: str = "facing",
        tells_attributes: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Durations are this machine's own, whatever the frames' timestamps do."""
        self._from_ceiling = camera_position == "ceiling"
        self._tells_attributes = tells_attributes
        self._clock = clock
        self._known: dict[str, Onlooker] = {}
        self._framed_s = 0.0
        self._count = 0

    def see(self, frame: ComputedFrame) -> dict[str, Any] | None:
        """What is so after this frame; None if the frame changes nothing."""
        if frame.refused or frame.result.get("late"):
            return None
        now_s = self._clock()
        ids = [] if frame.blind else ids_in_view(frame.result)[:MOST_PEOPLE]
        self._known = {id: self._known.get(id) or self._greet(now_s) for id in ids}
        members = {**frame.result.get("bodies", {}), **frame.result.get("entities", {})}
        size_px = frame.result.get("input_size", (1, 1))
        people = [self._describe(self._known[id], members[id], size_px, now_s) for id in ids]
        self._framed_s = now_s
        return {"at_ms": int(frame.at_ms), "watching": not frame.blind, "people": people}

    def _greet(self, now_s: float) -> Onlooker:
        self._count += 1
        return Onlooker(self._count, now_s)

    def _describe(
        self, who: Onlooker, member: Mapping[str, Any], size_px: Sequence[float], now_s: float
    ) -> dict[str, Any]:
        if looks_at_camera(member, size_px, from_ceiling=self._from_ceiling):
            # Where frames are rare, a look goes on from one to the next.
            if now_s - who.looked_s > max(LOOK_BRIDGE_S, now_s - self._framed_s):
                who.look_began_s = now_s
            who.looked_s = now_s
        is_looking = now_s - who.looked_s <= LOOK_BRIDGE_S
        return {
            "number": who.number,
            "in_view_s": round(now_s - who.came_s, 2),
            "looking": is_looking,
            "looking_s": round(now_s - who.look_began_s, 2) if is_looking else 0.0,
            **find_place(member, size_px),
            **(find_attributes(member) if self._tells_attributes else UNTOLD),
        }


def find_attributes(member: Mapping[str, Any]) -> dict[str, str | None]:
    gender = next((gender for gender in GENDERS if gender == member.get("gender")), None)
    return {"age_band": age_band(float(member.get("age") or 0.0)), "gender": gender}


def age_band(age: float) -> str | None:
    """None if the age is not known, or may not be known."""
    return next((name for name, least in reversed(list(AGE_BANDS.items())) if age >= least), None) if age > 0 else None


def find_place(member: Mapping[str, Any], size_px: Sequence[float]) -> dict[str, float | None]:
    """The middle of the head, and the height of the face where it is seen, as fractions of the picture."""
    height_px, width_px = (max(float(side), 1.0) for side in size_px)
    is_face_seen = member.get("face_confidence", 0) > 0
    left, top, wide, high = (float(side) for side in member["face_roi" if is_face_seen else "full_body_roi"])
    y_px = top + high * (0.5 if is_face_seen else HEAD_OF_BODY)
    return {
        "x": _fraction((left + wide / 2) / width_px),
        "y": _fraction(y_px / height_px),
        "face": _fraction(high / height_px) if is_face_seen else None,
    }


def looks_at_camera(member: Mapping[str, Any], size_px: Sequence[float], *, from_ceiling: bool = False) -> bool:
    """Whether a face of this frame looks at the camera; a face that is hidden, or cut by the edge, does not."""
    if not member.get("head_confidence", 0) > 0:
        return False
    height_px, width_px = (max(float(side), 1.0) for side in size_px)
    left, top, wide, high = (float(side) for side in member["face_roi"])
    camera_yaw = math.atan((width_px / 2 - left - wide / 2) / width_px)
    camera_pitch = math.atan((top + high / 2 - height_px / 2) / width_px)
    yaw, pitch = (float(angle) for angle in member["head"][:2])
    if member.get("gaze_confidence", 0) > 0:
        gaze_yaw, gaze_pitch = (float(angle) for angle in member["gaze"])
        yaw += GAZE_WEIGHT * math.remainder(gaze_yaw - yaw, math.tau)
        pitch += GAZE_WEIGHT * (gaze_pitch - pitch)
    if from_ceiling:
        pitch += min(max(camera_pitch - pitch, 0.0), CEILING_DROP_RADIANS)
    level = math.cos(pitch) * math.cos(camera_pitch) * math.cos(yaw - camera_yaw)
    cosine = level + math.sin(pitch) * math.sin(camera_pitch)
    return math.acos(max(-1.0, min(1.0, cosine))) <= LIMIT_RADIANS


def _fraction(value: float) -> float:
    return round(max(0.0, min(1.0, value)), 3)
