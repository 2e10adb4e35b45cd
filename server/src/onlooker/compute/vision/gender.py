"""From what two nets say about gender to one word, and how far to trust it."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from onlooker.compute.vision.networks import Tensor

Gender = Literal["female", "male"]

GUESSED_UP_TO_YEARS, READ_FROM_YEARS = 11.0, 17.0
"""A child's face does not show it: between these ages the confidence grows from nothing to all."""


def male_probabilities(age_net: Tensor, gender_net: Tensor) -> NDArray[np.float32]:
    """The mean of both nets for each face, from [n, (male, female)] and [n, (female, male)].

    They err to opposite sides, the one on small women and the other on turned men, so the mean errs less than either.
    """
    return np.asarray((age_net[:, 0] + gender_net[:, 1]) / 2, np.float32)


def estimate_gender(male_probability: float, *, age_years: float) -> tuple[Gender, float]:
    """The likelier gender, and a confidence from 0, a coin toss, to 1, certain.

    For an adult (1 + confidence) / 2 is the nets' probability of the gender that is named. A face that looks younger
    than about 13 gets a confidence near 0, whatever the nets say.
    """
    certainty = abs(2 * male_probability - 1)
    return "male" if male_probability > 0.5 else "female", certainty * _legibility(age_years)


def _legibility(age_years: float) -> float:
    """Smooth, so that a face at the limit does not flicker."""
    grown = (age_years - GUESSED_UP_TO_YEARS) / (READ_FROM_YEARS - GUESSED_UP_TO_YEARS)
    grown = min(max(grown, 0.0), 1.0)
    return grown * grown * (3 - 2 * grown)
