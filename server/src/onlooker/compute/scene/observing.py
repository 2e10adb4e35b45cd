"""One frame of a scene: find, follow, read what is due, note what was seen of everybody."""

from collections.abc import Sequence

import msgspec

from onlooker.compute.scene.heading import heading_of
from onlooker.compute.scene.options import Options
from onlooker.compute.scene.person import Person
from onlooker.compute.scene.readings import read_moods, read_profiles
from onlooker.compute.scene.samples import AT_CAMERA, AWAY, DENSEST_MS, UNKNOWN, Sample, sample_of
from onlooker.compute.scene.searching import should_search
from onlooker.compute.scene.sight import Sight
from onlooker.compute.scene.state import SceneState
from onlooker.compute.scene.stillness import find_dwell
from onlooker.compute.scene.views import View, look_at_faces
from onlooker.compute.tracking.boxes import Box, HeadPlace
from onlooker.compute.tracking.tracker import Detections, Step, follow_people
from onlooker.compute.tracking.tracks import BodyFound, FaceFound, Track, doubt
from onlooker.compute.vision.faces import Face

LOOK_BROKEN_MS = 1000
"""Who was not seen for longer has not gone on looking."""
CONFIDENCE_OVER = 20
"""Sightings that a person's confidence is the mean of."""


def observe(state: SceneState, sight: Sight, moved: Sequence[Box], *, at_ms: int, options: Options) -> Step:
    """Brings the state to this frame; `moved` is where something moved that nobody who is followed explains."""
    search = should_search(state.tracks, moved, searched_ms=state.searched_ms, at_ms=at_ms)
    if search:
        state.searched_ms = at_ms
    step = follow_people(state.tracks, _detect(sight, moved, search=search), at_ms)
    for track in step.ended:
        if track.id in state.people:
            state.people[track.id].ended = True
    seen = {track.id: track for track in step.tracks if track.seen_ms == at_ms}
    people = {id: state.people.setdefault(id, Person()) for id in seen}
    faced = {id: (people[id], sight.faces[step.face_of[id]]) for id in seen if id in step.face_of}
    views = dict(zip(faced, look_at_faces(sight, list(faced.values()), at_ms=at_ms, options=options), strict=True))
    for id, person in people.items():
        _note(person, seen[id], views.get(id), at_ms)
    state.tracks = [doubt(track) if _is_doubtful(views.get(track.id)) else track for track in step.tracks]
    viewed = {id: (people[id], view) for id, view in views.items()}
    read_profiles(sight, viewed, at_ms=at_ms, options=options)
    read_moods(sight, viewed, at_ms=at_ms, options=options)
    state.at_ms = at_ms
    return step


def _detect(sight: Sight, moved: Sequence[Box], *, search: bool) -> Detections:
    faces = [
        FaceFound(Box(face.left, face.top, face.right, face.bottom), face.confidence, _turn(face))
        for face in sight.faces
    ]
    bodies = None
    if search:
        bodies = [
            BodyFound(Box(body.left, body.top, body.right, body.bottom), body.confidence) for body in sight.bodies()
        ]
    return Detections(sight.width, sight.height, faces, bodies, moved)


def _turn(face: Face) -> float:
    eyes_x = (face.points[0][0] + face.points[1][0]) / 2
    return float(face.points[2][0] - eyes_x) / face.size_px


def _is_doubtful(view: View | None) -> bool:
    return view is not None and not view.proven


def _with_sample(samples: list[Sample], newest: Sample) -> list[Sample]:
    dwell_ms, dwell_x, dwell_y = find_dwell([*samples, newest])
    return [*samples, msgspec.structs.replace(newest, dwell_ms=dwell_ms, dwell_x=dwell_x, dwell_y=dwell_y)]


def _note(person: Person, track: Track, view: View | None, at_ms: int) -> None:
    """A sample of this moment, and what follows from the track itself."""
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
    person.heading, person.heading_confidence = heading_of(track)
    confidence = track.face_confidence if view else track.body_confidence
    person.confidence += (confidence - person.confidence) / min(track.sightings, CONFIDENCE_OVER)
