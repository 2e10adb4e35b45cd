"""What is usual for some hours of a weekday."""

import math
import random
from datetime import date, timedelta

import pytest

from onlooker.metrics.usual_range import DAY_REACH, Counts, find_unusual, find_usual_range, gamma_quantile

MONDAY = date(2026, 3, 2)


def weeks_of(people: int, *, weeks: int = 8, seed: int = 1, weekdays: int = 7) -> dict[date, int]:
    """Days before MONDAY that scatter by a tenth."""
    draw = random.Random(seed)
    days = [MONDAY - timedelta(days=number) for number in range(1, 7 * weeks + 1)]
    return {day: round(people * draw.gauss(1, 0.1)) for day in days if day.weekday() < weekdays}


def lower_gamma(shape: float, value: float) -> float:
    """The regularised incomplete gamma function, by its series."""
    term = total = 1 / shape
    for step in range(1, 5000):
        term *= value / (shape + step)
        total += term
    return total * math.exp(-value + shape * math.log(value) - math.lgamma(shape))


@pytest.mark.parametrize("variance", [0.01, 0.05, 0.1])
@pytest.mark.parametrize("reach", [-3.7, -2.0, 0.5, 2.0, 3.7])
def test_quantiles_are_those_of_a_gamma_distribution(variance: float, reach: float) -> None:
    below = lower_gamma(1 / variance, gamma_quantile(variance, reach) / variance)
    normal = math.erfc(-reach / math.sqrt(2)) / 2
    tail, expected = (below, normal) if reach < 0 else (1 - below, 1 - normal)
    assert tail == pytest.approx(expected, rel=0.3)


def test_the_middle_is_the_median_of_the_weekday() -> None:
    usual = find_usual_range(weeks_of(500), MONDAY, DAY_REACH)
    assert usual
    assert usual.usual == pytest.approx(500, rel=0.1)
    assert usual.low < 500 * 2 / 3 + 40
    assert usual.high > 700


def test_a_wrong_week_moves_nothing_much() -> None:
    counts = weeks_of(500)
    usual = find_usual_range(counts, MONDAY, DAY_REACH)
    broken = {day: 0 if day > MONDAY - timedelta(days=36) and day < MONDAY - timedelta(days=28) else count
              for day, count in counts.items()}  # fmt: skip
    without = find_usual_range(broken, MONDAY, DAY_REACH)
    assert usual
    assert without
    assert without.usual == pytest.approx(usual.usual, rel=0.1)
    assert without.low > usual.low * 0.6


def test_the_last_two_weeks_correct_the_middle() -> None:
    counts = {
        day: round(count * (1.3 if day >= MONDAY - timedelta(days=14) else 1)) for day, count in weeks_of(500).items()
    }
    usual = find_usual_range(counts, MONDAY, DAY_REACH)
    assert usual
    assert usual.usual == pytest.approx(650, rel=0.1)


@pytest.mark.parametrize(
    "counts",
    [{}, weeks_of(500, weeks=5), weeks_of(20), weeks_of(500, weekdays=2)],
    ids=["nothing", "five weeks", "few people", "two days a week"],
)
def test_too_little_is_known(counts: dict[date, int]) -> None:
    assert find_usual_range(counts, MONDAY, DAY_REACH) is None


def hourly(people: int, hours: range, day: date = MONDAY) -> dict[date, dict[int, Counts]]:
    """Past days, each hour with so many people, a tenth of them interested; and the judged day."""
    past = {one: dict.fromkeys(hours, (count, count // 10)) for one, count in weeks_of(100).items()}
    return past | {day: dict.fromkeys(hours, (people, people // 10))}


def test_an_hour_with_nobody_is_noticed_after_a_usual_morning() -> None:
    days = hourly(100, range(9, 18))
    days[MONDAY][14] = (0, 0)
    assert find_unusual(days, MONDAY, 13) is None
    found = find_unusual(days, MONDAY, 14)
    assert found
    assert (found.metric, found.hours, found.counted, found.is_more) == ("passing_by", (14,), 0, False)


def test_only_interest_may_be_unusual() -> None:
    days = hourly(100, range(9, 18))
    days[MONDAY] = dict.fromkeys(range(9, 18), (100, 0))
    found = find_unusual(days, MONDAY, 17)
    assert found
    assert (found.metric, found.hours) == ("interested", tuple(range(9, 18)))


def test_an_hour_that_was_not_watched_is_not_judged_and_not_compared() -> None:
    days = hourly(30, range(9, 18))
    del days[MONDAY][12]
    assert find_unusual(days, MONDAY, 12) is None
    found = find_unusual(days, MONDAY, 13)
    assert found
    assert found.hours == (9, 10, 11, 13)
