"""`face_expression_estimation`: the mood that each face shows; in a session, of its last few pictures."""

from typing import Any

from onlooker.compute.call import Call
from onlooker.compute.following import follow, read_again, recall
from onlooker.compute.reporting import report_faces, rounded
from onlooker.compute.vision.decoding import decode_picture
from onlooker.compute.vision.expression import EXPRESSIONS, read_expressions
from onlooker.compute.vision.faces import find_faces

READINGS = 5
UNKNOWN = dict.fromkeys(EXPRESSIONS, 0.0)


def compute(call: Call, state: Any) -> tuple[dict[str, Any], Any]:
    picture = decode_picture(call.attachments["image"])
    faces = find_faces(picture)
    if not call.sender.reads_expression:  # neither asked for, nor told from before, nor kept
        return report_faces(picture, faces, [UNKNOWN] * len(faces)), None
    seen, missing = follow(recall(state, values=len(EXPRESSIONS)), faces)
    readings = [list(reading.values()) for reading in read_expressions(picture, faces)]
    read = [read_again(face, reading, of_last=READINGS) for face, reading in zip(seen, readings, strict=True)]
    more = [dict(zip(EXPRESSIONS, map(rounded, face.values), strict=True)) for face in read]
    return report_faces(picture, faces, more), read + missing
