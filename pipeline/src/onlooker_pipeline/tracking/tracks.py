"""A person as the tracker remembers them: tentative, confirmed, lost for a while, ended."""

import math
import uuid
from typing import NamedTuple

import msgspec

from onlooker_pipeline.tracking.boxes import (
    DEFAULT_BODY,
    BodyShape,
    Box,
    HeadPlace,
    body_around,
    head_of_body,
    head_of_face,
    offsets_of,
)
from onlooker_pipeline.tracking.kalman import Axis, begin, correct, predict

FACE_SPREAD, BODY_SPREAD = 0.12, 0.25
"""Standard deviation of the head's place, by face and by body, in head sizes."""
SPEED_SPREAD = 4.0
"""Standard deviation of the initial speed, in head sizes per second."""
ACCELERATION, BODY_ACCELERATION = 4.0, 3.0
"""In head sizes a second, per second: somebody who shows a face may stop to look; others mostly walk on."""
UPRIGHT, UPRIGHT_SPREAD = 0.2, 0.6
"""Faces move less vertically than horizontally; a body that walks in from below does not."""
GROWTH_SPREAD, GROWTH_ACCELERATION = 0.3, 0.5
WALKS_ON_S, BODY_WALKS_ON_S = 1.0, 3.0
"""After this long unseen, a person is no longer assumed to keep walking."""
SHAPE_BELIEVED = 0.5
"""Of the shape of a body's box: how much of the difference from the known shape is taken over."""


class FaceFound(NamedTuple):
    """A face in one picture."""

    box: Box
    confidence: float
    turn: float = 0.0
    """Distance of the nose from the middle of the eyes, in face sizes: heads do not turn instantly."""


class BodyFound(NamedTuple):
    """A body in one picture."""

    box: Box
    confidence: float


class Found(NamedTuple):
    """What one picture shows of one person."""

    face: FaceFound | None = None
    body: BodyFound | None = None


