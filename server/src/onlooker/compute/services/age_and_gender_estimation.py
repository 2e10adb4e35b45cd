"""`age_and_gender_estimation`: how old each face looks, and of which gender; in a session, over all its pictures."""

from collections.abc import Sequence
from typing import Any

from onlooker.bus.messages import Sender
from onlooker.compute.call import Call
from onlooker.compute.following import Followed, follow, read_again, recall
from onlooker.compute.reporting import UNKNOWN_AGE, UNKNOWN_GENDER, report_faces, rounded
from onlooker.compute.vision.age import ADULT_YEARS, estimate_age
from onlooker.compute.vision.age_and_gender import read_ages, read_ages_and_genders, read_genders
from onlooker.compute.vision.decoding import Picture, decode_picture
from onlooker.compute.vision.faces import Face, find_faces
from onlooker.compute.vision.gender import estimate_gender

READINGS = 50
Values = tuple[float, ...]
"""What is read of a face: age, male probability and side of the chip; age and side; the probability alone; or nothing.

Each has another length, so what was read before a switch was flipped is never taken for something else.
"""


def compute(call: Call, state: Any) -> tuple[dict[str, Any], Any]:
    picture = decode_picture(call.attachments["image"])
    faces = find_faces(picture)
    seen, missing = follow(recall(state, values=_value_count(call.sender)), faces)
    readings = _read(picture, faces, call.sender)
    read = [
        read_again(face, reading, of_last=READINGS) if reading else face
        for face, reading in zip(seen, readings, strict=True)
    ]
    return report_faces(picture, faces, [_members(face, call.sender) for face in read]), read + missing


def _value_count(sender: Sender) -> int:
    return 2 * sender.reads_age + sender.reads_gender


def _read(picture: Picture, faces: Sequence[Face], sender: Sender) -> list[Values]:
    """A net is asked only for what may be known."""
    if sender.reads_age and sender.reads_gender:
        both = read_ages_and_genders(picture, faces)
        return [(one.age_years, one.male_probability, one.side_px) for one in both]
    if sender.reads_age:
        return list(read_ages(picture, faces))
    if sender.reads_gender:
        return [(male,) for male, _ in read_genders(picture, faces)]
    return [()] * len(faces)


def _members(face: Followed, sender: Sender) -> dict[str, Any]:
    age, age_confidence = UNKNOWN_AGE, 0.0
    gender, gender_confidence = UNKNOWN_GENDER, 0.0
    if sender.reads_age:
        age, age_confidence = estimate_age(face.values[0], side_px=face.values[-1])
    if sender.reads_gender:
        # Where the age must not be read, everybody is taken for an adult.
        years = age if sender.reads_age else ADULT_YEARS
        gender, gender_confidence = estimate_gender(face.values[int(sender.reads_age)], age_years=years)
    return {
        "age": round(age, 1),
        "age_confidence": rounded(age_confidence),
        "gender": gender,
        "gender_confidence": rounded(gender_confidence),
    }
