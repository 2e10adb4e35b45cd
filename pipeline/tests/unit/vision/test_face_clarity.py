"""How clearly a picture shows a face: blur and noise are told apart, and from one another."""

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker_pipeline.vision.crops import Region
from onlooker_pipeline.vision.face_clarity import NOISY_TO, Clarity, measure_clarity, smoothed
from onlooker_pipeline.vision.picture import Picture, as_picture

SIDE = 100
REGION = Region(100, 100, SIDE, 0.0)


def drawing(*, blur_px: float = 0.7, noise: float = 0.0) -> Picture:
    """Something like a face: dark marks of some size on skin that is nearly even."""
    picture = np.full((200, 200), 150, np.float32)
    for x, y, width, height in ((80, 85, 9, 4), (120, 85, 9, 4), (100, 103, 5, 8), (100, 122, 16, 4)):
        cv2.ellipse(picture, (x, y), (width, height), 0, 0, 360, 60, cv2.FILLED)
    picture = cv2.GaussianBlur(picture, (0, 0), blur_px)
    return as_picture(
        np.clip(picture + np.random.default_rng(1).normal(0, noise, picture.shape), 0, 255).astype(np.uint8)
    )


@pytest.mark.parametrize("blur_px", [0.8, 1.2, 2.0])
@pytest.mark.parametrize("noise", [0.0, 5.0])
def test_blur_is_measured_in_pixels_of_the_picture(blur_px: float, noise: float) -> None:
    measured = measure_clarity(drawing(blur_px=blur_px, noise=noise), REGION)
    assert measured.blur_px == pytest.approx(blur_px, abs=0.35)


@pytest.mark.parametrize("noise", [3.0, 6.0, 10.0])
def test_noise_is_measured_in_grey_levels(noise: float) -> None:
    assert measure_clarity(drawing(noise=noise), REGION).noise == pytest.approx(noise, rel=0.2)


def test_a_clean_face_has_no_noise_and_is_not_smoothed() -> None:
    picture = drawing()
    clarity = measure_clarity(picture, REGION)
    assert clarity.noise == 0
    assert clarity.detail == clarity.sharpness
    assert smoothed(picture, clarity, 200) is picture


def test_noise_is_smoothed_away() -> None:
    picture = drawing(noise=8.0)
    clarity = measure_clarity(picture, REGION)
    assert clarity.noisiness == 1
    assert measure_clarity(smoothed(picture, clarity, 200), REGION).noise < clarity.noise / 2


@given(st.floats(10, 500), st.floats(0.4, 8), st.floats(0, 30), st.floats(0, 30))
def test_more_blur_and_more_noise_leave_less_detail(side: float, blur: float, one: float, other: float) -> None:
    clean, noisy = sorted((one, other))
    assert Clarity(side, blur, noisy).detail <= Clarity(side, blur, clean).detail
    assert Clarity(side, blur + 0.5, clean).detail < Clarity(side, blur, clean).detail
    assert 0 < Clarity(side, blur, NOISY_TO).detail < Clarity(side, blur, 0).detail


@pytest.mark.parametrize("side_px", [0.5, 3, 16, 40, 112, 300])
@pytest.mark.parametrize("grey", [0, 128, 255])
def test_a_blank_picture_has_a_clarity(side_px: float, grey: int) -> None:
    blank = np.full((60, 60), grey, np.uint8)
    assert np.isfinite(measure_clarity(blank, Region(30, 30, side_px, 0.3)).detail)
