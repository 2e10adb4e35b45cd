"""The fit of ages and the map, on readings and pictures that are made up."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from bench.accuracy.age_correction import CLEAR, LabelledReading, fit, judge
from bench.accuracy.age_scores import bias_by_decade, summarise
from bench.accuracy.condition_axes import AXES, NEAR_PX
from bench.lib.degradation import GOOD, Condition, degrade
from bench.lib.portraits import Portrait, sample_evenly
from onlooker_pipeline.vision.age_and_gender import DETAILS, READINGS_YEARS

PICTURE = np.tile(np.repeat(np.array([60, 190], np.uint8), 20), (160, 4))


def made_up_readings(*, blur_years: float = 4.0, noise: float = 5.0) -> list[LabelledReading]:
    """A net that reads adults too young by a tenth of their age, and by a few years more where the face is blurred."""
    dice = np.random.default_rng(3)
    readings = []
    for number in range(900):
        label = float(dice.uniform(1, 80))
        for condition, sharpness, missing in ((CLEAR[0], 90.0, 0.0), ("blurred", 40.0, blur_years)):
            grown = min(max((label - 15) / 10, 0.0), 1.0)
            years = label - grown * (0.1 * (label - 15) + missing) + grown * dice.normal(0, noise)
            name = ("portraits", "utkface")[number % 2]
            readings.append(LabelledReading(name, str(number), condition, label, years, sharpness, sharpness))
    return readings


def test_a_fit_undoes_what_a_net_does() -> None:
    readings = made_up_readings()
    correction = fit(readings)
    judged = judge(readings, correction)
    assert list(correction.ages_years) == sorted(correction.ages_years)
    assert correction.ages_years[0] == READINGS_YEARS[0]
    assert all(abs(bias) < 2.5 for bias in bias_by_decade(judged).values())
    assert summarise(judged)["mean_absolute_error"] < 6


def test_a_fit_states_what_it_keeps() -> None:
    readings = made_up_readings(noise=9.0)
    for condition in (CLEAR[0], "blurred"):
        own = [j for j in judge(readings, fit(readings)) if j.labelled.condition == condition]
        stated, right = np.mean([j.confidence for j in own]), np.mean([j.is_within for j in own])
        assert stated == pytest.approx(right, abs=0.05)


def test_less_detail_never_has_a_smaller_spread() -> None:
    spreads = fit(made_up_readings()).spread_years
    assert len(spreads) == len(DETAILS)
    assert list(spreads) == sorted(spreads, reverse=True)


def test_a_sample_is_even_over_decades_genders_and_groups() -> None:
    many = [Portrait(f"{age} {n}", Path(), age, "male", "Asian") for age in (25.0, 35.0) for n in range(90)]
    few = [Portrait(f"few {n}", Path(), 25.0, "female", "Black") for n in range(10)]
    chosen = sample_evenly([*many, *few], 30, seed=1)
    assert len({portrait.name for portrait in chosen}) == 30
    assert sum(portrait.gender == "female" for portrait in chosen) == 10
    assert chosen == sample_evenly([*many, *few], 30, seed=1)


@pytest.mark.parametrize(
    "condition",
    [
        Condition(blur_px=2),
        Condition(motion_px=6),
        Condition(noise=10),
        Condition(light=0.2),
        Condition(back_light=0.8),
    ],
)
def test_every_condition_changes_the_picture_and_a_good_one_does_not(condition: Condition) -> None:
    dice = np.random.default_rng(1)
    good, worse = (
        cv2.imdecode(np.frombuffer(degrade(PICTURE, one, dice), np.uint8), cv2.IMREAD_GRAYSCALE).astype(float)
        for one in (GOOD, condition)
    )
    assert np.abs(good - PICTURE).mean() < 3
    assert np.abs(worse - PICTURE).mean() > 4


def test_every_axis_goes_through_its_steps_at_the_size_that_is_asked_for() -> None:
    for axis in AXES:
        conditions = axis.conditions(NEAR_PX, quick=False)
        assert [getattr(condition, axis.name) for condition in conditions] == list(axis.steps)
        if axis.name != "face_px":
            assert {condition.face_px for condition in conditions} == {NEAR_PX}
