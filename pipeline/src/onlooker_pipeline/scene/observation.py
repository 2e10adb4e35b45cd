"""One frame of a scene: detect, track, read what is due, and add a sample for every person."""

from collections.abc import Sequence

import msgspec

from onlooker_pipeline.scene.attribute_schedule import read_moods, read_profiles
from onlooker_pipeline.scene.behaviour import AT_CAMERA, AWAY, DENSEST_MS, UNKNOWN, Sample, find_dwell, sample_of
from onlooker_pipeline.scene.body_search import should_search_bodies
from onlooker_pipeline.scene.face_views import ObservedFace, read_faces
from onlooker_pipeline.scene.frame_vision import FrameVision
from onlooker_pipeline.scene.request_options import SceneOptions
from onlooker_pipeline.scene.state import SceneState, TrackedPerson
from onlooker_pipeline.tracking.boxes import Box, HeadPlace
from onlooker_pipeline.tracking.tracker import Detections, Step, follow_people
from onlooker_pipeline.tracking.tracks import BodyFound, FaceFound, Track, doubt
from onlooker_pipeline.vision.faces import Face

LOOK_BROKEN_MS = 1000
"""A look does not continue over a longer time unseen."""
CONFIDENCE_OVER = 20
"""Sightings over which a person's confidence is averaged."""
WALKING = 0.8
"""Head sizes per second; anything slower has no direction."""


def observe_frame(
    state: SceneState, vision: FrameVision, moved: Sequence[Box], *, at_ms: int, options: SceneOptions
) -> Step:
    """Bring the state up to this frame; `moved` is movement that no tracked person explains."""
    search = should_search_bodies(state.tracks, moved, searched_ms=state.searched_ms, at_ms=at_ms)
    if search:
        state.searched_ms = at_ms
    step = follow_people(state.tracks, _detect(vision, moved, search=search), at_ms)
    for track in step.ended:
        if track.id in state.people:
            state.people[track.id].ended = True
    seen = {track.id: track for track in step.tracks if track.seen_ms == at_ms}
    people = {id: state.people.setdefault(id, TrackedPerson()) for id in seen}
    faced = {id: (people[id], vision.faces[step.face_of[id]]) for id in seen if id in step.face_of}
    views = dict(zip(faced, read_faces(vision, list(faced.values()), at_ms=at_ms, options=options), strict=True))
    for id, person in people.items():
        _note(person, seen[id], views.get(id), at_ms)
    state.tracks = [doubt(track) if _is_doubtful(views.get(track.id)) else track for track in step.tracks]
    viewed = {id: (people[id], view) for id, view in views.items()}
    read_profiles(vision, viewed, at_ms=at_ms, options=options)
    read_moods(vision, viewed, at_ms=at_ms, options=options)
    state.at_ms = at_ms
    return step


def _detect(vision: FrameVision, moved: Sequence[Box], *, search: bool) -> Detections:
    faces = [
        FaceFound(Box(face.left, face.top, face.right, face.bottom), face.confidence, _turn(face))
        for face in vision.faces
    ]
    bodies = None
    if search:
        bodies = [
            BodyFound(Box(body.left, body.top, body.right, body.bottom), body.confidence) for body in vision.bodies()
        ]
    return Detections(vision.width, vision.height, faces, bodies, moved)


def _turn(face: Face) -> float:
    eyes_x = (face.points[0][0] + face.points[1][0]) / 2
    return float(face.points[2][0] - eyes_x) / face.size_px


def _is_doubtful(view: ObservedFace | None) -> bool:
    return view is not None and not view.proven


def _with_sample(samples: list[Sample], newest: Sample) -> list[Sample]:
    dwell_ms, dwell_x, dwell_y = find_dwell([*samples, newest])
    return [*samples, msgspec.structs.replace(newest, dwell_ms=dwell_ms, dwell_x=dwell_x, dwell_y=dwell_y)]


def _note(person: TrackedPerson, track: Track, view: ObservedFace | None, at_ms: int) -> None:
    """Add a sample for this moment, and update what follows from the track."""
    look = UNKNOWN
    if view and view.looking:
        look = AT_CAMERA if view.looking.at_camera else AWAY
    head = HeadPlace(*view.face.centre, view.face.size_px) if view else track.head
    last_ms = person.samples[-1].at_ms if person.samples else 0
    since_ms = person.looking_since_ms if at_ms - last_ms <= LOOK_BROKEN_MS else 0
    person.looking_since_ms = (since_ms or at_ms) if look == AT_CAMERA else 0
    if at_ms - last_ms >= DENSEST_MS:
        person.samples = _with_sample(person.samples, sample_of(head, at_ms, look=look, by_face=view is not None))
    person.confirmed = track.confirmed
    person.heading, person.heading_confidence = estimate_heading(track)
    confidence = track.face_confidence if view else track.body_confidence
    person.confidence += (confidence - person.confidence) / min(track.sightings, CONFIDENCE_OVER)


def estimate_heading(track: Track) -> tuple[str, float]:
    """One of up, right, left, down and unknown, and its confidence."""
    size = track.head.size
    across, down = track.x.velocity / size, track.y.velocity / size
    speed = max(abs(across), abs(down))
    if speed < WALKING:
        return "unknown", 0.0
    spread = (track.x.velocity_variance**0.5 if abs(across) >= abs(down) else track.y.velocity_variance**0.5) / size
    confidence = speed / (speed + spread + WALKING / 2)
    if abs(across) >= abs(down):
        return ("right" if across > 0 else "left"), confidence
    return ("down" if down > 0 else "up"), confidence
