"""The seven events of a scene: each is raised once, as soon as it is sure enough for the request's sensitivity.

They are about people whose face was seen: those are the ones that an answer shows as entities.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from onlooker.compute.reporting import rounded
from onlooker.compute.scene.entities import describe_entities, describe_gone, name_of
from onlooker.compute.scene.options import Options
from onlooker.compute.scene.person import Person
from onlooker.compute.scene.state import SceneState
from onlooker.compute.tracking.tracker import patience_s
from onlooker.compute.tracking.tracks import Track

PLACE = "face_roi"
"""The member that changes when somebody comes or goes."""
FOCUS_S = 1.0
"""After a look of so long it is as likely as not that the person means it."""
AGE_MOVED_YEARS = 8.0
"""An age that has moved by so much since it was announced is announced again."""


class Moment(NamedTuple):
    """One person now, and what the request asks."""

    state: SceneState
    track: Track
    person: Person
    options: Options


class Event(NamedTuple):
    """Something that changed."""

    confidence: float
    key: str
    announced: dict[str, Any]
    """What to remember, so that it is not raised again."""


class Raised(NamedTuple):
    """What changed, and everyone it is about: who disappears is among the entities once more."""

    events: list[dict[str, Any]]
    entities: dict[str, Any]


def raise_events(state: SceneState, ended: Sequence[Track], options: Options) -> Raised:
    """What changed with this frame, person by person; remembers what was raised."""
    events, gone = [], []
    for track in [*state.tracks, *ended]:
        person = state.people.get(track.id)
        if person is None or person.view is None or not track.confirmed:
            continue
        for name, event in _find_events(Moment(state, track, person, options)):
            events.append(_described(track, name, event))
            if name == "disappearance":
                gone.append(track)
    return Raised(events, describe_gone(state, gone, options) | describe_entities(state, options))


def end_scene(state: SceneState, options: Options) -> Raised:
    """The scene is over: everyone who appeared disappears."""
    gone = [track for track in state.tracks if (person := state.people.get(track.id)) and person.is_entity]
    events = [_described(track, "disappearance", Event(1.0, PLACE, {})) for track in gone]
    return Raised(events, describe_gone(state, gone, options))


def _find_events(moment: Moment) -> Iterator[tuple[str, Event]]:
    """Before a person has appeared, and after they have disappeared, nothing else is said of them."""
    person = moment.person
    for name, find in _FINDERS.items():
        if not person.announced.here and name != "appearance":
            return
        event = find(moment)
        sure_enough = event and event.confidence >= moment.options.needed(name)
        if event and (sure_enough or (name == "disappearance" and person.ended)):
            person.announced = msgspec.structs.replace(person.announced, **event.announced)
            yield name, event


def _described(track: Track, name: str, event: Event) -> dict[str, Any]:
    return {
        "entity_id": name_of(track.id),
        "entity_type": "human",
        "type": name,
        "confidence": rounded(min(event.confidence, 1.0)),
        "key": event.key,
    }


def _appearance(moment: Moment) -> Event | None:
    person, track = moment.person, moment.track
    if person.announced.here or track.seen_ms != moment.state.at_ms:
        return None
    # Each sighting may be wrong by itself, all of them together hardly.
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
