"""The cost of assigning detections to tracks."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from onlooker_pipeline.tracking.assignment import INFINITE, assign
from onlooker_pipeline.tracking.boxes import Box, HeadPlace, contained, head_of_face, overlap, widened
from onlooker_pipeline.tracking.tracks import FACE_SPREAD, UPRIGHT_SPREAD, FaceFound, Track

GATE = 3.5
"""In standard deviations: anything farther away is somebody else."""
REACH_AT_LEAST, REACH_AT_MOST = 0.7, 4.0
"""Limits of the gate, in head sizes."""
SIZE_SPREAD, TURN_SPREAD = 0.1, 0.1
"""How much the logarithm of the size, and the pose, change from one sighting to the next."""
SIZE_CAP, TURN_CAP = 9.0, 4.0
"""Limits of the squared terms: people do turn around suddenly, and faces are half hidden."""
SIZE_WEIGHT = 6.0
GROWTH = 1.7
"""Maximum ratio of a face's sizes in two consecutive sightings."""
BEYOND, NEAR_EDGE, WALKING_OUT = 0.5, 1.2, 0.6
"""In head sizes, and in head sizes per second."""
SPEED_KNOWN = 3
"""Sightings."""
COMES_BACK = 0.1
ENTERED = 0.8
"""Head sizes from the edge: a face farther inside does not come from outside."""
LOST_REACH, LOST_SPEED, LOST_REACH_AT_MOST = 1.0, 2.0, 3.0
"""In head sizes, and in head sizes per second: how far from their predicted place hidden people reappear."""
LIKE_SIZE = 1.35
BODY_OVERLAP = 0.25
FACE_IN_BODY_HEIGHT = 0.5
"""A face is in the upper part of its body."""


class FrameSize(NamedTuple):
    """The size of the picture."""

    width: float
    height: float

    def inside(self, head: HeadPlace) -> float:
        """Distance of a head from the nearer side, in head sizes; negative: outside. The top does not count."""
        return min(head.x, self.width - head.x) / head.size


def is_leaving(track: Track, frame: FrameSize) -> bool:
    """Beyond the edge, or near it and moving outwards."""
    head = track.head
    inside = frame.inside(head)
    if inside < -BEYOND or head.y > frame.height:
        return True
    outward = (-track.x.velocity if head.x < frame.width / 2 else track.x.velocity) / head.size
    return inside < NEAR_EDGE and outward > WALKING_OUT and track.sightings >= SPEED_KNOWN


def _comes_back(track: Track, seen: HeadPlace, frame: FrameSize) -> bool:
    """Whether a face is where a leaving person can't be: somebody else is coming in."""
    if track.missed_ms and frame.inside(track.head) < 0:
        return True
    last = HeadPlace(*track.last_at, seen.size)
    return frame.inside(seen) > max(frame.inside(last), 0.0) + COMES_BACK


def match_faces(tracks: Sequence[Track], faces: Sequence[FaceFound], frame: FrameSize) -> dict[int, int]:
    """Face for each track that has one, at the least total cost."""
    return assign([[_face_cost(track, face, frame) for face in faces] for track in tracks])


def match_lost(tracks: Sequence[Track], faces: Sequence[FaceFound], frame: FrameSize) -> dict[int, int]:
    """Face for each lost track: anybody who appears in the middle of a picture was hidden there."""
    return assign([[_lost_cost(track, face, frame) for face in faces] for track in tracks])


def _lost_cost(track: Track, face: FaceFound, frame: FrameSize) -> float:
    head, seen = track.head, head_of_face(face.box)
    ratio = seen.size / head.size
    was_inside = min(frame.inside(seen), frame.inside(HeadPlace(*track.last_at, head.size)))
    if was_inside < ENTERED or not 1 / LIKE_SIZE < ratio < LIKE_SIZE:
        return INFINITE
    away = _from_way(seen, track.last_at, head) / head.size
    return away + SIZE_WEIGHT * abs(math.log(ratio)) if away <= _reach(track, seen, frame) else INFINITE


