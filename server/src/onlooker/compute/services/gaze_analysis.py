"""`gaze_analysis`: where each head faces and where its eyes look; in a session, steadied over two pictures."""

import math
from typing import Any

from onlooker.compute.call import Call
from onlooker.compute.following import Followed, follow, read_again, recall
from onlooker.compute.reporting import point, report_faces, rounded
from onlooker.compute.vision.decoding import decode_picture
from onlooker.compute.vision.directions import Directions, read_directions
from onlooker.compute.vision.faces import find_faces

ANGLES = ("head_yaw", "head_pitch", "head_roll", "gaze_yaw", "gaze_pitch")
READINGS = 2


def compute(call: Call, state: Any) -> tuple[dict[str, Any], Any]:
    picture = decode_picture(call.attachments["image"])
    faces = find_faces(picture)
    directions = read_directions(picture, faces)
    seen, missing = follow(recall(state, values=len(ANGLES)), faces)
    read = [
        read_again(face, _angles(one, near=face), of_last=READINGS) for face, one in zip(seen, directions, strict=True)
    ]
    more = [_members(one, face) for one, face in zip(directions, read, strict=True)]
    return report_faces(picture, faces, more), read + missing


def _angles(directions: Directions, *, near: Followed) -> list[float]:
    """In the order of ANGLES, each in the turn that is nearest to the last reading."""
    head, gaze = directions.head.direction, directions.gaze
    now = [head.yaw_radians, head.pitch_radians, directions.head.roll_radians, gaze.yaw_radians, gaze.pitch_radians]
    return [before + _within_a_turn(angle - before) for before, angle in zip(near.values or now, now, strict=True)]


def _members(directions: Directions, face: Followed) -> dict[str, Any]:
    points = {
        "eye_left": point(directions.eye_left),
        "eye_right": point(directions.eye_right),
        "nose": point(directions.nose),
    }
    angles = (rounded(_within_a_turn(angle)) for angle in face.values)
    return points | dict(zip(ANGLES, angles, strict=True))


def _within_a_turn(angle: float) -> float:
    return math.remainder(angle, math.tau)
