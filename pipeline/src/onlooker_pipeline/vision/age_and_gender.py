"""Age and gender of faces: upright crops for two nets, their readings, and estimates with a confidence."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from onlooker_pipeline.vision.crops import (
    Region,
    colour_tensor,
    cut_region,
    fold_mirrored,
    in_batches,
    with_mirror_images,
)
from onlooker_pipeline.vision.faces import Face, Points
from onlooker_pipeline.vision.networks import Tensor, network
from onlooker_pipeline.vision.picture import Picture, as_picture

AGE_SIZE = 112
GENDER_SIZE = 32
PLACES = np.array([0.297 + 0.300j, 0.678 + 0.301j, 0.483 + 0.515j, 0.321 + 0.673j, 0.659 + 0.673j])
"""Where a face's five points belong in the unit square, x + yj.

The gender net was trained on dlib's chips, which are cut along the corners of the eyes with a padding of 0.2, and the
age net reads them well. These are the detector's points in such chips, averaged over labelled portraits: ages come out
as well as with the mesh's points, with one net less to run.
"""

GENDER_MEAN = np.array([122.782, 117.001, 104.298], np.float32).reshape(3, 1, 1)
GENDER_RANGE = np.float32(256)
OLDEST_YEARS = 100.0
CHILD_YEARS, ADULT_YEARS = 12.0, 18.0
"""As the net reads them. Children are read correctly; between these ages the offset grows linearly."""
WITHIN_YEARS = 10.0
"""The confidence is the probability of an error no larger than this."""
SPREAD_SIDES_PX = (28.0, 40.0, 56.0, 80.0, 112.0)
PUBLISHED_AGES_YEARS = (1.5, 6.0, 13.5, 23.5)
PUBLISHED_ERRORS_YEARS = (1.52, 3.06, 4.82, 4.99)
"""The net's mean error by age, as published; used only for how much better it is with children."""
Gender = Literal["female", "male"]
GUESSED_UP_TO_YEARS, READ_FROM_YEARS = 11.0, 17.0
"""A child's face does not show the gender: between these ages the confidence grows from 0 to its full value."""


@dataclass(frozen=True)
class Chip:
    """One face, cropped."""

    pixels: Picture
    side_px: float
    """Its side in pixels of the picture: how much detail the nets get."""


def cut_chips(picture: Picture, faces: Sequence[Face]) -> list[Chip]:
    """A chip for each face, in their order; grey stays grey."""
    regions = [chip_region(face.points) for face in faces]
    return [Chip(cut_region(picture, region, AGE_SIZE), region.side_px) for region in regions]


def chip_region(five: Points) -> Region:
    """The square that brings the five points nearest to PLACES, by rotation and scale alone."""
    points = five[:, 0] + 1j * five[:, 1].astype(np.float64)
    from_middle = points - points.mean()
    # Multiplying complex numbers rotates and scales: this one maps the points to their places.
    turn = np.vdot(from_middle, PLACES - PLACES.mean()) / max(np.vdot(from_middle, from_middle).real, 1e-9)
    back = 1 / turn if abs(turn) > 1e-9 else 1 + 0j
    centre = points.mean() + (0.5 + 0.5j - PLACES.mean()) * back
    return Region(float(centre.real), float(centre.imag), float(abs(back)), math.atan2(back.imag, back.real))


def age_tensor(chips: Sequence[Chip]) -> Tensor:
    """[n, 112, 112, 3], red, green, blue from 0 to 255."""
    return colour_tensor([chip.pixels for chip in chips])


def gender_tensor(chips: Sequence[Chip]) -> Tensor:
    """[n, 3, 32, 32], red, green, blue planes around zero."""
    small = [as_picture(cv2.resize(c.pixels, (GENDER_SIZE,) * 2, interpolation=cv2.INTER_AREA)) for c in chips]
    planes = np.ascontiguousarray(colour_tensor(small).transpose(0, 3, 1, 2))
    return (planes - GENDER_MEAN) / GENDER_RANGE


@dataclass(frozen=True)
class Reading:
    """What the nets say about one face in one picture; input of `estimate_age` and `estimate_gender`."""

    age_years: float
    male_probability: float
    side_px: float
    """Side of its chip in the picture: how much detail the nets got."""


def read_ages(picture: Picture, faces: Sequence[Face]) -> list[tuple[float, float]]:
    """Age and side of the chip for every face; the age net's word on gender is ignored."""
    ages: list[tuple[float, float]] = []
    for batch in in_batches(cut_chips(picture, faces)):
        said = fold_mirrored(network("age").run(with_mirror_images(age_tensor(batch)))["age"])[:, 0]
        ages += [(float(age), chip.side_px) for age, chip in zip(said, batch, strict=True)]
    return ages


