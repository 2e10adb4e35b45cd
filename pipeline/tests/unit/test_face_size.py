"""Sizes of faces in bins whose counts can be added."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker_pipeline.face_size import FACE_BINS, bin_of, median_px, middle_px

PRECISION = 1.13


@pytest.mark.parametrize(("size_px", "number"), [(0, 0), (9.9, 0), (20, 3), (39.99, 5), (40, 6), (80, 9), (5000, 15)])
def test_a_size_has_its_bin(size_px: float, number: int) -> None:
    assert bin_of(size_px) == number


@given(st.lists(st.floats(10, 319), min_size=1, max_size=50))
def test_a_median_is_right_within_the_width_of_a_bin(sizes_px: list[float]) -> None:
    counts = [0] * FACE_BINS
    for size_px in sizes_px:
        counts[bin_of(size_px)] += 1
    median = median_px(counts)
    exact = sorted(sizes_px)[(len(sizes_px) - 1) // 2]
    assert median is not None
    assert exact / PRECISION <= median <= exact * PRECISION


def test_rules_can_ask_for_40_pixels_exactly() -> None:
    assert middle_px(bin_of(39.999)) < 40 < middle_px(bin_of(40))


def test_without_faces_there_is_no_median() -> None:
    assert median_px([0] * FACE_BINS) is None
