"""The people of a scene in a result: every entity has every member, as historic clients expect."""

from collections.abc import Sequence
from typing import Any

from onlooker_pipeline.expressions import EXPRESSIONS
from onlooker_pipeline.result_json import UNKNOWN_AGE, UNKNOWN_GENDER, rounded
from onlooker_pipeline.scene.face_attributes import Mood
from onlooker_pipeline.scene.request_options import SceneOptions
from onlooker_pipeline.scene.state import SceneState, TrackedPerson
from onlooker_pipeline.tracking.boxes import Box
from onlooker_pipeline.tracking.tracks import Track


def describe_entities(state: SceneState, options: SceneOptions) -> dict[str, Any]:
    """By id: people who have appeared and not disappeared."""
    people = [(track, state.people.get(track.id)) for track in state.tracks]
    return {
        state.name_of(track.id): _entity(state, track, person, options, visible=track.face_ms == state.at_ms)
        for track, person in people
        if person and person.is_entity
    }


def describe_gone(state: SceneState, tracks: Sequence[Track], options: SceneOptions) -> dict[str, Any]:
    """By id: people as they were last seen, with all confidences 0."""
    return {
        state.name_of(track.id): _entity(state, track, state.people[track.id], options, visible=False)
        | {"full_body_roi_confidence": 0.0}
        for track in tracks
    }


def describe_bodies(state: SceneState) -> dict[str, Any]:
    """By id: people whose face was never seen."""
    people = [(track, state.people.get(track.id)) for track in state.tracks]
    return {
        state.name_of(track.id): _body(state, track) | {"direction": person.heading}
        for track, person in people
        if person and track.confirmed and person.view is None
    }


def _entity(
    state: SceneState, track: Track, person: TrackedPerson, options: SceneOptions, *, visible: bool
) -> dict[str, Any]:
    view = person.view
    assert view  # it appeared by its face
    face_confidence = rounded(track.face_confidence) if visible else 0.0
    looking = rounded(person.looking_confidence) if visible else 0.0
    return (
        {
            "face_roi": _roi(Box(view.left, view.top, view.right, view.bottom), state),
            "face_roi_confidence": face_confidence,
            "face_confidence": face_confidence,
            "face_eye": [list(eye) for eye in view.eyes],
            "face_mouth": list(view.mouth),
            "face_nose": list(view.nose),
            "gaze": [rounded(angle) for angle in view.gaze],
            "gaze_confidence": looking if view.eyes_readable else 0.0,
            "head": list(view.head),
            "head_confidence": looking,
            "direction": person.heading,
        }
        | _age_and_gender(person, options, visible=visible)
        | _emotion(person.mood if options.reads_expression else Mood(), visible=visible)
        | _body(state, track)
    )


def _age_and_gender(person: TrackedPerson, options: SceneOptions, *, visible: bool) -> dict[str, Any]:
    """0 and `unknown` with confidence 0 if not known yet or switched off."""
    estimate = person.estimate(reads_age=options.reads_age, reads_gender=options.reads_gender)
    return {
        "age": UNKNOWN_AGE if estimate.age is None else estimate.age,
        "age_confidence": rounded(estimate.age_confidence) if visible else 0.0,
        "gender": estimate.gender or UNKNOWN_GENDER,
        "gender_confidence": rounded(estimate.gender_confidence) if visible else 0.0,
    }


def _emotion(mood: Mood, *, visible: bool) -> dict[str, Any]:
    """Zeros with confidence 0 if not known yet or switched off."""
    shares = dict(zip(EXPRESSIONS, mood.shares, strict=True))
    members: dict[str, Any] = {f"emotion_{name}": rounded(share) for name, share in shares.items()}
    members["emotion_smiling_degree"] = rounded(shares["happiness"])
    members["emotion_confidence"] = rounded(mood.view) if visible else 0.0
    return members


def _body(state: SceneState, track: Track) -> dict[str, Any]:
    """Where the body was seen; or, with confidence 0, where it should be around the head."""
    return {
        "full_body_roi": _roi(track.body_box, state),
        "full_body_roi_confidence": rounded(track.body_confidence) if track.body_ms == state.at_ms else 0.0,
    }


def _roi(box: Box, state: SceneState) -> list[int]:
    left, top, right, bottom = (round(side) for side in box.within(state.width, state.height))
    return [left, top, right - left, bottom - top]
