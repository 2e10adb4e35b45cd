"""What an answer says of people, in the words of a label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MOODS = {"neutral": "neutral", "happiness": "happy", "surprise": "surprised", "anger": "angry", "sadness": "sad"}
SURE = 0.5
"""Below this confidence a gender is said with a question mark."""

Answer = Mapping[str, Any]
Box = tuple[int, int, int, int]
"""Left, top, width, height."""


@dataclass(frozen=True)
class Face:
    """One face, where it is now or was last."""

    box: Box
    is_seen: bool
    eyes: tuple[tuple[int, int], ...]
    gaze: tuple[float, float]
    """Yaw to the right of the picture, pitch upwards, in radians."""
    lines: tuple[str, ...]


def read_faces(answer: Answer) -> list[Face]:
    """Those that are seen now come last, so that they are drawn over the others."""
    faces = [_read_face(person) for person in answer.get("entities", {}).values()]
    return sorted(faces, key=lambda face: face.is_seen)


def read_bodies(answer: Answer) -> list[tuple[Box, bool]]:
    """Boxes, and whether each person is seen now."""
    people = [*answer.get("bodies", {}).values(), *answer.get("entities", {}).values()]
    return [(as_box(who["full_body_roi"]), _is_seen(who)) for who in people if who.get("full_body_roi")]


def as_box(numbers: Any) -> Box:
    left, top, width, height = (round(number) for number in numbers)
    return left, top, width, height


def describe_person(person: Mapping[str, Any]) -> tuple[str, ...]:
    """Gender and age, then mood; what is not known is left out."""
    gender, age = person.get("gender"), person.get("age") or 0.0
    is_gender_known = gender in ("female", "male")
    is_age_known = age > 0 or person.get("age_confidence", 0) > 0
    unsure = "?" if person.get("gender_confidence", 0) < SURE else ""
    who = f"{f'{gender}{unsure}' if is_gender_known else ''} {f'{age:.0f}' if is_age_known else ''}".strip()
    shares = {word: person.get(f"emotion_{name}") or 0.0 for name, word in MOODS.items()}
    mood = max(shares, key=lambda word: shares[word])
    return tuple(line for line in (who, mood if shares[mood] else "") if line)


def _read_face(person: Mapping[str, Any]) -> Face:
    yaw, pitch = person["gaze"]
    return Face(
        box=as_box(person["face_roi"]),
        is_seen=_is_seen(person),
        eyes=tuple((round(x), round(y)) for x, y in person["face_eye"]),
        gaze=(yaw, pitch),
        lines=describe_person(person),
    )


def _is_seen(person: Mapping[str, Any]) -> bool:
    """A face that is turned away or hidden has no confidence; the place is the last that is known."""
    return bool(person.get("face_confidence", 1) > 0)