class Track(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """One person's track; times are Unix milliseconds, positions are the head's, in pixels."""

    id: bytes
    began_ms: int
    seen_ms: int
    """When the face or the body was last detected."""
    face_ms: int
    """The same of the face alone; 0: never."""
    body_ms: int
    missed_ms: int
    """The first frame that missed this person; 0: seen in the last frame."""
    at_ms: int
    """The moment for which the axes are valid."""
    began_at: tuple[int, int]
    """Where the head was first seen."""
    last_at: tuple[int, int]
    """Where it was last seen."""
    sightings: int
    confirmed: bool
    x: Axis
    y: Axis
    size: Axis
    body: BodyShape | None
    """The body's box relative to the head, in head sizes; None: never seen."""
    face_confidence: float = 0.0
    body_confidence: float = 0.0
    turn: float = 0.0
    """Of the face when it was last seen."""

    @property
    def head(self) -> HeadPlace:
        return HeadPlace(self.x.place, self.y.place, max(self.size.place, 4.0))

    @property
    def body_box(self) -> Box:
        return body_around(self.head, self.body or DEFAULT_BODY)

    @property
    def wandered(self) -> float:
        """Distance of the head from where it was first seen, in head sizes."""
        x, y = self.began_at
        return math.hypot(self.x.place - x, self.y.place - y) / self.head.size

    @property
    def had_face(self) -> bool:
        return self.face_ms > 0


def begin_track(found: Found, at_ms: int) -> Track:
    head = _head_in(found, None)
    assert head
    size = head.size
    spread = (FACE_SPREAD if found.face else BODY_SPREAD) * size
    upright = UPRIGHT if found.face else 1.0
    return Track(
        id=uuid.uuid4().bytes,
        began_ms=at_ms,
        seen_ms=at_ms,
        face_ms=at_ms if found.face else 0,
        body_ms=at_ms if found.body else 0,
        missed_ms=0,
        at_ms=at_ms,
        began_at=(round(head.x), round(head.y)),
        last_at=(round(head.x), round(head.y)),
        sightings=1,
        confirmed=False,
        x=begin(head.x, spread=spread, speed_spread=SPEED_SPREAD * size),
        y=begin(head.y, spread=spread * UPRIGHT_SPREAD, speed_spread=SPEED_SPREAD * size * upright),
        size=begin(size, spread=spread, speed_spread=GROWTH_SPREAD * size),
        body=offsets_of(found.body.box, head) if found.body else None,
        face_confidence=found.face.confidence if found.face else 0.0,
        body_confidence=found.body.confidence if found.body else 0.0,
        turn=found.face.turn if found.face else 0.0,
    )


def advance(track: Track, at_ms: int) -> Track:
    """The track, predicted for a later moment."""
    elapsed_s = (at_ms - track.at_ms) / 1000
    unseen_s = (track.at_ms - track.seen_ms) / 1000
    walks_on_s = WALKS_ON_S if track.had_face else BODY_WALKS_ON_S
    moving_s = min(elapsed_s, max(walks_on_s - unseen_s, 0.0))
    if moving_s <= 0:
        return msgspec.structs.replace(track, at_ms=at_ms)
    size = track.head.size
    across = (ACCELERATION if track.had_face else BODY_ACCELERATION) * size
    down = across * (UPRIGHT if track.had_face else 1.0)
    return msgspec.structs.replace(
        track,
        at_ms=at_ms,
        x=predict(track.x, moving_s, acceleration=across),
        y=predict(track.y, moving_s, acceleration=down),
        size=predict(track.size, moving_s, acceleration=GROWTH_ACCELERATION * size),
    )


def see(track: Track, found: Found, at_ms: int) -> Track:
    """The track, already advanced to this moment, corrected by what was detected."""
    head = _head_in(found, track)
    assert head
    # The first face after a body corrects the assumed head; the head did not jump.
    first_face = found.face is not None and not track.had_face
    spread = (FACE_SPREAD if found.face else BODY_SPREAD) * head.size
    x, y, size = track.x, track.y, track.size
    if first_face:
        x, y, size = (_unplaced(axis, head.size) for axis in (x, y, size))
    body = track.body
    if found.body:
        body = _shape_after(track, offsets_of(found.body.box, head))
    return msgspec.structs.replace(
        track,
        seen_ms=at_ms,
        face_ms=at_ms if found.face else track.face_ms,
        body_ms=at_ms if found.body else track.body_ms,
        missed_ms=0,
        last_at=(round(head.x), round(head.y)),
        sightings=track.sightings + 1,
        x=correct(x, head.x, spread=spread),
        y=correct(y, head.y, spread=spread * UPRIGHT_SPREAD),
        size=correct(size, head.size, spread=spread),
        body=body,
        face_confidence=found.face.confidence if found.face else 0.0,
        body_confidence=found.body.confidence if found.body else track.body_confidence,
        turn=found.face.turn if found.face else track.turn,
    )


def _shape_after(track: Track, seen: BodyShape) -> BodyShape:
    """Where only the body is seen, its box is unsteady, and no face says how it lies."""
    if track.body is None or track.had_face:
        return seen
    left, top, right, bottom = (k + SHAPE_BELIEVED * (s - k) for k, s in zip(track.body, seen, strict=True))
    return left, top, right, bottom


def doubt(track: Track) -> Track:
    """The track without its last sighting, which was no proof of a person."""
    return track if track.confirmed else msgspec.structs.replace(track, sightings=track.sightings - 1)


def _unplaced(axis: Axis, spread: float) -> Axis:
    """The same velocity, but an unknown place."""
    return Axis(axis.place, axis.velocity, (2 * spread) ** 2, 0.0, axis.velocity_variance)


def _head_in(found: Found, track: Track | None) -> HeadPlace | None:
    """Where the head is: at the face, or where the body had it when both were last seen."""
    if found.face:
        return head_of_face(found.face.box)
    if found.body is None:
        return None
    body = found.body.box
    if track is None or not track.had_face:
        return head_of_body(body)
    size = track.head.size
    left, top, right, _ = track.body or (0.0, -0.6, 0.0, 0.0)
    return HeadPlace((body.left + body.right) / 2 - (left + right) / 2 * size, body.top - top * size, size)
