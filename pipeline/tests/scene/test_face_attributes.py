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
from onlooker_pipeline.vision.age_and_gender import corrected_age

READINGS = st.lists(
    st.tuples(st.floats(1, 80), st.floats(0, 1), st.floats(20, 200), st.floats(0.01, 1)), min_size=1, max_size=40
)


def added(*readings: tuple[float, float, float, float]) -> Profile:
    """Each an age, a probability, a size and a view."""
    profile = Profile()
    for number, (age, male, side_px, view) in enumerate(readings):
        profile = add_reading(profile, ProfileReading(side_px, age, male), view=view, at_ms=100 * number)
    return profile


def test_nothing_is_known_before_the_first_reading() -> None:
    assert Profile().age() is None
    assert Profile().gender() is None


@given(readings=READINGS)
def test_estimate_is_the_mean_weighted_by_the_view(
    readings: list[tuple[float, float, float, float]],
) -> None:
    profile = added(*readings)
    total = sum(view for *_, view in readings)
    assert total < WEIGHT_LIMIT
    for own, column in ((profile.age_years, 0), (profile.male_probability, 1), (profile.side_px, 2)):
        assert own == pytest.approx(sum(reading[column] * reading[3] for reading in readings) / total)
    assert profile.best_view == max(view for *_, view in readings)
    assert profile.readings == len(readings)


def test_estimate_converges() -> None:
    readings = [(30.0 + (8 if number % 2 else -8), 0.9, 80.0, 0.8) for number in range(40)]
    ages = [added(*readings[:count]).age_years for count in (1, 10, 40)]
    assert abs(ages[2] - 30) <= abs(ages[1] - 30) < abs(ages[0] - 30)


def test_one_bad_view_moves_little() -> None:
    good = [(30.0, 0.1, 80.0, 0.9)] * 10
    profile = added(*good, (70.0, 1.0, 20.0, 0.05))
    assert profile.age_years == pytest.approx(30, abs=0.5)
    told = profile.gender()
    assert told is not None
    assert told[0] == "female"


def test_what_was_read_before_never_weighs_so_much_that_nothing_moves() -> None:
    profile = added(*[(30.0, 0.1, 80.0, 1.0)] * 500, *[(50.0, 0.1, 80.0, 1.0)] * 200)
    assert profile.weight <= WEIGHT_LIMIT
    assert profile.age_years > 45


def test_age_is_corrected_once() -> None:
    age = added(*[(40.0, 0.1, 80.0, 0.9)] * 5).age()
    assert age is not None
    assert age[0] == pytest.approx(corrected_age(40.0))
    assert 0 < age[1] < 1


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
