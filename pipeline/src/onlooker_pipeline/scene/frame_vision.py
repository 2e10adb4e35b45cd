"""What the nets read from one picture, each only when it is needed."""

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

from onlooker_pipeline.scene.face_attributes import USUAL_SPREAD_YEARS, ProfileReading
from onlooker_pipeline.vision.age_and_gender import read_ages, read_ages_and_genders, read_genders
from onlooker_pipeline.vision.expression import read_expressions
from onlooker_pipeline.vision.faces import Face, find_faces
from onlooker_pipeline.vision.gaze import Directions, read_directions
from onlooker_pipeline.vision.persons import PersonBox as Body
from onlooker_pipeline.vision.persons import find_persons
from onlooker_pipeline.vision.picture import Picture

UNSURE_FACE = 0.4
"""Lower than any other service reports: such faces can continue a track, not begin one."""


class FrameVision(Protocol):
    """A picture as the scene reads it."""

    width: int
    height: int

    @property
    def faces(self) -> list[Face]: ...
    def bodies(self) -> list[Body]: ...
    def directions(self, faces: Sequence[Face], with_eyes: Sequence[bool]) -> list[Directions]: ...
    def profiles(self, faces: Sequence[Face], *, age: bool, gender: bool) -> list[ProfileReading]: ...
    def expressions(self, faces: Sequence[Face]) -> list[dict[str, float]]: ...


class PictureVision:
    """A real picture, read by the real nets."""

    def __init__(self, picture: Picture, *, reads_faces: bool = True) -> None:
        """Where faces may not be read none is looked for, so that no other net has anything to read."""
        self._picture = picture
        self._reads_faces = reads_faces
        self.height, self.width = picture.shape[:2]

    @cached_property
    def faces(self) -> list[Face]:
        return find_faces(self._picture, at_least=UNSURE_FACE) if self._reads_faces else []

    def bodies(self) -> list[Body]:
        return find_persons(self._picture)

    def directions(self, faces: Sequence[Face], with_eyes: Sequence[bool]) -> list[Directions]:
        return read_directions(self._picture, faces, with_eyes=with_eyes)

    def profiles(self, faces: Sequence[Face], *, age: bool, gender: bool) -> list[ProfileReading]:
        """Runs only the nets whose reading is allowed."""
        if age and gender:
            both = read_ages_and_genders(self._picture, faces)
            return [ProfileReading(one.age_years, one.spread_years, one.male_probability) for one in both]
        if age:
            return [ProfileReading(years, spread, None) for years, spread in read_ages(self._picture, faces)]
        return [ProfileReading(None, USUAL_SPREAD_YEARS, male) for male in read_genders(self._picture, faces)]

    def expressions(self, faces: Sequence[Face]) -> list[dict[str, float]]:
        return read_expressions(self._picture, faces)
