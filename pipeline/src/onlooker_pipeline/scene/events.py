"""The seven events of a scene: each is raised once, as soon as its confidence meets the request's sensitivity.

Events concern people whose face was seen: those are the entities of a result.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from onlooker_pipeline.result_json import rounded
from onlooker_pipeline.scene.entities import describe_entities, describe_gone
from onlooker_pipeline.scene.request_options import SceneOptions
from onlooker_pipeline.scene.state import SceneState, TrackedPerson
from onlooker_pipeline.tracking.tracker import patience_s
from onlooker_pipeline.tracking.tracks import Track

PLACE = "face_roi"
"""The member that changes when somebody appears or disappears."""
FOCUS_S = 1.0
"""A look of this length is intentional with a probability of one half."""
AGE_MOVED_YEARS = 8.0
"""An age that has changed by this much since it was announced is announced again."""


class Moment(NamedTuple):
    """One person now, and the options of the request."""

    state: SceneState
    track: Track
    person: TrackedPerson
    options: SceneOptions


class Event(NamedTuple):
    """Something that changed."""

    confidence: float
    key: str
    announced: dict[str, Any]
    """Remembered so that it is not raised again."""


class RaisedEvents(NamedTuple):
    """Events and the entities they concern, including those that have just disappeared."""

    events: list[dict[str, Any]]
    entities: dict[str, Any]


def raise_events(state: SceneState, ended: Sequence[Track], options: SceneOptions) -> RaisedEvents:
    """The events of this frame, person by person; remembers what was raised."""
    events, gone = [], []
    for track in [*state.tracks, *ended]:
        person = state.people.get(track.id)
        if person is None or person.view is None or not track.confirmed:
            continue
        for name, event in _find_events(Moment(state, track, person, options)):
            events.append(_described(state, track, name, event))
            if name == "disappearance":
                gone.append(track)
    return RaisedEvents(events, describe_gone(state, gone, options) | describe_entities(state, options))


def end_scene(state: SceneState, options: SceneOptions) -> RaisedEvents:
    """The scene is over: everyone who appeared disappears."""
    gone = [track for track in state.tracks if (person := state.people.get(track.id)) and person.is_entity]
    events = [_described(state, track, "disappearance", Event(1.0, PLACE, {})) for track in gone]
    return RaisedEvents(events, describe_gone(state, gone, options))


def _find_events(moment: Moment) -> Iterator[tuple[str, Event]]:
    """Before a person appears and after they disappear, no other event is raised for them."""
    person = moment.person
    for name, find in _FINDERS.items():
        if not person.announced.here and name != "appearance":
            return
        event = find(moment)
        sure_enough = event and event.confidence >= moment.options.needed(name)
        if event and (sure_enough or (name == "disappearance" and person.ended)):
            person.announced = msgspec.structs.replace(person.announced, **event.announced)
            yield name, event


def _described(state: SceneState, track: Track, name: str, event: Event) -> dict[str, Any]:
    return {
        "entity_id": state.name_of(track.id),
        "entity_type": "human",
        "type": name,
        "confidence": rounded(min(event.confidence, 1.0)),
        "key": event.key,
    }


def _appearance(moment: Moment) -> Event | None:
    person, track = moment.person, moment.track
    if person.announced.here or track.seen_ms != moment.state.at_ms:
        return None
    # Each sighting may be wrong by itself; all of them together hardly ever are.
    confidence = 1 - (1 - person.confidence) ** track.sightings
    return Event(confidence, PLACE, {"here": True})


def _disappearance(moment: Moment) -> Event | None:
    person, track, state = moment.person, moment.track, moment.state
    unseen_s = (state.at_ms - track.seen_ms) / 1000
    if not person.announced.here or unseen_s <= 0:
        return None
    confidence = 1.0 if person.ended else min(unseen_s / patience_s(track, state.width, state.height), 1.0)
    return Event(confidence, PLACE, {"here": False, "focus": False})


def _age(moment: Moment) -> Event | None:
    announced, age = moment.person.announced.age, moment.person.profile.age()
    if age is None or not moment.options.reads_age:
        return None
    if announced is not None and abs(announced - age[0]) < AGE_MOVED_YEARS:
        return None
    return Event(age[1], "age", {"age": round(age[0], 1)})


def _gender(moment: Moment) -> Event | None:
    gender = moment.person.profile.gender()
    if gender is None or not moment.options.reads_gender or gender[0] == moment.person.announced.gender:
        return None
    return Event(gender[1], "gender", {"gender": gender[0]})


def _focus(moment: Moment) -> Event | None:
    person = moment.person
    if moment.track.seen_ms != moment.state.at_ms:
        return None
    if person.looking_since_ms in (0, moment.state.at_ms):
        if person.announced.focus:
            person.announced = msgspec.structs.replace(person.announced, focus=False)
        return None
    if person.announced.focus:
        return None
    looked_s = (moment.state.at_ms - person.looking_since_ms) / 1000
    return Event(looked_s / (looked_s + FOCUS_S), "gaze", {"focus": True})


def _emotion(moment: Moment) -> Event | None:
    mood = moment.person.mood
    name, share = mood.dominant
    if not mood.readings or not moment.options.reads_expression or name == moment.person.announced.mood:
        return None
    return Event(share, f"emotion_{name}", {"mood": name})


def _direction(moment: Moment) -> Event | None:
    person = moment.person
    if person.heading == person.announced.direction or moment.track.seen_ms != moment.state.at_ms:
        return None
    if person.heading == "unknown":
        person.announced = msgspec.structs.replace(person.announced, direction="unknown")
        return None
    return Event(person.heading_confidence, "direction", {"direction": person.heading})


_FINDERS: dict[str, Callable[[Moment], Event | None]] = {
    "appearance": _appearance,
    "age_estimated": _age,
    "gender_estimated": _gender,
    "focus_locked": _focus,
    "emotion_detected": _emotion,
    "direction_estimated": _direction,
    "disappearance": _disappearance,
}
