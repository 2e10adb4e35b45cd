"""What is known of one person beside their track: numbers, never pixels."""

from typing import Any

import msgspec

from onlooker.compute.scene.mood import Mood
from onlooker.compute.scene.profile import Profile
from onlooker.compute.scene.samples import Sample
from onlooker.compute.sightings import Estimate

Point = tuple[int, int]


class FaceView(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A face as it was last seen; angles in radians, places in pixels."""

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
    """Yaw and pitch by which the eyes were turned away from the head when they were last read."""
    eyes_ms: int = 0
    eyes_readable: bool = False

    @property
    def gaze(self) -> tuple[float, float]:
        return self.head[0] + self.eyes_aside[0], self.head[1] + self.eyes_aside[1]


class Announced(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """Which events were raised, so that each is raised once."""

    here: bool = False
    age: float | None = None
    gender: str | None = None
    focus: bool = False
    mood: str | None = None
    direction: str = "unknown"


class Person(msgspec.Struct, array_like=True, gc=False):
    """One person of a scene."""

    samples: list[Sample] = []
    profile: Profile = Profile()
    mood: Mood = Mood()
    view: FaceView | None = None
    """None: the face was never seen."""
    looking_since_ms: int = 0
    """0: does not look."""
    looking_confidence: float = 0.0
    """That the last verdict on it was right."""
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
        """As visits have it; what a stream has switched off is not there."""
        age = self.profile.age() if reads_age else None
        gender = self.profile.gender() if reads_gender else None
        told: dict[str, Any] = {"reads_expression": reads_expression}
        if age:
            told |= {"age": round(age[0], 1), "age_confidence": round(age[1], 3)}
        if gender:
            told |= {"gender": gender[0], "gender_confidence": round(gender[1], 3)}
        return Estimate(round(self.confidence, 3), **told)
