"""Faces cut out for the age and gender nets, and the estimates with their confidence."""

import cmath
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onlooker_pipeline.vision.age_and_gender import (
    ADULT_YEARS,
    AGE_SIZE,
    CORRECTION,
    DETAILS,
    GENDER_SIZE,
    OLDEST_YEARS,
    PLACES,
    READ_FROM_YEARS,
    READINGS_YEARS,
    WRINKLED_YEARS,
    age_confidence,
    age_spread,
    age_tensor,
    chip_region,
    corrected_age,
    cut_chips,
    estimate_gender,
    gender_tensor,
    male_probabilities,
)
from onlooker_pipeline.vision.crops import fold_mirrored, with_mirror_images
from onlooker_pipeline.vision.faces import Face
from onlooker_pipeline.vision.picture import Picture, as_picture


def face_in(*, x: float, y: float, side: float, tilt: float) -> Face:
    """A face whose five points lie exactly where they belong in that square."""
    points = complex(x, y) + (PLACES - (0.5 + 0.5j)) * side * cmath.exp(1j * tilt)
    return face_with(np.stack([points.real, points.imag], axis=1))


def face_with(points: Any) -> Face:
    return Face(0, 0, 1, 1, 0.9, np.array(points, np.float32))


def slopes(width: int = 640, height: int = 480) -> Picture:
    """Grey that rises to the right and, more slowly, downwards: a crop shows where it was taken."""
    across, down = np.meshgrid(np.linspace(0, 160, width), np.linspace(0, 80, height))
    return np.asarray(across + down, np.uint8)


@given(x=st.floats(0, 640), y=st.floats(0, 480), side=st.floats(10, 600), tilt=st.floats(-1.5, 1.5))
def test_region_finds_the_square_that_the_points_were_placed_in(x: float, y: float, side: float, tilt: float) -> None:
    region = chip_region(face_in(x=x, y=y, side=side, tilt=tilt).points)
    assert (region.x, region.y) == pytest.approx((x, y), abs=0.01)
    assert region.side_px == pytest.approx(side, rel=1e-3)
    assert region.tilt_radians == pytest.approx(tilt, abs=1e-3)


