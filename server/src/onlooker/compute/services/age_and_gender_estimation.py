"""`age_and_gender_estimation`: how old each face looks, and of which gender; in a session, over all its pictures."""

from typing import Any

from onlooker.compute.call import Call
from onlooker.compute.following import Followed, follow, read_again, recall
from onlooker.compute.reporting import report_faces, rounded
from onlooker.compute.vision.age import estimate_age
from onlooker.compute.vision.age_and_gender import read_ages_and_genders
from onlooker.compute.vision.decoding import decode_picture
from onlooker.compute.vision.faces import find_faces
from onlooker.compute.vision.gender import estimate_gender

READINGS = 50
VALUES = 3
"""The net's age, how likely it is a man, and the side of the chip."""


def compute(call: Call, state: Any) -> tuple[dict[str, Any], Any]:
    picture = decode_picture(call.attachments["image"])
    faces = find_faces(picture)
    seen, missing = follow(recall(state, values=VALUES), faces)
    readings = [(one.age_years, one.male_probability, one.side_px) for one in read_ages_and_genders(picture, faces)]
    read = [read_again(face, reading, of_last=READINGS) for face, reading in zip(seen, readings, strict=True)]
    return report_faces(picture, faces, [_members(face) for face in read]), read + missing


def _members(face: Followed) -> dict[str, Any]:
    reading_years, male_probability, side_px = face.values
    age, age_confidence = estimate_age(reading_years, side_px=side_px)
    gender, gender_confidence = estimate_gender(male_probability, age_years=age)
    return {
        "age": round(age, 1),
        "age_confidence": rounded(age_confidence),
        "gender": gender,
        "gender_confidence": rounded(gender_confidence),
    }
