"""How right some ages are: their errors, by decade, their bands, and how many are unknown."""

from collections.abc import Sequence

import numpy as np

from bench.accuracy.age_correction import JudgedReading
from onlooker.metrics.definitions import AGE_BANDS, AGE_KNOWN_ABOVE

CALIBRATED = ("near", "good", "small", "blurred", "noisy")
"""Conditions in which the confidence must be true."""
JUDGED_DECADES = range(20, 70, 10)
YOUNG_BAND = "15-24"
FEWEST = 8
"""Faces in a decade for which a bias is told."""


def band_of(years: float) -> str:
    return [name for name, first in AGE_BANDS.items() if years >= first][-1]


def summarise(judged: Sequence[JudgedReading]) -> dict[str, float]:
    """The band is that of people whose age is known."""
    errors = np.array([j.error for j in judged])
    known = [j for j in judged if j.confidence > AGE_KNOWN_ABOVE]
    young = [j for j in known if band_of(j.labelled.label_years) == YOUNG_BAND]
    biases = bias_by_decade(judged)
    return {
        "mean_absolute_error": float(np.abs(errors).mean()),
        "bias": float(errors.mean()),
        "worst_bias": max((abs(biases[decade]) for decade in JUDGED_DECADES if decade in biases), default=0.0),
        "right_band": _share_in_band(known),
        "right_young_band": _share_in_band(young),
        "unknown": 1 - len(known) / len(judged),
    }


def _share_in_band(judged: Sequence[JudgedReading]) -> float:
    """Not a number for nobody."""
    right = [band_of(j.age) == band_of(j.labelled.label_years) for j in judged]
    return float(np.mean(right)) if right else float("nan")


def bias_by_decade(judged: Sequence[JudgedReading]) -> dict[int, float]:
    errors: dict[int, list[float]] = {}
    for one in judged:
        errors.setdefault(int(one.labelled.label_years // 10 * 10), []).append(one.error)
    return {decade: float(np.mean(found)) for decade, found in sorted(errors.items()) if len(found) >= FEWEST}
