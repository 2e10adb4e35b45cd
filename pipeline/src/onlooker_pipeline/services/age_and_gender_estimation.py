"""`age_and_gender_estimation`: how old each face looks, and of which gender; in a session, over all its pictures."""

from collections.abc import Sequence
from typing import Any

from onlooker_pipeline.face_tracks import FaceTrack, average_values, decode_face_tracks, follow_faces
from onlooker_pipeline.result_json import UNKNOWN_AGE, UNKNOWN_GENDER, describe_faces, rounded
from onlooker_pipeline.service_call import Call, Sender, require_faces
from onlooker_pipeline.vision.age_and_gender import (
    ADULT_YEARS,
    age_confidence,
    estimate_gender,
    read_ages,
    read_ages_and_genders,
    read_genders,
)
from onlooker_pipeline.vision.faces import Face, find_faces
from onlooker_pipeline.vision.picture import Picture, decode_picture

READINGS = 50
Values = tuple[float, ...]
"""What is read from a face: age, male probability and spread; age and spread; the probability; or nothing.

Each has a different length, so readings from before a switch was changed are never mistaken for others.
"""


def compute(call: Call, state: Any) -> tuple[dict[str, Any], Any]:
    require_faces(call.sender)
    picture = decode_picture(call.attachments["image"])
    faces = find_faces(picture)
    seen, missing = follow_faces(decode_face_tracks(state, values=_value_count(call.sender)), faces)
    readings = _read(picture, faces, call.sender)
    read = [
        average_values(face, reading, of_last=READINGS) if reading else face
        for face, reading in zip(seen, readings, strict=True)
    ]
    return describe_faces(picture, faces, [_members(face, call.sender) for face in read]), read + missing


def _value_count(sender: Sender) -> int:
    return 2 * sender.reads_age + sender.reads_gender


def _read(picture: Picture, faces: Sequence[Face], sender: Sender) -> list[Values]:
    """Runs only the nets whose reading is allowed."""
    if sender.reads_age and sender.reads_gender:
        both = read_ages_and_genders(picture, faces)
        return [(one.age_years, one.male_probability, one.spread_years) for one in both]
    if sender.reads_age:
        return list(read_ages(picture, faces))
    if sender.reads_gender:
        return [(male,) for male in read_genders(picture, faces)]
    return [()] * len(faces)


def _members(face: FaceTrack, sender: Sender) -> dict[str, Any]:
    age, confidence = UNKNOWN_AGE, 0.0
    gender, gender_confidence = UNKNOWN_GENDER, 0.0
    if sender.reads_age:
        age = face.values[0]
        confidence = age_confidence(age, face.values[-1])
    if sender.reads_gender:
        # If the age is switched off, everybody is assumed to be an adult.
        years = age if sender.reads_age else ADULT_YEARS
        gender, gender_confidence = estimate_gender(face.values[int(sender.reads_age)], age_years=years)
    return {
        "age": round(age, 1),
        "age_confidence": rounded(confidence),
        "gender": gender,
        "gender_confidence": rounded(gender_confidence),
    }
