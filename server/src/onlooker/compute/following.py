"""Which face of this picture is which of the session's last one, and its values evened out over time."""

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from onlooker.compute.vision.faces import Face

MISSES_AT_MOST = 2
REACH = 0.7
"""How far a face may have moved between two pictures, in its own sizes."""
GROWTH = 1.6


class Followed(msgspec.Struct, array_like=True, frozen=True):
    """A face as the session remembers it: numbers, never pixels."""

    x: float
    y: float
    size_px: float
    sightings: int = 1
    """Consecutive ones."""
    misses: int = 0
    readings: int = 0
    values: tuple[float, ...] = ()
    """What its service has read of it, evened out."""


def recall(state: Any, *, values: int) -> list[Followed]:
    """The faces of a session's state, with so many values each or none yet; none where another release wrote it."""
    try:
        faces = msgspec.convert(state or [], list[Followed])
    except msgspec.ValidationError:
        return []
    return faces if all(len(face.values) in (0, values) for face in faces) else []


def follow(known: Sequence[Followed], faces: Sequence[Face]) -> tuple[list[Followed], list[Followed]]:
    """What is now known of each face, in their order; and the faces that may be back in the next picture."""
    matches = _match(known, faces)
    seen = [_moved(known[matches[i]], face) if i in matches else _first_sight(face) for i, face in enumerate(faces)]
    gone = [face for j, face in enumerate(known) if j not in matches.values() and face.misses < MISSES_AT_MOST]
    return seen, [msgspec.structs.replace(face, sightings=0, misses=face.misses + 1) for face in gone]


def read_again(face: Followed, values: Sequence[float], *, of_last: int) -> Followed:
    """The mean of its readings; of about the last `of_last` ones, once there are more."""
    readings = min(face.readings + 1, of_last)
    old = face.values or values
    blended = tuple(before + (now - before) / readings for before, now in zip(old, values, strict=True))
    return msgspec.structs.replace(face, readings=readings, values=blended)


def _match(known: Sequence[Followed], faces: Sequence[Face]) -> dict[int, int]:
    """Index of the known face for each face that has one; the nearest pairs first."""
    pairs = sorted(
        (distance, i, j)
        for i, face in enumerate(faces)
        for j, before in enumerate(known)
        if (distance := _distance(before, face)) < REACH
    )
    matches: dict[int, int] = {}
    taken: set[int] = set()
    for _, i, j in pairs:
        if i not in matches and j not in taken:
            matches[i] = j
            taken.add(j)
    return matches


def _distance(before: Followed, face: Face) -> float:
    """In sizes of the face; endless when one is much larger than the other."""
    if not 1 / GROWTH < face.size_px / max(before.size_px, 1e-6) < GROWTH:
        return math.inf
    x, y = face.centre
    return math.hypot(x - before.x, y - before.y) / max(before.size_px, face.size_px)


def _first_sight(face: Face) -> Followed:
    return Followed(*face.centre, face.size_px)


def _moved(before: Followed, face: Face) -> Followed:
    x, y = face.centre
    return msgspec.structs.replace(before, x=x, y=y, size_px=face.size_px, sightings=before.sightings + 1, misses=0)
