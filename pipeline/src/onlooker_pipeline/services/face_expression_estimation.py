"""`face_expression_estimation`: the expression of each face; in a session, over its last few pictures."""

from typing import Any

from onlooker_pipeline.expressions import EXPRESSIONS
from onlooker_pipeline.face_tracks import average_values, decode_face_tracks, follow_faces
from onlooker_pipeline.result_json import describe_faces, rounded
from onlooker_pipeline.service_call import Call, require_faces
from onlooker_pipeline.vision.expression import read_expressions
from onlooker_pipeline.vision.faces import find_faces
from onlooker_pipeline.vision.picture import decode_picture

READINGS = 5
UNKNOWN = dict.fromkeys(EXPRESSIONS, 0.0)


def compute(call: Call, state: Any) -> tuple[dict[str, Any], Any]:
    require_faces(call.sender)
    picture = decode_picture(call.attachments["image"])
    faces = find_faces(picture)
    if not call.sender.reads_expression:  # not computed, not reported from earlier frames, not kept
        return describe_faces(picture, faces, [UNKNOWN] * len(faces)), None
    seen, missing = follow_faces(decode_face_tracks(state, values=len(EXPRESSIONS)), faces)
    readings = [list(reading.values()) for reading in read_expressions(picture, faces)]
    read = [average_values(face, reading, of_last=READINGS) for face, reading in zip(seen, readings, strict=True)]
    more = [dict(zip(EXPRESSIONS, map(rounded, face.values), strict=True)) for face in read]
    return describe_faces(picture, faces, more), read + missing
