"""doctor's judgement of pictures: light, focus and noise."""

from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from doctor_scenes import blurred, shop, with_noise

from onlooker_client.doctor.findings import Severity
from onlooker_client.doctor.limits import BLURRED_PX, SOFT_PX, farthest_m
from onlooker_client.doctor.picture import (
    judge_focus,
    judge_light,
    judge_noise,
    measure_focus,
    measure_light,
    measure_noise,
)
from onlooker_client.jpeg import JpegEncoder

CLIPS = Path(__file__).resolve().parents[4] / "shared" / "testdata"


def dimmed(share: float) -> object:
    return with_noise(shop() * share, 2.0)


@pytest.mark.parametrize(
    ("picture", "level", "word"),
    [
        (shop(), Severity.GOOD, "of 255"),
        (dimmed(0.22), Severity.WARN, "too dark"),
        (dimmed(0.1), Severity.BAD, "too dark"),
        (with_noise(np.full((480, 640), 3.0), 1.5), Severity.BAD, "black"),
        (np.clip(shop() * 0.3 + 185, 0, 255).astype(np.uint8), Severity.WARN, "too bright"),
        (np.full((480, 640), 254, np.uint8), Severity.BAD, "too bright"),
    ],
)
def test_light_is_judged_by_brightness(picture: object, level: Severity, word: str) -> None:
    finding = judge_light(measure_light([picture]))
    assert (finding.level, word in finding.figure) == (level, True)
    assert bool(finding.remedy) == (level is not Severity.GOOD)


def test_somebody_before_a_window_is_against_the_light() -> None:
    picture = shop() // 4
    picture[:200, 100:600] = 255
    finding = judge_light(measure_light([picture]))
    assert finding.level is Severity.WARN
    assert "backlit" in finding.figure


@pytest.mark.parametrize("light", [1.0, 0.5])
@pytest.mark.parametrize("noise", [0.0, 4.0])
def test_focus_is_the_same_in_little_light_and_with_noise(light: float, noise: float) -> None:
    sharp = with_noise(shop(noise=0.0) * light, noise)
    soft = with_noise(cv2.GaussianBlur(shop(noise=0.0) * light, (0, 0), 3), noise)
    assert measure_focus([sharp]).blur_px < SOFT_PX
    assert measure_focus([soft]).blur_px == pytest.approx(3.0, abs=0.4)


@pytest.mark.parametrize(("sigma_px", "level"), [(0.5, Severity.GOOD), (1.5, Severity.WARN), (4.0, Severity.BAD)])
def test_blur_is_reported_in_pixels(sigma_px: float, level: Severity) -> None:
    finding = judge_focus(measure_focus([blurred(shop(), sigma_px)]), is_dark=False)
    assert finding.level is level
    assert "pixels" in finding.figure


def test_one_person_who_walks_does_not_spoil_the_focus() -> None:
    pictures = [shop() for _ in range(4)] + [blurred(shop(), 4.0)]
    assert judge_focus(measure_focus(pictures), is_dark=False).level is Severity.GOOD


def test_focus_is_not_judged_in_the_dark() -> None:
    finding = judge_focus(measure_focus([shop() // 20]), is_dark=True)
    assert finding.level is Severity.UNCHECKED


@pytest.mark.parametrize("picture", [np.full((480, 640), 120, np.uint8), with_noise(np.full((480, 640), 120.0), 4.0)])
def test_an_empty_wall_has_no_focus(picture: object) -> None:
    finding = judge_focus(measure_focus([picture]), is_dark=False)
    assert (finding.level, finding.figure) == (Severity.WARN, "nothing with an edge is in view")


@pytest.mark.parametrize("sigma", [2.0, 5.0, 10.0])
@pytest.mark.parametrize("light", [1.0, 0.5])
def test_noise_is_measured_in_grey_levels_whatever_is_in_view(sigma: float, light: float) -> None:
    assert measure_noise([with_noise(shop(noise=0.0) * light, sigma)]) == pytest.approx(sigma, rel=0.15)


@pytest.mark.parametrize(("sigma", "level"), [(2.0, Severity.GOOD), (7.0, Severity.WARN), (12.0, Severity.BAD)])
def test_noise_is_judged(sigma: float, level: Severity) -> None:
    finding = judge_noise(measure_noise([shop(noise=sigma)]))
    assert finding.level is level
    assert bool(finding.remedy) == (level is not Severity.GOOD)


@pytest.mark.parametrize("grey", [0, 255])
def test_noise_is_not_judged_where_it_is_cut_off(grey: int) -> None:
    assert judge_noise(measure_noise([np.full((480, 640), grey, np.uint8)])).level is Severity.UNCHECKED


def test_people_may_stand_farther_from_a_narrow_lens_and_a_larger_picture() -> None:
    assert farthest_m(640, 53) == pytest.approx(3.2, abs=0.1)
    assert farthest_m(640, 90) < farthest_m(640, 53) < farthest_m(1280, 53)


def real_pictures() -> Iterator[object]:
    encoder = JpegEncoder()
    for path in sorted([*CLIPS.glob("clips/*.mp4"), *CLIPS.glob("synth/out/*.mp4")]):
        film = cv2.VideoCapture(str(path))
        film.set(cv2.CAP_PROP_POS_FRAMES, film.get(cv2.CAP_PROP_FRAME_COUNT) // 3)
        yield encoder.scaled(film.read()[1])


@pytest.mark.skipif(not CLIPS.exists(), reason="needs the labelled clips in ../shared/testdata")
def test_real_scenes_are_sharp_and_blurred_ones_are_not() -> None:
    pictures = list(real_pictures())
    assert len(pictures) > 10
    assert all(measure_focus([picture]).blur_px < SOFT_PX for picture in pictures)
    assert all(measure_focus([blurred(picture, 2.0)]).blur_px > SOFT_PX for picture in pictures)
    assert all(measure_focus([blurred(picture, 4.0)]).blur_px > BLURRED_PX for picture in pictures)


@pytest.mark.skipif(not CLIPS.exists(), reason="needs the labelled clips in ../shared/testdata")
def test_real_scenes_are_clean_and_their_noise_is_found_whatever_they_show() -> None:
    for picture in real_pictures():
        measured = [measure_noise([noisy]) for noisy in (picture, with_noise(picture, 5.0), with_noise(picture, 10.0))]
        clean, grainy, noisy = (figure or 0.0 for figure in measured)
        assert clean < 2.7
        assert 4.6 < grainy < 5.9
        assert 9.3 < noisy < 10.4
