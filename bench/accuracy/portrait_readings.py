"""What the pipeline reads from labelled faces as a camera in some condition shows them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.lib.degradation import Condition, degrade
from bench.lib.portraits import Portrait, at_size, find_face
from onlooker_pipeline.vision.age_and_gender import Reading, age_confidence, estimate_gender, read_ages_and_genders
from onlooker_pipeline.vision.eye_contact import judge_eye_contact
from onlooker_pipeline.vision.faces import Face
from onlooker_pipeline.vision.gaze import read_directions
from onlooker_pipeline.vision.picture import Picture, decode_picture

SEED = 18


@dataclass(frozen=True)
class SizedPortrait:
    """A portrait, its pixels, and how high its face is in them."""

    portrait: Portrait
    pixels: Any
    face_px: float


@dataclass(frozen=True)
class PortraitReading:
    """One portrait in one condition; without a reading if no face was found."""

    portrait: Portrait
    reading: Reading | None
    at_camera: bool = False

    @property
    def age_error(self) -> float:
        """Estimated minus labelled; not a number if no face was found."""
        return self.reading.age_years - self.portrait.age_years if self.reading else float("nan")

    @property
    def age_confidence(self) -> float:
        return age_confidence(self.reading.age_years, self.reading.spread_years) if self.reading else 0.0

    @property
    def gender_is_right(self) -> bool:
        if self.reading is None:
            return False
        told, _ = estimate_gender(self.reading.male_probability, age_years=self.reading.age_years)
        return told == self.portrait.gender


def measure_sizes(portraits: Sequence[Portrait]) -> Iterator[SizedPortrait]:
    """Those in which a face is found in good condition: of the others nothing can be told."""
    for portrait in portraits:
        pixels = portrait.read()
        face = find_face(at_size(pixels, 1.0))
        if face:
            yield SizedPortrait(portrait, pixels, face.size_px)


def picture_in(sized: SizedPortrait, condition: Condition, dice: np.random.Generator) -> Picture:
    """As a server gets it from a camera in this condition."""
    return decode_picture(degrade(at_size(sized.pixels, condition.face_px / sized.face_px), condition, dice))


def read_in(condition: Condition, portraits: Sequence[SizedPortrait], *, looking: bool) -> list[PortraitReading]:
    """All of them in one condition; the same noise each time."""
    dice = np.random.default_rng(SEED)
    readings = []
    for sized in portraits:
        picture = picture_in(sized, condition, dice)
        face = find_face(picture)
        if face is None:
            readings.append(PortraitReading(sized.portrait, None))
            continue
        (reading,) = read_ages_and_genders(picture, [face])
        at_camera = looks_at_camera(picture, face) if looking else False
        readings.append(PortraitReading(sized.portrait, reading, at_camera))
    return readings


def looks_at_camera(picture: Picture, face: Face) -> bool:
    """By the rule that scene_analysis applies to each picture."""
    (one,) = read_directions(picture, [face])
    gaze = one.gaze if one.eyes_readable else one.head.direction
    towards = one.head.towards_camera
    return judge_eye_contact(one.head.direction, gaze, towards_camera=towards, face_px=face.size_px).at_camera
