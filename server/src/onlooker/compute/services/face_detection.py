"""`face_detection`: where faces are; in a session, those that were there four times in a row."""

from typing import Any

from onlooker.compute.call import Call
from onlooker.compute.following import follow, recall
from onlooker.compute.reporting import report_faces
from onlooker.compute.vision.decoding import decode_picture
from onlooker.compute.vision.faces import find_faces

SIGHTINGS_AT_LEAST = 4


def compute(call: Call, state: Any) -> tuple[dict[str, Any], Any]:
    picture = decode_picture(call.attachments["image"])
    faces = find_faces(picture)
    if not call.in_session:
        return report_faces(picture, faces), None
    followed, _ = follow(recall(state, values=0), faces)
    steady = [face for face, known in zip(faces, followed, strict=True) if known.sightings >= SIGHTINGS_AT_LEAST]
    return report_faces(picture, steady), followed