def read_genders(picture: Picture, faces: Sequence[Face]) -> list[tuple[float, float]]:
    """Probability of male by the gender net alone, and side of the chip, for every face; the age net does not run."""
    genders: list[tuple[float, float]] = []
    for batch in in_batches(cut_chips(picture, faces)):
        (said,) = network("gender").run(gender_tensor(batch)).values()
        genders += [(float(male), chip.side_px) for (_, male), chip in zip(said, batch, strict=True)]
    return genders


def read_ages_and_genders(picture: Picture, faces: Sequence[Face]) -> list[Reading]:
    """For every face, in their order."""
    readings: list[Reading] = []
    for batch in in_batches(cut_chips(picture, faces)):
        said = network("age").run(with_mirror_images(age_tensor(batch)))
        ages = fold_mirrored(said["age"])[:, 0]
        (genders,) = network("gender").run(gender_tensor(batch)).values()
        males = male_probabilities(fold_mirrored(said["gender"]), genders)
        readings += [
            Reading(float(age), float(male), chip.side_px) for age, male, chip in zip(ages, males, batch, strict=True)
        ]
    return readings


@dataclass(frozen=True)
class Correction:
    """By how much the net reads adults as too young, and the spread of the remaining error."""

    offset_years: float
    spread_years: tuple[float, ...]
    """Standard deviation of an adult's error, one for each of SPREAD_SIDES_PX."""


CORRECTION = Correction(offset_years=5.9, spread_years=(11.7, 9.1, 9.0, 8.2, 7.7))
"""Fitted with `python -m bench.accuracy.age_fit` to official portraits of 151 people of 29 to 83 years.

It also prints the errors for people who are not part of the fit: there, one offset does as well as a line or a free
curve. No labelled face of 10 to 20 years was available: that the offset grows from 12 to 18 is an assumption.
"""


def estimate_age(reading_years: float, *, side_px: float, correction: Correction = CORRECTION) -> tuple[float, float]:
    """The age, and the probability that it is right within ten years.

    The reading is the net's output, `side_px` the side of the chip in the picture: a small face shows little, so the
    confidence is lower. It is calibrated on frontal faces; a turned head is read less well.
    """
    age = corrected_age(reading_years, correction)
    spread = float(np.interp(side_px, SPREAD_SIDES_PX, correction.spread_years)) * _share_of_spread(age)
    return age, math.erf(WITHIN_YEARS / (spread * math.sqrt(2)))


def corrected_age(reading_years: float, correction: Correction = CORRECTION) -> float:
    """Monotonic: a higher reading never gives a lower age."""
    age = reading_years + correction.offset_years * adulthood(reading_years)
    return min(max(age, 0.0), OLDEST_YEARS)


def adulthood(reading_years: float) -> float:
    """The share of the offset that applies."""
    return min(max((reading_years - CHILD_YEARS) / (ADULT_YEARS - CHILD_YEARS), 0.0), 1.0)


def _share_of_spread(age_years: float) -> float:
    """Spread of the error relative to an adult's."""
    error = np.interp(age_years, PUBLISHED_AGES_YEARS, PUBLISHED_ERRORS_YEARS)
    return float(error) / PUBLISHED_ERRORS_YEARS[-1]


def male_probabilities(age_net: Tensor, gender_net: Tensor) -> NDArray[np.float32]:
    """The mean of both nets for each face, from [n, (male, female)] and [n, (female, male)].

    They err in opposite directions, one on small women, the other on turned men: their mean errs less than either.
    """
    return np.asarray((age_net[:, 0] + gender_net[:, 1]) / 2, np.float32)


def estimate_gender(male_probability: float, *, age_years: float) -> tuple[Gender, float]:
    """The likelier gender, and a confidence from 0 (a coin toss) to 1 (certain).

    For an adult, (1 + confidence) / 2 is the nets' probability of the gender. A face that looks younger than about
    13 gets a confidence near 0, whatever the nets say.
    """
    certainty = abs(2 * male_probability - 1)
    return "male" if male_probability > 0.5 else "female", certainty * _legibility(age_years)


def _legibility(age_years: float) -> float:
    """Smooth, so that a face at the limit does not flicker."""
    grown = (age_years - GUESSED_UP_TO_YEARS) / (READ_FROM_YEARS - GUESSED_UP_TO_YEARS)
    grown = min(max(grown, 0.0), 1.0)
    return grown * grown * (3 - 2 * grown)
