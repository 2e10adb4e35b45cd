"""`face_detection`: where faces are; in a session, those that were seen four times in a row."""

from typing import Any

from onlooker_pipeline.face_tracks import decode_face_tracks, follow_faces
from onlooker_pipeline.result_json import describe_faces
from onlooker_pipeline.service_call import Call, require_faces
from onlooker_pipeline.vision.faces import find_faces
from onlooker_pipeline.vision.picture import decode_picture

SIGHTINGS_AT_LEAST = 4


def compute(call: Call, state: Any) -> tuple[dict[str, Any], Any]:
    require_faces(call.sender)
    picture = decode_picture(call.attachments["image"])
    faces = find_faces(picture)
    if not call.in_session:
        return describe_faces(picture, faces), None
    followed, _ = follow_faces(decode_face_tracks(state, values=0), faces)
    steady = [face for face, known in zip(faces, followed, strict=True) if known.sightings >= SIGHTINGS_AT_LEAST]
    return describe_faces(picture, steady), followed
