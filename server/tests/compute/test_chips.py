"""Faces cut out for the age and gender nets."""

import cmath
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onlooker.compute.vision.chips import (
    AGE_SIZE,
    GENDER_SIZE,
    PLACES,
    age_tensor,
    chip_region,
    cut_chips,
    gender_tensor,
)
from onlooker.compute.vision.decoding import Picture, as_picture
from onlooker.compute.vision.faces import Face
from onlooker.compute.vision.mirrors import fold_mirrored, with_mirror_images


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
    assert chip.side_px == pytest.approx(side, rel=1e-3)
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
    assert np.isfinite(chip.side_px)
