"""What a session of scene_analysis remembers from frame to frame: numbers, never pixels."""

import hashlib
import os
from typing import Any

import msgspec

from onlooker_pipeline.scene.behaviour import Sample
from onlooker_pipeline.scene.condition import ConditionState
from onlooker_pipeline.scene.face_attributes import Mood, Profile
from onlooker_pipeline.tracking.tracks import Track
from onlooker_pipeline.visits.sightings import Estimate

Point = tuple[int, int]
NAMES_KEY_BYTES = 8
encode_scene = msgspec.msgpack.Encoder().encode


class FaceView(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A face as it was last seen; angles in radians, positions in pixels."""

    left: int
    top: int
    right: int
    bottom: int
    eyes: tuple[Point, Point]
    nose: Point
    mouth: Point
    head: tuple[float, float, float]
    """Yaw, pitch, roll."""
    eyes_aside: tuple[float, float] = (0.0, 0.0)
    """Yaw and pitch of the eyes relative to the head when they were last read."""
    eyes_ms: int = 0
    eyes_readable: bool = False

    @property
    def gaze(self) -> tuple[float, float]:
        return self.head[0] + self.eyes_aside[0], self.head[1] + self.eyes_aside[1]


class Announced(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """What events have announced, so that each is raised once."""

    here: bool = False
    age: float | None = None
    gender: str | None = None
    focus: bool = False
    mood: str | None = None
    direction: str = "unknown"


class TrackedPerson(msgspec.Struct, array_like=True, gc=False):
    """One person of a scene."""

    samples: list[Sample] = []
    profile: Profile = Profile()
    mood: Mood = Mood()
    view: FaceView | None = None
    """None: the face was never seen."""
    looking_since_ms: int = 0
    """0: is not looking."""
    looking_confidence: float = 0.0
    """That the last verdict on looking was right."""
    heading: str = "unknown"
    heading_confidence: float = 0.0
    confidence: float = 0.0
    announced: Announced = Announced()
    confirmed: bool = False
    ended: bool = False

    @property
    def is_entity(self) -> bool:
        """Whether the person has appeared, by their face, and not disappeared."""
        return self.announced.here and self.view is not None

    def estimate(self, *, reads_age: bool, reads_gender: bool, reads_expression: bool = True) -> Estimate:
        """As visits have it; without what the stream has switched off."""
        age = self.profile.age() if reads_age else None
        gender = self.profile.gender() if reads_gender else None
        told: dict[str, Any] = {"reads_expression": reads_expression}
        if age:
            told |= {"age": round(age[0], 1), "age_confidence": round(age[1], 3)}
        if gender:
            told |= {"gender": gender[0], "gender_confidence": round(gender[1], 3)}
        return Estimate(round(self.confidence, 3), **told)


class PendingFrame(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A frame whose verdicts are not final yet."""

    at_ms: int
    stored: bool


class SceneState(msgspec.Struct, array_like=True, gc=False):
    """Encoded between frames, so that a call that fails halfway leaves the previous state intact."""

    at_ms: int
    """When the last frame was taken."""
    width: int
    height: int
    searched_ms: int = 0
    """When a frame was last searched for bodies."""
    stores: bool = False
    """Whether any frame is to be stored."""
    tracks: list[Track] = []
    people: dict[bytes, TrackedPerson] = {}
    pending: list[PendingFrame] = []
    condition: ConditionState = msgspec.field(default_factory=ConditionState)
    names_key: bytes = b""
    """Turns ids of tracks, which visits have, into those of entities. Empty: an older release wrote this."""

    def name_of(self, person: bytes) -> str:
        """An entity's id, a UUID in its usual notation: it leads to no visit once the scene, with its key, is gone."""
        text = person.hex()
        if self.names_key:
            text = hashlib.blake2b(person, key=self.names_key, digest_size=16).hexdigest()
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def new_scene(at_ms: int, width: int, height: int) -> SceneState:
    return SceneState(at_ms, width, height, names_key=os.urandom(NAMES_KEY_BYTES))


_unpack = msgspec.msgpack.Decoder(SceneState).decode


def decode_scene(state: Any) -> SceneState | None:
    """None if there is no state yet, or another release wrote it: the scene starts over."""
    if not isinstance(state, bytes):
        return None
    try:
        scene = _unpack(state)
    except msgspec.MsgspecError:
        return None
    if not scene.names_key and not scene.people:  # people keep the names by which clients know them
        scene.names_key = os.urandom(NAMES_KEY_BYTES)
    return scene
