"""What the nets can be asked about one picture, each when it is needed."""

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

from onlooker.compute.scene.profile import ProfileReading
from onlooker.compute.vision.age_and_gender import read_ages, read_ages_and_genders, read_genders
from onlooker.compute.vision.decoding import Picture
from onlooker.compute.vision.directions import Directions, read_directions
from onlooker.compute.vision.expression import read_expressions
from onlooker.compute.vision.faces import Face, find_faces
from onlooker.compute.vision.persons import Person as Body
from onlooker.compute.vision.persons import find_persons

UNSURE_FACE = 0.4
"""Less sure faces than any other service reports: they can go on with a track, not begin one."""


class Sight(Protocol):
    """A picture, as the scene asks about it."""

    width: int
    height: int

    @property
    def faces(self) -> list[Face]: ...
    def bodies(self) -> list[Body]: ...
    def directions(self, faces: Sequence[Face], with_eyes: Sequence[bool]) -> list[Directions]: ...
    def profiles(self, faces: Sequence[Face], *, age: bool, gender: bool) -> list[ProfileReading]: ...
    def expressions(self, faces: Sequence[Face]) -> list[dict[str, float]]: ...


class PictureSight:
    """A real picture and the real nets."""

    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        self.height, self.width = picture.shape[:2]

    @cached_property
    def faces(self) -> list[Face]:
        return find_faces(self._picture, at_least=UNSURE_FACE)

    def bodies(self) -> list[Body]:
        return find_persons(self._picture)

    def directions(self, faces: Sequence[Face], with_eyes: Sequence[bool]) -> list[Directions]:
        return read_directions(self._picture, faces, with_eyes=with_eyes)

    def profiles(self, faces: Sequence[Face], *, age: bool, gender: bool) -> list[ProfileReading]:
        """A net is asked only for what may be known."""
        if age and gender:
            both = read_ages_and_genders(self._picture, faces)
            return [ProfileReading(one.side_px, one.age_years, one.male_probability) for one in both]
        if age:
            return [ProfileReading(side_px, years, None) for years, side_px in read_ages(self._picture, faces)]
        return [ProfileReading(side_px, None, male) for male, side_px in read_genders(self._picture, faces)]

    def expressions(self, faces: Sequence[Face]) -> list[dict[str, float]]:
        return read_expressions(self._picture, faces)
