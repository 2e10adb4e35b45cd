"""The faces of a frame: where each head faces, whether it looks at the camera, how much its view tells."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onlooker.compute.scene.cadence import EYES_EVERY_MS, off_camera, rate_view
from onlooker.compute.scene.options import Options
from onlooker.compute.scene.person import FaceView, Person, Point
from onlooker.compute.scene.sight import Sight
from onlooker.compute.vision.directions import Directions
from onlooker.compute.vision.faces import Face
from onlooker.compute.vision.head import Direction
from onlooker.compute.vision.looking import Looking, judge_looking

EDGE_PX = 2
PROVEN, PROVEN_FROM_PX = 0.3, 30
"""What the detector takes for a face and the mesh does not, is none; of smaller faces the mesh can't tell."""


@dataclass(frozen=True)
class View:
    """A face in this frame, and what was made of it."""

    face: Face
    looking: Looking | None
    """None where the picture's edge cuts the face, or there is none."""
    rating: float
    """How much the view tells, from 0 to 1."""
    proven: bool
    """Whether the mesh, too, sees a face there."""

    @property
    def at_camera(self) -> bool:
        return self.looking is not None and self.looking.at_camera


def look_at_faces(sight: Sight, faced: Sequence[tuple[Person, Face]], *, at_ms: int, options: Options) -> list[View]:
    """In their order. Heads are read in every frame, eyes now and then; remembers how each face looks."""
    if not faced:
        return []
    with_eyes = [person.view is None or at_ms - person.view.eyes_ms >= EYES_EVERY_MS for person, _ in faced]
    directions = sight.directions([face for _, face in faced], with_eyes)
    views = []
    for (person, face), one, fresh in zip(faced, directions, with_eyes, strict=True):
        person.view = _remember(face, one, None if fresh else person.view, at_ms=at_ms)
        whole = _is_whole(face, sight)
        proven = one.mesh_confidence >= PROVEN or face.size_px < PROVEN_FROM_PX
        looking = _judge(person.view, one, face, options) if whole and proven else None
        person.looking_confidence = round(looking.confidence, 3) if looking else 0.0
        turned = off_camera(one.head.direction, one.head.towards_camera)
        views.append(View(face, looking, rate_view(face, turned, whole=whole) if proven else 0.0, proven))
    return views


def _judge(view: FaceView, one: Directions, face: Face, options: Options) -> Looking:
    return judge_looking(
        one.head.direction,
        Direction(*view.gaze) if view.eyes_readable else one.head.direction,
        towards_camera=one.head.towards_camera,
        face_px=face.size_px,
        from_ceiling=options.from_ceiling,
    )


def _is_whole(face: Face, sight: Sight) -> bool:
    """A face that the picture's edge cuts tells nothing of where it looks."""
    across = face.left > -EDGE_PX and face.right < sight.width + EDGE_PX
    return across and face.top > -EDGE_PX and face.bottom < sight.height + EDGE_PX


def _remember(face: Face, one: Directions, eyes: FaceView | None, *, at_ms: int) -> FaceView:
    """The face as it is now; with its eyes as they were turned in `eyes`, where they were not read again."""
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
