"""Faces followed from picture to picture within a session, with their values averaged over time."""

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from onlooker_pipeline.vision.faces import Face

MISSES_AT_MOST = 2
REACH = 0.7
"""How far a face may move between two pictures, in multiples of its size."""
GROWTH = 1.6


class FaceTrack(msgspec.Struct, array_like=True, frozen=True):
    """A face in a session's state: numbers, never pixels."""

    x: float
    y: float
    size_px: float
    sightings: int = 1
    """Consecutive ones."""
    misses: int = 0
    readings: int = 0
    values: tuple[float, ...] = ()
    """What the service has read from it, averaged."""


def decode_face_tracks(state: Any, *, values: int) -> list[FaceTrack]:
    """The faces of a session's state, each with `values` values or none; empty if another release wrote the state."""
    try:
        faces = msgspec.convert(state or [], list[FaceTrack])
    except msgspec.ValidationError:
        return []
    return faces if all(len(face.values) in (0, values) for face in faces) else []


def follow_faces(known: Sequence[FaceTrack], faces: Sequence[Face]) -> tuple[list[FaceTrack], list[FaceTrack]]:
    """The track of each face, in their order, and the tracks that may reappear in the next picture."""
    matches = _match(known, faces)
    seen = [_moved(known[matches[i]], face) if i in matches else _first_sight(face) for i, face in enumerate(faces)]
    gone = [face for j, face in enumerate(known) if j not in matches.values() and face.misses < MISSES_AT_MOST]
    return seen, [msgspec.structs.replace(face, sightings=0, misses=face.misses + 1) for face in gone]


def average_values(face: FaceTrack, values: Sequence[float], *, of_last: int) -> FaceTrack:
    """Add a reading to the running mean over about the last `of_last` readings."""
    readings = min(face.readings + 1, of_last)
    old = face.values or values
    blended = tuple(before + (now - before) / readings for before, now in zip(old, values, strict=True))
    return msgspec.structs.replace(face, readings=readings, values=blended)


def _match(known: Sequence[FaceTrack], faces: Sequence[Face]) -> dict[int, int]:
    """Index of the known track for each face that has one; nearest pairs first."""
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


def _distance(before: FaceTrack, face: Face) -> float:
    """In multiples of the face's size; infinite if one is much larger than the other."""
    if not 1 / GROWTH < face.size_px / max(before.size_px, 1e-6) < GROWTH:
        return math.inf
    x, y = face.centre
    return math.hypot(x - before.x, y - before.y) / max(before.size_px, face.size_px)


def _first_sight(face: Face) -> FaceTrack:
    return FaceTrack(*face.centre, face.size_px)


def _moved(before: FaceTrack, face: Face) -> FaceTrack:
    x, y = face.centre
    return msgspec.structs.replace(before, x=x, y=y, size_px=face.size_px, sightings=before.sightings + 1, misses=0)
