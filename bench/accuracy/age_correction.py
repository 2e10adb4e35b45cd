"""Fits which age a reading stands for, and how far it is trusted, to labelled faces of several sets."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from onlooker_pipeline.vision.age_and_gender import (
    DETAILS,
    READINGS_YEARS,
    SPREAD_AGES_YEARS,
    WITHIN_YEARS,
    Correction,
    adulthood,
    age_confidence,
    age_spread,
    corrected_age,
)

Numbers = NDArray[np.float64]
DECADES = tuple(range(0, 80, 10))
"""The last one holds all who are older."""
CLEAR = ("good", "near")
"""Conditions that hide nothing."""
NOISY = ("noisy", "small_noisy")
"""Conditions that tell nothing of what sharpness does."""
FEWEST = 5
"""A cell of so many faces counts half."""
SINGLE = 0.4
"""How much single errors count beside the means of cells."""
STEADY = 1.0
"""How much a bend counts: it should be there in both sets, not in a handful of faces."""
LARGEST = 2000.0
"""How much gaps between stated and right count, the largest most, beside how well ages are told apart by confidence."""
ROUNDS = 6
STEPS = tuple(np.linspace(-0.3, 0.3, 13))
"""Of the logarithm, in the search for spreads."""


@dataclass(frozen=True)
class LabelledReading:
    """A face of a set in some condition, and what the age net says of it."""

    set_name: str
    person: str
    condition: str
    label_years: float
    net_years: float
    sharpness: float
    detail: float

    @property
    def decade(self) -> int:
        return min(int(self.label_years // 10), len(DECADES) - 1)


@dataclass(frozen=True)
class JudgedReading:
    """The same with an age and a confidence by some correction."""

    labelled: LabelledReading
    age: float
    confidence: float

    @property
    def error(self) -> float:
        return self.age - self.labelled.label_years

    @property
    def is_within(self) -> bool:
        return abs(self.error) <= WITHIN_YEARS


def judge(readings: Sequence[LabelledReading], correction: Correction) -> list[JudgedReading]:
    judged = []
    for reading in readings:
        age = corrected_age(reading.net_years, reading.sharpness, correction)
        judged.append(
            JudgedReading(reading, age, age_confidence(age, age_spread(reading.detail, correction), correction))
        )
    return judged


def fit(readings: Sequence[LabelledReading]) -> Correction:
    """Ages of clear faces; then what faces that are not sharp lack; then spreads that make the confidence true."""
    nothing = Correction(READINGS_YEARS, (0.0,) * len(DETAILS), (8.0,) * len(DETAILS), (1.0,) * len(SPREAD_AGES_YEARS))
    clear = [r for r in readings if r.condition in CLEAR]
    added = _least_squares(clear, nothing, lambda r: _hats(r.net_years, READINGS_YEARS)[1:])
    ages = np.maximum.accumulate(np.add(READINGS_YEARS, [0.0, *added]))
    correction = replace(nothing, ages_years=_rounded(ages))
    clean = [r for r in readings if r.condition not in NOISY]
    lacking = _least_squares(clean, correction, lambda r: _hats(r.sharpness, DETAILS)[:-1] * adulthood(r.net_years))
    missing = np.maximum.accumulate([0.0, *lacking[::-1]])[::-1]
    return _fit_spreads(readings, replace(correction, missing_years=_rounded(missing)))


def _least_squares(
    readings: Sequence[LabelledReading], so_far: Correction, terms_of: Callable[[LabelledReading], Numbers]
) -> Numbers:
    """What to add to the ages so far: with the least mean errors of cells, and less so single errors.

    A cell is a set, a decade and a condition, and cells count alike. With single errors alone the old would be
    estimated too young and the young too old: that is what makes them small where readings are vague.
    """
    cells: dict[tuple[str, int, str], list[JudgedReading]] = {}
    for one in judge(readings, so_far):
        cells.setdefault((one.labelled.set_name, one.labelled.decade, one.labelled.condition), []).append(one)
    rows, wanted = [], []
    for members in cells.values():
        weight = 1 / math.sqrt(1 + FEWEST / len(members))
        each = weight * SINGLE / math.sqrt(len(members))
        terms = np.array([terms_of(one.labelled) for one in members])
        missing = np.array([-one.error for one in members])
        rows += [weight * terms.mean(axis=0), *(each * terms)]
        wanted += [weight * missing.mean(), *(each * missing)]
    for bend in np.diff(np.eye(len(rows[0])), n=2, axis=0):
        rows.append(STEADY * bend)
        wanted.append(0.0)
    return np.asarray(np.linalg.lstsq(np.array(rows), np.array(wanted), rcond=None)[0])


def _hats(at: float, knots: Sequence[float]) -> Numbers:
    """The share of each knot in a value that is interpolated between them."""
    return np.array([np.interp(at, knots, row) for row in np.eye(len(knots))])


def _fit_spreads(readings: Sequence[LabelledReading], correction: Correction) -> Correction:
    """A search, knot by knot, for the spreads with which every set states what it keeps, in every condition."""
    judged = judge(readings, correction)
    ages, within = np.array([j.age for j in judged]), np.array([j.is_within for j in judged])
    details = np.array([j.labelled.detail for j in judged])
    cells = [np.array(members) for members in _by_condition(judged)]

    def loss(spreads: Numbers, shares: Numbers) -> float:
        spread = np.interp(details, DETAILS, spreads) * np.interp(ages, SPREAD_AGES_YEARS, shares)
        likely = np.array([math.erf(WITHIN_YEARS / (s * math.sqrt(2))) for s in spread])
        gaps = [likely[members].mean() - within[members].mean() for members in cells]
        vague = [np.square(likely[members] - within[members]).mean() for members in cells]
        return float(LARGEST * np.power(gaps, 4).sum() + np.sum(vague))

    both = np.array([*correction.spread_years, *correction.spread_shares])
    knots = len(DETAILS)
    for _ in range(ROUNDS):
        for place in range(len(both) - 1):
            candidates = [_ordered(_scaled(both, place, step), knots) for step in STEPS]
            both = min(candidates, key=lambda one: loss(one[:knots], one[knots:]))
    return replace(correction, spread_years=_rounded(both[:knots]), spread_shares=_rounded(both[knots:], 2))


def _by_condition(judged: Sequence[JudgedReading]) -> list[list[int]]:
    """Places of the readings of each set and condition."""
    cells: dict[tuple[str, str], list[int]] = {}
    for place, one in enumerate(judged):
        cells.setdefault((one.labelled.set_name, one.labelled.condition), []).append(place)
    return list(cells.values())


def _scaled(values: Numbers, index: int, step: float) -> Numbers:
    changed = values.copy()
    changed[index] *= math.exp(step)
    return changed


def _ordered(values: Numbers, knots: int) -> Numbers:
    """Less detail is never read better, and older people are not either: spreads fall, and shares rise up to 1."""
    spreads, shares = values[:knots], values[knots:]
    return np.concatenate([np.maximum.accumulate(spreads[::-1])[::-1], np.minimum(np.maximum.accumulate(shares), 1.0)])


def _rounded(values: Numbers | Sequence[float], digits: int = 1) -> tuple[float, ...]:
    return tuple(round(float(value), digits) for value in values)
