"""`gaze_analysis`: where each head points and where its eyes look; in a session, averaged over two pictures."""

import math
from typing import Any

from onlooker_pipeline.face_tracks import FaceTrack, average_values, decode_face_tracks, follow_faces
from onlooker_pipeline.result_json import describe_faces, describe_point, rounded
from onlooker_pipeline.service_call import Call, require_faces
from onlooker_pipeline.vision.faces import find_faces
from onlooker_pipeline.vision.gaze import Directions, read_directions
from onlooker_pipeline.vision.picture import decode_picture

ANGLES = ("head_yaw", "head_pitch", "head_roll", "gaze_yaw", "gaze_pitch")
READINGS = 2


def compute(call: Call, state: Any) -> tuple[dict[str, Any], Any]:
    require_faces(call.sender)
    picture = decode_picture(call.attachments["image"])
    faces = find_faces(picture)
    directions = read_directions(picture, faces)
    seen, missing = follow_faces(decode_face_tracks(state, values=len(ANGLES)), faces)
    read = [
        average_values(face, _angles(one, near=face), of_last=READINGS)
        for face, one in zip(seen, directions, strict=True)
    ]
    more = [_members(one, face) for one, face in zip(directions, read, strict=True)]
    return describe_faces(picture, faces, more), read + missing


def _angles(directions: Directions, *, near: FaceTrack) -> list[float]:
    """In the order of ANGLES, each unwrapped towards the last reading."""
    head, gaze = directions.head.direction, directions.gaze
    now = [head.yaw_radians, head.pitch_radians, directions.head.roll_radians, gaze.yaw_radians, gaze.pitch_radians]
    return [before + _within_a_turn(angle - before) for before, angle in zip(near.values or now, now, strict=True)]


def _members(directions: Directions, face: FaceTrack) -> dict[str, Any]:
    points = {
        "eye_left": describe_point(directions.eye_left),
        "eye_right": describe_point(directions.eye_right),
        "nose": describe_point(directions.nose),
    }
    angles = (rounded(_within_a_turn(angle)) for angle in face.values)
    return points | dict(zip(ANGLES, angles, strict=True))


def _within_a_turn(angle: float) -> float:
    return math.remainder(angle, math.tau)