@pytest.mark.parametrize("side", [60, 112, 190, 230, 400])
def test_chip_shows_the_same_place_at_every_size(side: float) -> None:
    """Large faces take another way, through a smaller picture; it must not shift them."""
    (chip,) = cut_chips(slopes(), [face_in(x=320, y=240, side=side, tilt=0)])
    assert chip.clarity.side_px == pytest.approx(side, rel=1e-3)
    middle = chip.pixels[AGE_SIZE // 2 - 1 : AGE_SIZE // 2 + 1].astype(float).mean(axis=0)
    across, down = 160 / 640 * side / AGE_SIZE, 80 / 480 * side / AGE_SIZE
    assert np.polyfit(np.arange(AGE_SIZE), middle, 1)[0] == pytest.approx(across, rel=0.03)
    # The square's middle is where pixel 56 begins, half a pixel beyond the mean of those looked at; grey is whole.
    assert middle.mean() == pytest.approx(120 - 0.5 - (across + down) / 2, abs=0.4)


def test_large_face_is_averaged_not_sampled() -> None:
    chequers = np.indices((480, 480)).sum(axis=0) % 2 * 255
    (chip,) = cut_chips(as_picture(chequers.astype(np.uint8)), [face_in(x=240, y=240, side=300, tilt=0.3)])
    assert np.ptp(chip.pixels) <= 2
    assert chip.pixels.mean() == pytest.approx(127.5, abs=1)


def test_tensors_have_what_the_nets_take() -> None:
    picture = as_picture(cv2.cvtColor(slopes(), cv2.COLOR_GRAY2BGR))
    picture[:, :, 2] = 200
    chips = cut_chips(picture, [face_in(x=300, y=200, side=90, tilt=0.1), face_in(x=350, y=220, side=250, tilt=0)])
    ages, genders = age_tensor(chips), gender_tensor(chips)
    assert ages.dtype == genders.dtype == np.dtype(np.float32)
    assert ages.shape == (2, AGE_SIZE, AGE_SIZE, 3)
    assert genders.shape == (2, 3, GENDER_SIZE, GENDER_SIZE)
    assert ages[:, :, :, 0] == pytest.approx(200)
    assert genders[:, 0] == pytest.approx((200 - 122.782) / 256)
    assert (with_mirror_images(ages) == np.concatenate([ages, ages[:, :, ::-1]])).all()


def test_grey_is_read_like_colour_without_colour() -> None:
    grey, face = slopes(), face_in(x=300, y=200, side=250, tilt=0.1)
    colour = as_picture(cv2.cvtColor(grey, cv2.COLOR_GRAY2BGR))
    for tensor in (age_tensor, gender_tensor):
        assert tensor(cut_chips(grey, [face])) == pytest.approx(tensor(cut_chips(colour, [face])))


def test_mirrored_readings_are_folded_face_by_face() -> None:
    said = np.array([[10.0], [20.0], [30.0], [60.0]], np.float32)
    assert fold_mirrored(said).tolist() == [[20.0], [40.0]]


@settings(max_examples=50)
@given(st.lists(st.tuples(st.floats(-1e4, 1e4), st.floats(-1e4, 1e4)), min_size=5, max_size=5))
def test_senseless_points_still_give_a_chip(points: list[tuple[float, float]]) -> None:
    (chip,) = cut_chips(slopes(64, 48), [face_with(points)])
    assert chip.pixels.shape == (AGE_SIZE, AGE_SIZE)
    assert np.isfinite(chip.clarity.detail)


READINGS = st.floats(-50, 250)
DETAIL = st.floats(0, 500)


@given(READINGS, READINGS, DETAIL)
def test_age_never_falls_when_the_reading_rises(one: float, other: float, sharpness: float) -> None:
    assert corrected_age(min(one, other), sharpness) <= corrected_age(max(one, other), sharpness)


@given(READINGS, DETAIL)
def test_age_has_no_steps(reading: float, sharpness: float) -> None:
    rises = np.diff(CORRECTION.ages_years) / np.diff(READINGS_YEARS)
    steepest = max(rises) + max(CORRECTION.missing_years) / (WRINKLED_YEARS - READINGS_YEARS[0])
    assert corrected_age(reading + 0.1, sharpness) - corrected_age(reading, sharpness) <= 0.1 * steepest + 1e-9


@given(READINGS, DETAIL)
def test_age_and_confidence_are_in_range(reading: float, detail: float) -> None:
    age = corrected_age(reading, detail)
    assert 0 <= age <= OLDEST_YEARS
    assert 0 < age_confidence(age, age_spread(detail)) <= 1


@given(st.floats(0, READINGS_YEARS[0]), DETAIL)
def test_children_stay_as_they_are_read(reading: float, sharpness: float) -> None:
    assert corrected_age(reading, sharpness) == pytest.approx(reading)


@given(st.floats(ADULT_YEARS, OLDEST_YEARS), DETAIL, DETAIL)
def test_an_adult_whose_face_is_blurred_is_older_than_read(reading: float, one: float, other: float) -> None:
    """Blur hides wrinkles."""
    blurred, sharp = sorted((one, other))
    assert corrected_age(reading, blurred) >= corrected_age(reading, sharp)


@given(st.floats(0, OLDEST_YEARS), DETAIL, DETAIL)
def test_clearer_faces_are_trusted_no_less(age: float, one: float, other: float) -> None:
    less, more = sorted((one, other))
    assert age_confidence(age, age_spread(less)) <= age_confidence(age, age_spread(more))


def test_unclear_faces_and_adults_are_trusted_less_than_clear_faces_and_children() -> None:
    unclear, clear = age_spread(DETAILS[0]), age_spread(DETAILS[-1])
    assert age_confidence(40, unclear) < age_confidence(40, clear) - 0.1
    assert age_confidence(5, clear) > age_confidence(40, clear) + 0.1


def test_confidence_is_the_share_of_errors_within_ten_years() -> None:
    """Of a normal error with a standard deviation of eight years, that is 79 of 100."""
    assert age_confidence(60, 8.0) == pytest.approx(0.789, abs=0.001)


PROBABILITIES = st.floats(0, 1)
AGES = st.floats(0, 100)


@given(PROBABILITIES, AGES)
def test_confidence_is_in_range(male: float, age: float) -> None:
    gender, confidence = estimate_gender(male, age_years=age)
    assert gender == ("male" if male > 0.5 else "female")
    assert 0 <= confidence <= 1


@given(PROBABILITIES, st.floats(READ_FROM_YEARS, 100))
def test_confidence_in_an_adult_is_what_the_nets_say(male: float, age: float) -> None:
    _, confidence = estimate_gender(male, age_years=age)
    assert (1 + confidence) / 2 == pytest.approx(max(male, 1 - male))


@given(PROBABILITIES, st.floats(0, 12.9))
def test_a_child_is_never_trusted(male: float, age: float) -> None:
    assert estimate_gender(male, age_years=age)[1] < 0.3


@given(PROBABILITIES, AGES)
def test_confidence_does_not_flip_with_a_little_age(male: float, age: float) -> None:
    _, before = estimate_gender(male, age_years=age)
    _, after = estimate_gender(male, age_years=age + 0.1)
    assert 0 <= after - before < 0.03


def test_both_nets_count_alike() -> None:
    age_net = np.array([[0.9, 0.1], [0.2, 0.8]], np.float32)
    gender_net = np.array([[0.5, 0.5], [1.0, 0.0]], np.float32)
    assert male_probabilities(age_net, gender_net) == pytest.approx([0.7, 0.1])
