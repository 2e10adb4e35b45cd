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
from onlooker_pipeline.vision.face_clarity import Clarity, measure_clarity, smoothed
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
ADULT_YEARS = 18.0
WITHIN_YEARS = 10.0
"""The confidence is the probability of an error no larger than this."""
READINGS_YEARS = (15.0, 25.0, 35.0, 45.0, 55.0, 65.0)
"""Readings for which the correction states an age; below the first one the net is right."""
WRINKLED_YEARS = 45.0
"""From this reading on, all that blur hides is missing; in the young it hides nothing."""
DETAILS = (25.0, 35.0, 45.0, 60.0, 80.0)
"""Sharpness or detail of a face for which the correction states what is missing and how far ages are off."""
SPREAD_AGES_YEARS = (5.0, 15.0, 25.0, 40.0)
"""Ages for which it states their share of the spread."""
Gender = Literal["female", "male"]
GUESSED_UP_TO_YEARS, READ_FROM_YEARS = 11.0, 17.0
"""A child's face does not show the gender: between these ages the confidence grows from 0 to its full value."""


@dataclass(frozen=True)
class Chip:
    """One face, cropped."""

    pixels: Picture
    clarity: Clarity


def cut_chips(picture: Picture, faces: Sequence[Face]) -> list[Chip]:
    """A chip for each face, in their order; grey stays grey."""
    regions = [chip_region(face.points) for face in faces]
    return [Chip(cut_region(picture, region, AGE_SIZE), measure_clarity(picture, region)) for region in regions]


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
    """[n, 112, 112, 3], red, green, blue from 0 to 255; without noise, which the net takes for wrinkles."""
    return colour_tensor([smoothed(chip.pixels, chip.clarity, chip.clarity.side_px) for chip in chips])


def gender_tensor(chips: Sequence[Chip]) -> Tensor:
    """[n, 3, 32, 32], red, green, blue planes around zero."""
    small = [as_picture(cv2.resize(c.pixels, (GENDER_SIZE,) * 2, interpolation=cv2.INTER_AREA)) for c in chips]
    planes = np.ascontiguousarray(colour_tensor(small).transpose(0, 3, 1, 2))
    return (planes - GENDER_MEAN) / GENDER_RANGE


@dataclass(frozen=True)
class Correction:
    """Which age a reading stands for, and how far off it is."""

    ages_years: tuple[float, ...]
    """Of a sharp face, one for each of READINGS_YEARS. They rise."""
    missing_years: tuple[float, ...]
    """What an adult is read too young for want of sharpness, one for each of DETAILS."""
    spread_years: tuple[float, ...]
    """Standard deviation of an adult's error, one for each of DETAILS."""
    spread_shares: tuple[float, ...]
    """The part of it that holds at each of SPREAD_AGES_YEARS: the younger, the closer."""


CORRECTION = Correction(
    ages_years=(15.0, 25.5, 36.4, 48.7, 62.0, 75.1),
    missing_years=(16.9, 9.3, 3.6, 0.0, 0.0),
    spread_years=(16.1, 11.9, 9.3, 9.3, 8.0),
    spread_shares=(0.17, 0.9, 1.0, 1.0),
)
"""Fitted with `just age-fit` to two sets of labelled faces, which count alike. It also prints the errors of faces that
had no part in the fit."""


def corrected_age(reading_years: float, sharpness: float, correction: Correction = CORRECTION) -> float:
    """Monotonic: a higher reading never gives a lower age."""
    first, last = READINGS_YEARS[0], READINGS_YEARS[-1]
    age = float(np.interp(reading_years, READINGS_YEARS, correction.ages_years))
    age += min(reading_years - first, 0.0) + max(reading_years - last, 0.0)
    age += adulthood(reading_years) * float(np.interp(sharpness, DETAILS, correction.missing_years))
    return min(max(age, 0.0), OLDEST_YEARS)


def adulthood(reading_years: float) -> float:
    """The share of the missing years that applies: blur takes wrinkles away, and the young have none."""
    first, wrinkled = READINGS_YEARS[0], WRINKLED_YEARS
    return min(max((reading_years - first) / (wrinkled - first), 0.0), 1.0)


def age_spread(detail: float, correction: Correction = CORRECTION) -> float:
    """Standard deviation of an adult's error in years: a small, blurred or noisy face shows little."""
    return float(np.interp(detail, DETAILS, correction.spread_years))


def age_confidence(age_years: float, spread_years: float, correction: Correction = CORRECTION) -> float:
    """The probability that the age is right within ten years; calibrated on frontal faces, too high for turned ones."""
    spread = spread_years * float(np.interp(age_years, SPREAD_AGES_YEARS, correction.spread_shares))
    return math.erf(WITHIN_YEARS / (spread * math.sqrt(2)))


@dataclass(frozen=True)
class Reading:
    """What the nets say about one face in one picture."""

    net_years: float
    """Before correction."""
    male_probability: float
    clarity: Clarity

    @property
    def age_years(self) -> float:
        return corrected_age(self.net_years, self.clarity.sharpness)

    @property
    def spread_years(self) -> float:
        return age_spread(self.clarity.detail)


def read_ages(picture: Picture, faces: Sequence[Face]) -> list[tuple[float, float]]:
    """Age and spread of each face; what the age net says about gender is ignored."""
    ages: list[tuple[float, float]] = []
    for batch in in_batches(cut_chips(picture, faces)):
        said = fold_mirrored(network("age").run(with_mirror_images(age_tensor(batch)))["age"])[:, 0]
        ages += [
            (corrected_age(float(years), chip.clarity.sharpness), age_spread(chip.clarity.detail))
            for years, chip in zip(said, batch, strict=True)
        ]
    return ages


def read_genders(picture: Picture, faces: Sequence[Face]) -> list[float]:
    """Probability that each face is male, from the gender net alone; the age net does not run."""
    genders: list[float] = []
    for batch in in_batches(cut_chips(picture, faces)):
        (said,) = network("gender").run(gender_tensor(batch)).values()
        genders += [float(male) for _, male in said]
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
            Reading(float(age), float(male), chip.clarity) for age, male, chip in zip(ages, males, batch, strict=True)
        ]
    return readings


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
