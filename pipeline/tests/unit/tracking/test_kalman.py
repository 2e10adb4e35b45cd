"""The filter of one axis, against the same filter written with matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker_pipeline.tracking.kalman import Axis, begin, correct, predict

PLACES = st.floats(-2000, 2000)
SPREADS = st.floats(0.5, 200)
TIMES = st.floats(0.01, 1.0)
Step = tuple[float, float | None]
"""Seconds that pass, and where it is then seen, if it is."""
STEPS = st.lists(st.tuples(TIMES, st.none() | PLACES), min_size=1, max_size=12)


def matrices(axis: Axis) -> tuple[np.ndarray, np.ndarray]:
    covariance = [[axis.place_variance, axis.covariance], [axis.covariance, axis.velocity_variance]]
    return np.array([axis.place, axis.velocity]), np.array(covariance)


def by_matrices(axis: Axis, steps: list[Step], *, acceleration: float, spread: float) -> tuple[np.ndarray, np.ndarray]:
    """The textbook: x = Fx, P = FPF' + Q; K = PH'/(HPH' + R), x += K(z - Hx), P = (I - KH)P."""
    state, covariance = matrices(axis)
    seen = np.array([[1.0, 0.0]])
    for elapsed_s, place in steps:
        move = np.array([[1.0, elapsed_s], [0.0, 1.0]])
        push = np.array([[elapsed_s**2 / 2], [elapsed_s]]) * acceleration
        state, covariance = move @ state, move @ covariance @ move.T + push @ push.T
        if place is not None:
            gain = covariance @ seen.T / (seen @ covariance @ seen.T + spread**2)
            state = state + (gain * (place - seen @ state)).ravel()
            covariance = (np.eye(2) - gain @ seen) @ covariance
    return state, covariance


@given(place=PLACES, spread=SPREADS, speed_spread=SPREADS, acceleration=SPREADS, steps=STEPS)
def test_axis_is_the_filter_of_the_textbook(
    place: float, spread: float, speed_spread: float, acceleration: float, steps: list[Step]
) -> None:
    first = begin(place, spread=spread, speed_spread=speed_spread)
    axis = first
    for elapsed_s, seen_at in steps:
        axis = predict(axis, elapsed_s, acceleration=acceleration)
        if seen_at is not None:
            axis = correct(axis, seen_at, spread=spread)
    state, covariance = matrices(axis)
    expected, expected_covariance = by_matrices(first, steps, acceleration=acceleration, spread=spread)
    assert state == pytest.approx(expected, rel=1e-6, abs=1e-5)
    assert covariance.ravel() == pytest.approx(expected_covariance.ravel(), rel=1e-6, abs=1e-5)


@given(place=PLACES, spread=SPREADS, acceleration=SPREADS, steps=STEPS)
def test_covariance_stays_one(place: float, spread: float, acceleration: float, steps: list[Step]) -> None:
    axis = begin(place, spread=spread, speed_spread=spread)
    for elapsed_s, seen_at in steps:
        axis = predict(axis, elapsed_s, acceleration=acceleration)
        axis = axis if seen_at is None else correct(axis, seen_at, spread=spread)
        assert axis.place_variance > 0
        assert axis.velocity_variance > 0
        product = axis.place_variance * axis.velocity_variance
        assert axis.covariance**2 <= product * (1 + 1e-6)


def test_steady_walk_is_learned() -> None:
    axis = begin(100.0, spread=5.0, speed_spread=200.0)
    for number in range(1, 11):
        axis = correct(predict(axis, 0.1, acceleration=30.0), 100.0 + 12.0 * number, spread=5.0)
    assert axis.velocity == pytest.approx(120.0, rel=0.05)
    assert predict(axis, 0.5, acceleration=30.0).place == pytest.approx(280.0, abs=5)
