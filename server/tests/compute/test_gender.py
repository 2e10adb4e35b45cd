"""The gender that is reported, and how far it is trusted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.compute.vision.gender import READ_FROM_YEARS, estimate_gender, male_probabilities

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
