"""Running estimates: they converge, and good views count for more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker_pipeline.expressions import EXPRESSIONS
from onlooker_pipeline.scene.face_attributes import (
    WEIGHT_LIMIT,
    Mood,
    Profile,
    ProfileReading,
    add_expression,
    add_reading,
)

READINGS = st.lists(
    st.tuples(st.floats(1, 80), st.floats(0, 1), st.floats(8, 20), st.floats(0.01, 1)), min_size=1, max_size=30
)


def added(*readings: tuple[float, float, float, float]) -> Profile:
    """Each an age, a probability, a spread and a view."""
    profile = Profile()
    for number, (age, male, spread, view) in enumerate(readings):
        profile = add_reading(profile, ProfileReading(age, spread, male), view=view, at_ms=100 * number)
    return profile


def test_nothing_is_known_before_the_first_reading() -> None:
    assert Profile().age() is None
    assert Profile().gender() is None


@given(readings=READINGS)
def test_estimate_is_the_mean_weighted_by_the_view_and_by_how_clear_the_face_was(
    readings: list[tuple[float, float, float, float]],
) -> None:
    profile = added(*readings)
    weights = [view / spread**2 for _, _, spread, view in readings]
    assert profile.weight < WEIGHT_LIMIT
    for own, column in ((profile.age_years, 0), (profile.male_probability, 1), (profile.spread_years, 2)):
        shares = [weight / sum(weights) for weight in weights]
        assert own == pytest.approx(sum(r[column] * share for r, share in zip(readings, shares, strict=True)))
    assert profile.best_view == max(view for *_, view in readings)
    assert profile.readings == len(readings)


def test_estimate_converges() -> None:
    readings = [(30.0 + (8 if number % 2 else -8), 0.9, 8.0, 0.8) for number in range(40)]
    ages = [added(*readings[:count]).age_years for count in (1, 10, 40)]
    assert abs(ages[2] - 30) <= abs(ages[1] - 30) < abs(ages[0] - 30)


def test_one_bad_view_moves_little() -> None:
    good = [(30.0, 0.1, 8.0, 0.9)] * 10
    profile = added(*good, (70.0, 1.0, 16.0, 0.05))
    assert profile.age_years == pytest.approx(30, abs=0.5)
    told = profile.gender()
    assert told is not None
    assert told[0] == "female"


def test_what_was_read_before_never_weighs_so_much_that_nothing_moves() -> None:
    profile = added(*[(30.0, 0.1, 8.0, 1.0)] * 500, *[(50.0, 0.1, 8.0, 1.0)] * 200)
    assert profile.weight <= WEIGHT_LIMIT
    assert profile.age_years > 45


def test_a_blurred_or_noisy_view_moves_little_and_is_trusted_less() -> None:
    clear, guess = (30.0, 0.1, 8.0, 0.9), (60.0, 0.1, 24.0, 0.9)
    assert added(clear, guess).age_years == pytest.approx(33)
    sure, unsure = added(clear).age(), added(guess).age()
    assert sure is not None
    assert unsure is not None
    assert sure[1] > 0.7
    assert unsure[1] < 0.5


def test_mood_is_the_mean_of_the_last_three() -> None:
    mood = Mood()
    for number in range(10):
        merry = number >= 5
        reading = {name: float(name == ("happiness" if merry else "neutral")) for name in EXPRESSIONS}
        mood = add_expression(mood, reading, view=0.5, at_ms=number)
        assert sum(mood.shares) == pytest.approx(1, abs=0.01)
        if number == 4:
            assert mood.dominant == ("neutral", 1.0)
        if number == 7:
            assert mood.dominant[0] == "happiness"
    assert mood.read_ms == 9
