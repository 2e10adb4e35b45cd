"""The probes are the same everywhere, and a comparison finds what differs."""

import numpy as np
import pytest

from building.parity import STORED_VALUES, TOLERANCE, Parity, describe_output, difference_ratio
from building.probes import PROBES, Probe, _scatter
from running import random_floats

SPLITMIX64_FROM_ZERO = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_the_noise_is_splitmix64() -> None:
    assert _scatter(3, 0).tolist() == [number >> 40 for number in SPLITMIX64_FROM_ZERO]


@pytest.mark.parametrize("probe", PROBES.values(), ids=PROBES)
def test_a_probe_has_its_shape_and_spreads_over_its_range(probe: Probe) -> None:
    picture = probe.make()
    assert picture.shape == probe.shape
    assert picture.dtype == np.float32
    assert probe.low <= picture.min()
    assert picture.max() <= probe.high
    assert picture.std() > 0.1 * (probe.high - probe.low)
    assert not np.array_equal(picture, probe.make(seed=2))


def test_a_description_finds_itself_equal() -> None:
    described = describe_output(random_floats(1, 300))
    assert difference_ratio(described, described) == 0
    assert len(described["values"]) == STORED_VALUES


@pytest.mark.parametrize("place", [0, 299])
def test_one_moved_value_is_found(place: int) -> None:
    output = random_floats(1, 300)
    moved = output.copy()
    moved[0, place] += 0.01 * np.ptp(output)
    ratio = difference_ratio(describe_output(moved), describe_output(output))
    assert ratio == pytest.approx(0.01, rel=1e-3)
    assert not Parity(ratio).holds


def test_a_difference_in_values_that_are_not_stored_shows_in_the_mean() -> None:
    output = random_floats(1, 6400)
    moved = output * np.float32(1.001)
    described = {**describe_output(moved), "values": describe_output(output)["values"]}
    assert difference_ratio(described, describe_output(output)) > TOLERANCE


def test_another_shape_is_never_equal() -> None:
    output = random_floats(1, 8)
    assert difference_ratio(describe_output(output[0]), describe_output(output)) == float("inf")
