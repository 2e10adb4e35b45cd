"""One step from frame to frame: detections are assigned to known tracks or begin new ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from onlooker_pipeline.tracking.association import (
    FrameSize,
    belongs,
    is_leaving,
    match_bodies,
    match_faces,
    match_faces_to_bodies,
    match_lost,
)
from onlooker_pipeline.tracking.boxes import Box, contained
from onlooker_pipeline.tracking.tracks import BodyFound, FaceFound, Found, Track, advance, begin_track, see

SURE_FACE = 0.65
"""Confidence from which a face may begin a track; below, it can only continue one."""
CONFIRMED_SIGHTINGS, CONFIRMED_AFTER_S = 3, 0.2
BODY_CONFIRMED_AFTER_S = 0.8
BODY_WANDERS = 0.7
"""In head sizes: what never leaves its place is a poster, a coat or a chair."""
SURE_AFTER_S = 0.45
"""At low frame rates, two sightings this far apart are enough."""
TENTATIVE_UNSEEN_S = 0.6
LEAVING_UNSEEN_S = 0.7
FACE_UNSEEN_S = 4.0
BODY_UNSEEN_S = 3.0
HIDDEN_UNSEEN_S = 10.0
MOVED_SHARE, KNOWN_SHARE = 0.3, 0.6
"""Shares of the smaller of two boxes: that moved, or that a known person covers."""
BODY_MARGINS = (0.3, 0.5, 0.8)
"""By which share of their sides boxes of bodies are widened before they are compared, in the order of the attempts."""
AT_EDGE = 0.5
FORGOTTEN_S = 6.0
"""Without any frame."""
TRACKS_AT_MOST = 100


@dataclass(frozen=True)
class Detections:
    """What the nets found in one picture."""

    width: int
    height: int
    faces: Sequence[FaceFound]
    bodies: Sequence[BodyFound] | None = None
    """None: the picture was not searched for bodies."""
    moved: Sequence[Box] = ()
    """Movement that no face explains: only there may a body without a face begin a track."""


@dataclass
class Step:
    """The tracks after a frame."""

    tracks: list[Track]
    ended: list[Track]
    face_of: dict[bytes, int] = field(default_factory=dict)
    """Index of the face that was assigned to a track."""


def follow_people(tracks: Sequence[Track], found: Detections, at_ms: int) -> Step:
    """Advance every track to this moment, update those the picture shows, begin new ones and end old ones."""
    here, gone = _without_gone([advance(track, at_ms) for track in tracks], found)
    faces = _give_faces(here, found)
    joined = _join(faces, found)
    bodies, free_bodies = _give_bodies(here, faces, joined, found)
    step = Step([], gone)
    for index, track in enumerate(here):
        seen = _found(found, faces.get(index), bodies.get(index))
        after = _confirmed(see(track, seen, at_ms)) if seen else _unseen(track, at_ms)
        step.tracks.append(after)
        if index in faces:
            step.face_of[after.id] = faces[index]
    for index, face in enumerate(found.faces):
        if face.confidence >= SURE_FACE and index not in faces.values():
            _add(step, _found(found, index, joined.get(index)), at_ms, face=index)
    for index in free_bodies:
        if _is_somebody_new(found, index, step.tracks):
            _add(step, _found(found, None, index), at_ms)
    return step


def _give_faces(tracks: list[Track], found: Detections) -> dict[int, int]:
    """Sure faces first, then unsure ones, then lost tracks; what remains may be the first face of a body."""
    given: dict[int, int] = {}
    frame = FrameSize(found.width, found.height)
    sure = [i for i, face in enumerate(found.faces) if face.confidence >= SURE_FACE]
    unsure = [i for i, face in enumerate(found.faces) if face.confidence < SURE_FACE]
    for stage in (sure, unsure):
        known = [i for i, track in enumerate(tracks) if track.had_face and i not in given]
        if stage is unsure:
            known = [i for i in known if tracks[i].confirmed]
        matches = match_faces([tracks[i] for i in known], [found.faces[j] for j in stage], frame)
        given |= {known[i]: stage[j] for i, j in matches.items()}
    lost = [i for i, track in enumerate(tracks) if track.had_face and track.confirmed and i not in given]
    free = [j for j in sure if j not in given.values()]
    matches = match_lost([tracks[i] for i in lost], [found.faces[j] for j in free], frame)
    given |= {lost[i]: free[j] for i, j in matches.items()}
    faceless = [i for i, track in enumerate(tracks) if not track.had_face]
    free = [j for j in sure if j not in given.values()]
    first = match_faces_to_bodies([found.faces[j].box for j in free], [tracks[i].body_box for i in faceless])
    return given | {faceless[i]: free[j] for j, i in first.items()}


def _join(faces: dict[int, int], found: Detections) -> dict[int, int]:
    """Body for each face that lies in one; unsure faces without a track do not count."""
    if found.bodies is None:
        return {}
    real = [i for i, face in enumerate(found.faces) if face.confidence >= SURE_FACE or i in faces.values()]
    pairs = match_faces_to_bodies([found.faces[i].box for i in real], [body.box for body in found.bodies])
    return {real[i]: body for i, body in pairs.items()}


def _give_bodies(
    tracks: list[Track], faces: dict[int, int], joined: dict[int, int], found: Detections
) -> tuple[dict[int, int], list[int]]:
    """A body goes to the track of the face in it, or else to the best match; also returns unmatched bodies."""
    if found.bodies is None:
        return {}, []
    given = {i: joined[face] for i, face in faces.items() if face in joined}
    frame = FrameSize(found.width, found.height)
    rest = [i for i, track in enumerate(tracks) if i not in faces and not (track.had_face and is_leaving(track, frame))]
    free = [j for j in range(len(found.bodies)) if j not in joined.values()]
    for margin in BODY_MARGINS:
        unseen = [i for i in rest if i not in given]
        matches = match_bodies([tracks[i] for i in unseen], [found.bodies[j].box for j in free], margin=margin)
        given |= {unseen[i]: free[j] for i, j in matches.items()}
        free = [j for j in free if j not in given.values()]
    return given, free


def _found(found: Detections, face: int | None, body: int | None) -> Found | None:
    if face is None and body is None:
        return None
    return Found(
        face=None if face is None else found.faces[face],
        body=None if body is None or found.bodies is None else found.bodies[body],
    )


def _confirmed(track: Track) -> Track:
    if track.confirmed:
        return track
    age_s = (track.seen_ms - track.began_ms) / 1000
    enough = track.sightings >= CONFIRMED_SIGHTINGS and age_s >= CONFIRMED_AFTER_S
    if track.had_face:
        sure = enough or (track.sightings >= CONFIRMED_SIGHTINGS - 1 and age_s >= SURE_AFTER_S)
    else:
        walked = track.wandered >= BODY_WANDERS
        sure = track.sightings >= CONFIRMED_SIGHTINGS and age_s >= BODY_CONFIRMED_AFTER_S and walked
    return msgspec.structs.replace(track, confirmed=True) if sure else track


def _unseen(track: Track, at_ms: int) -> Track:
    return msgspec.structs.replace(track, face_confidence=0.0, missed_ms=track.missed_ms or at_ms)


def _without_gone(tracks: Sequence[Track], found: Detections) -> tuple[list[Track], list[Track]]:
    """Tracks that may still be found, and ended ones; a short time without frames does not end a track."""
    here: list[Track] = []
    gone: list[Track] = []
    for track in tracks:
        unseen_s = (track.at_ms - track.seen_ms) / 1000
        patience = patience_s(track, found.width, found.height)
        if patience > LEAVING_UNSEEN_S and track.confirmed and _is_hidden(track, tracks):
            patience = HIDDEN_UNSEEN_S
        # From the first frame that missed them: at two frames a second, a single miss is no proof.
        missed_s = (track.at_ms - track.missed_ms) / 1000 if track.missed_ms else 0.0
        forgotten = unseen_s > (HIDDEN_UNSEEN_S if track.missed_ms else FORGOTTEN_S)
        (gone if missed_s > patience or forgotten else here).append(track)
    return here, gone


def _is_hidden(track: Track, tracks: Sequence[Track]) -> bool:
    """Whether somebody visible stands in front."""
    x, y, size = track.head
    return any(
        other.id != track.id and not other.missed_ms and other.head.size > 0.8 * size and other.body_box.contains(x, y)
        for other in tracks
    )


def patience_s(track: Track, width: int, height: int) -> float:
    """How long a track may go unseen before its person counts as gone."""
    if not track.confirmed:
        return TENTATIVE_UNSEEN_S if track.had_face else BODY_UNSEEN_S
    if FrameSize(width, height).inside(track.head) < AT_EDGE or track.head.y > height:
        return LEAVING_UNSEEN_S
    return FACE_UNSEEN_S if track.had_face else BODY_UNSEEN_S


def _add(step: Step, seen: Found | None, at_ms: int, *, face: int | None = None) -> None:
    if seen and len(step.tracks) < TRACKS_AT_MOST:
        step.tracks.append(begin_track(seen, at_ms))
        if face is not None:
            step.face_of[step.tracks[-1].id] = face


def _is_somebody_new(found: Detections, index: int, tracks: Sequence[Track]) -> bool:
    """Whether a body moved and belongs to no tracked person."""
    assert found.bodies is not None
    body = found.bodies[index].box
    if not any(contained(body, box) > MOVED_SHARE for box in found.moved):
        return False
    return not any(belongs(track.head, body) or contained(track.body_box, body) > KNOWN_SHARE for track in tracks)
