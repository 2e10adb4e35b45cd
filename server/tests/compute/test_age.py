"""The age that is reported, and how far it is trusted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.compute.vision.age import (
    ADULT_YEARS,
    CHILD_YEARS,
    CORRECTION,
    OLDEST_YEARS,
    SPREAD_SIDES_PX,
    Correction,
    corrected_age,
    estimate_age,
)

READINGS = st.floats(-50, 250)
SIDES = st.floats(0, 5000)


@given(READINGS, READINGS)
def test_age_never_falls_when_the_reading_rises(one: float, other: float) -> None:
    assert corrected_age(min(one, other)) <= corrected_age(max(one, other))


@given(READINGS)
def test_age_has_no_steps(reading: float) -> None:
    steepest = 1 + CORRECTION.offset_years / (ADULT_YEARS - CHILD_YEARS)
    assert corrected_age(reading + 0.1) - corrected_age(reading) <= 0.1 * steepest + 1e-9


@given(READINGS, SIDES)
def test_age_and_confidence_are_in_range(reading: float, side: float) -> None:
    age, confidence = estimate_age(reading, side_px=side)
    assert 0 <= age <= OLDEST_YEARS
    assert 0 < confidence <= 1


@given(st.floats(0, CHILD_YEARS))
def test_children_stay_as_they_are_read(reading: float) -> None:
    assert corrected_age(reading) == reading


@given(st.floats(ADULT_YEARS, OLDEST_YEARS - CORRECTION.offset_years))
def test_adults_are_older_than_they_are_read_by_one_offset(reading: float) -> None:
    assert corrected_age(reading) == pytest.approx(reading + CORRECTION.offset_years)


@given(READINGS, SIDES, SIDES)
def test_larger_faces_are_trusted_no_less(reading: float, one: float, other: float) -> None:
    smaller, larger = sorted((one, other))
    assert estimate_age(reading, side_px=smaller)[1] <= estimate_age(reading, side_px=larger)[1]


def test_small_faces_and_adults_are_trusted_less_than_large_faces_and_children() -> None:
    smallest, largest = SPREAD_SIDES_PX[0], SPREAD_SIDES_PX[-1]
    assert estimate_age(40, side_px=smallest)[1] < estimate_age(40, side_px=largest)[1] - 0.1
    assert estimate_age(5, side_px=largest)[1] > estimate_age(40, side_px=largest)[1] + 0.1


def test_confidence_is_the_share_of_errors_within_ten_years() -> None:
    """Of a normal error with a standard deviation of eight years, that is 79 of 100."""
    eight_years = Correction(CORRECTION.offset_years, (8.0,) * len(SPREAD_SIDES_PX))
    assert estimate_age(40, side_px=SPREAD_SIDES_PX[-1], correction=eight_years)[1] == pytest.approx(0.789, abs=0.001)