def _reach(track: Track, seen: HeadPlace, frame: FrameSize) -> float:
    """How far from their path unseen people may reappear, in head sizes; at the edge, others come in."""
    if frame.inside(seen) < ENTERED:
        return REACH_AT_LEAST
    unseen_s = (track.at_ms - track.seen_ms) / 1000
    return min(LOST_REACH + LOST_SPEED * unseen_s, LOST_REACH_AT_MOST)


def _from_way(seen: HeadPlace, start: tuple[int, int], end: HeadPlace) -> float:
    """Distance of a place from the path between two others: a hidden person may have stopped on it."""
    along, down = end.x - start[0], end.y - start[1]
    share = ((seen.x - start[0]) * along + (seen.y - start[1]) * down) / max(along**2 + down**2, 1e-6)
    share = min(max(share, 0.0), 1.0)
    return math.hypot(seen.x - start[0] - share * along, seen.y - start[1] - share * down)


def _face_cost(track: Track, face: FaceFound, frame: FrameSize) -> float:
    head, seen = track.head, head_of_face(face.box)
    ratio = seen.size / head.size
    if is_leaving(track, frame) and _comes_back(track, seen, frame):
        return INFINITE
    if not 1 / GROWTH < ratio < GROWTH:
        return INFINITE
    if track.missed_ms and _from_way(seen, track.last_at, head) > _reach(track, seen, frame) * head.size:
        return INFINITE
    noise = (FACE_SPREAD * head.size) ** 2
    x_variance, y_variance = track.x.place_variance + noise, track.y.place_variance + noise * UPRIGHT_SPREAD**2
    squares = (seen.x - head.x) ** 2 / x_variance + (seen.y - head.y) ** 2 / y_variance
    away = math.hypot(seen.x - head.x, seen.y - head.y) / head.size
    if away > REACH_AT_MOST or (squares > GATE**2 and away > REACH_AT_LEAST):
        return INFINITE
    # A negative log-likelihood: a place that is poorly known makes every position less likely.
    unknown = math.log(x_variance * y_variance / head.size**4)
    grown, turned = math.log(ratio) / SIZE_SPREAD, (face.turn - track.turn) / TURN_SPREAD
    return (squares + min(grown**2, SIZE_CAP) + min(turned**2, TURN_CAP) + unknown) / 2 + 20


def match_bodies(tracks: Sequence[Track], bodies: Sequence[Box], *, margin: float) -> dict[int, int]:
    """Body for each track that has one; boxes are widened by a share of their sides before they are compared."""
    return assign([[_body_cost(track, body, margin) for body in bodies] for track in tracks])


def _body_cost(track: Track, body: Box, margin: float) -> float:
    # Somebody who walks in from below is first a head, then a torso, then a whole body.
    known = track.body_box
    shared = max(overlap(widened(known, margin), widened(body, margin)), 0.5 * contained(known, body))
    if track.had_face and not belongs(track.head, body):
        return INFINITE
    if shared < BODY_OVERLAP and not (track.had_face and track.body is None):
        return INFINITE
    return 1 - shared


def match_faces_to_bodies(faces: Sequence[Box], bodies: Sequence[Box]) -> dict[int, int]:
    """Body for each face that lies in one: together they are one person."""
    return assign([[_joint_cost(head_of_face(face), body) for body in bodies] for face in faces])


def _joint_cost(head: HeadPlace, body: Box) -> float:
    if not belongs(head, body):
        return INFINITE
    across = abs(head.x - (body.left + body.right) / 2) / max(body.width, 1.0)
    down = abs(head.y - body.top - 0.8 * head.size) / max(head.size, 1.0)
    return across + 0.3 * down


def belongs(head: HeadPlace, body: Box) -> bool:
    """Whether a head at this place could belong to this body."""
    slack = 0.5 * head.size
    below_top = body.top - slack <= head.y <= body.top + max(FACE_IN_BODY_HEIGHT * body.height, slack)
    return below_top and body.left - slack <= head.x <= body.right + slack and head.size < 1.3 * body.width
