"""From what the age net says to an age, and how far to trust it."""

import math
from dataclasses import dataclass

import numpy as np

OLDEST_YEARS = 100.0
CHILD_YEARS, ADULT_YEARS = 12.0, 18.0
"""As the net reads them. Children are read right and stay as they are; in between the offset grows evenly."""
WITHIN_YEARS = 10.0
"""What a right age means to the confidence."""
SPREAD_SIDES_PX = (28.0, 40.0, 56.0, 80.0, 112.0)


@dataclass(frozen=True)
class Correction:
    """How much too young the net reads adults, and how widely it errs even so."""

    offset_years: float
    spread_years: tuple[float, ...]
    """Standard deviation of an adult's error, by the side of the chip in the picture: one for each SPREAD_SIDES_PX."""


CORRECTION = Correction(offset_years=5.9, spread_years=(11.7, 9.1, 9.0, 8.2, 7.7))
"""Fitted with `python -m bench.accuracy.age_fit` to official portraits of 151 people of 29 to 83 years.

It also prints how people fare who had no part in the fit. One offset does as well there as a line or a free curve. No
labelled face of 10 to 20 years was at hand: that the offset begins at 12 and is whole at 18 is an assumption.
"""

PUBLISHED_AGES_YEARS = (1.5, 6.0, 13.5, 23.5)
PUBLISHED_ERRORS_YEARS = (1.52, 3.06, 4.82, 4.99)
"""The net's mean error by age as its authors tested it; only how much better it is with children is taken from it."""


def estimate_age(reading_years: float, *, side_px: float, correction: Correction = CORRECTION) -> tuple[float, float]:
    """The age, and the probability that it is right within ten years.

    The reading is what the net says, `side_px` the side of its chip in pixels of the picture: of a small face the net
    sees little, and the confidence says so. It is calibrated on frontal faces; a turned head is read worse.
    """
    age = corrected_age(reading_years, correction)
    spread = float(np.interp(side_px, SPREAD_SIDES_PX, correction.spread_years)) * _share_of_spread(age)
    return age, math.erf(WITHIN_YEARS / (spread * math.sqrt(2)))


def corrected_age(reading_years: float, correction: Correction = CORRECTION) -> float:
    """Never falls when the reading rises."""
    age = reading_years + correction.offset_years * adulthood(reading_years)
    return min(max(age, 0.0), OLDEST_YEARS)


def adulthood(reading_years: float) -> float:
    """Which share of the offset applies."""
    return min(max((reading_years - CHILD_YEARS) / (ADULT_YEARS - CHILD_YEARS), 0.0), 1.0)


def _share_of_spread(age_years: float) -> float:
    """How wide the error is beside an adult's."""
    error = np.interp(age_years, PUBLISHED_AGES_YEARS, PUBLISHED_ERRORS_YEARS)
    return float(error) / PUBLISHED_ERRORS_YEARS[-1]
