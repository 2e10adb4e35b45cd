"""The faces of a frame: where each head points, whether it looks at the camera, how good the view is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onlooker_pipeline.scene.frame_vision import FrameVision
from onlooker_pipeline.scene.request_options import SceneOptions
from onlooker_pipeline.scene.state import FaceView, Point, TrackedPerson
from onlooker_pipeline.vision.eye_contact import EyeContact, judge_eye_contact
from onlooker_pipeline.vision.faces import Face
from onlooker_pipeline.vision.gaze import Directions
from onlooker_pipeline.vision.head_pose import Direction

EYES_EVERY_MS = 500
READABLE_FROM_PX = 20
WELL_SEEN_PX = 80
TURNED_RADIANS = math.radians(50)
"""A head that is turned further away is not read."""
EDGE_PX = 2
PROVEN, PROVEN_FROM_PX = 0.3, 30
"""A detection that the mesh does not confirm is no face; for smaller faces the mesh can't tell."""


@dataclass(frozen=True)
class ObservedFace:
    """A face in this frame, and what was read from it."""

    face: Face
    looking: EyeContact | None
    """None if the picture's edge cuts the face, or the mesh sees no face."""
    rating: float
    """Quality of the view, from 0 to 1."""
    proven: bool
    """Whether the mesh sees a face there, too."""

    @property
    def at_camera(self) -> bool:
        return self.looking is not None and self.looking.at_camera


def read_faces(
    vision: FrameVision, faced: Sequence[tuple[TrackedPerson, Face]], *, at_ms: int, options: SceneOptions
) -> list[ObservedFace]:
    """In their order. Heads are read in every frame, eyes now and then; updates each person's `view`."""
    if not faced:
        return []
    with_eyes = [person.view is None or at_ms - person.view.eyes_ms >= EYES_EVERY_MS for person, _ in faced]
    directions = vision.directions([face for _, face in faced], with_eyes)
    views = []
    for (person, face), one, fresh in zip(faced, directions, with_eyes, strict=True):
        person.view = _remember(face, one, None if fresh else person.view, at_ms=at_ms)
        whole = _is_whole(face, vision)
        proven = one.mesh_confidence >= PROVEN or face.size_px < PROVEN_FROM_PX
        looking = _judge(person.view, one, face, options) if whole and proven else None
        person.looking_confidence = round(looking.confidence, 3) if looking else 0.0
        turned = angle_off_camera(one.head.direction, one.head.towards_camera)
        views.append(ObservedFace(face, looking, rate_view(face, turned, whole=whole) if proven else 0.0, proven))
    return views


def rate_view(face: Face, off_camera_radians: float, *, whole: bool) -> float:
    """Quality of a view, from 0 to 1; 0 if the face is cut off, tiny or turned away."""
    if not whole or face.size_px < READABLE_FROM_PX or off_camera_radians > TURNED_RADIANS:
        return 0.0
    frontal = math.cos(off_camera_radians / TURNED_RADIANS * math.pi / 2)
    return max(min(face.size_px / WELL_SEEN_PX, 1.0) * frontal**2 * face.confidence, 0.01)


def angle_off_camera(head: Direction, towards_camera: Direction) -> float:
    """How far a head is turned away from the camera."""
    return math.hypot(
        math.remainder(head.yaw_radians - towards_camera.yaw_radians, math.tau),
        head.pitch_radians - towards_camera.pitch_radians,
    )


def _judge(view: FaceView, one: Directions, face: Face, options: SceneOptions) -> EyeContact:
    return judge_eye_contact(
        one.head.direction,
        Direction(*view.gaze) if view.eyes_readable else one.head.direction,
        towards_camera=one.head.towards_camera,
        face_px=face.size_px,
        from_ceiling=options.from_ceiling,
    )


def _is_whole(face: Face, vision: FrameVision) -> bool:
    """A face that the picture's edge cuts does not show where it looks."""
    across = face.left > -EDGE_PX and face.right < vision.width + EDGE_PX
    return across and face.top > -EDGE_PX and face.bottom < vision.height + EDGE_PX


def _remember(face: Face, one: Directions, eyes: FaceView | None, *, at_ms: int) -> FaceView:
    """The face as it is now; its eyes as in `eyes` if they were not read this time."""
    head = one.head.direction
    aside = one.gaze.yaw_radians - head.yaw_radians, one.gaze.pitch_radians - head.pitch_radians
    return FaceView(
        round(face.left),
        round(face.top),
        round(face.right),
        round(face.bottom),
        eyes=(_point(one.eye_left), _point(one.eye_right)),
        nose=_point(one.nose),
        mouth=_point((face.points[3] + face.points[4]) / 2),
        head=(round(head.yaw_radians, 4), round(head.pitch_radians, 4), round(one.head.roll_radians, 4)),
        eyes_aside=eyes.eyes_aside if eyes else (round(aside[0], 4), round(aside[1], 4)),
        eyes_ms=eyes.eyes_ms if eyes else at_ms,
        eyes_readable=eyes.eyes_readable if eyes else one.eyes_readable,
    )


def _point(xy: Any) -> Point:
    return round(float(xy[0])), round(float(xy[1]))
