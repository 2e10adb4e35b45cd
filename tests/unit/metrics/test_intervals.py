"""Intervals: against sums of all outcomes, against published values, and how often they hold the truth."""

import math
import random
from itertools import product

import pytest

from onlooker.metrics.intervals import (
    Interval,
    MeanSample,
    Z,
    bounded_mean_interval,
    difference_of_means,
    difference_of_shares,
    incomplete_beta,
    is_more,
    mean_interval,
    ratio_of_counts,
    ratio_of_means,
    sample_mean,
    share_interval,
    student_quantile,
)

TAIL = 0.025
ONE, OTHER = MeanSample(5.0, 0.3, 12), MeanSample(4.0, 0.4, 9)
ENDS_AT = {
    level: (
        ratio_of_counts(30, 20, level=level),
        ratio_of_counts(300, 200, level=level),
        share_interval(3, 9, level=level),
        difference_of_shares((30, 90), (20, 80), level=level),
        ratio_of_means(ONE, OTHER, level=level),
        difference_of_means(ONE, OTHER, level=level),
    )
    for level in (0.95, 0.99)
}


def chances(total: int, share: float) -> list[float]:
    return [math.comb(total, count) * share**count * (1 - share) ** (total - count) for count in range(total + 1)]


@pytest.mark.parametrize(("now", "before"), [*product((0, 1, 2, 7, 30), (1, 2, 9, 40)), (99, 150), (3, 0), (40, 0)])
def test_ends_of_the_ratio_are_where_the_counts_become_rare(now: int, before: int) -> None:
    found = ratio_of_counts(now, before)
    low, high = (ratio / (1 + ratio) if ratio < math.inf else 1.0 for ratio in (found.low, found.high))
    if now:
        of_low = chances(now + before, low)
        assert sum(of_low[now + 1 :]) + of_low[now] / 2 == pytest.approx(TAIL, rel=1e-6)
    else:
        assert low == 0
    if before:
        of_high = chances(now + before, high)
        assert sum(of_high[:now]) + of_high[now] / 2 == pytest.approx(TAIL, rel=1e-6)
    else:
        assert high == 1


@pytest.mark.parametrize("exposure", [0.5, 1.0, 1.3])
@pytest.mark.parametrize("level", [0.95, 0.99])
def test_more_is_what_has_an_interval_above_one(exposure: float, level: float) -> None:
    for now, before in product((0, 1, 5, 20, 60, 99, 100, 140), repeat=2):
        interval = ratio_of_counts(now, before, exposure=exposure, level=level)
        assert is_more(now, before, exposure=exposure, level=level) == (interval.low > 1), (now, before)


def test_a_higher_level_is_wider() -> None:
    for narrow, wide in zip(ENDS_AT[0.95], ENDS_AT[0.99], strict=True):
        assert wide.low < narrow.low < narrow.high < wide.high


def test_nobody_at_all_says_nothing_about_the_ratio() -> None:
    assert ratio_of_counts(0, 0) == Interval(0, math.inf)


def test_the_ratio_is_of_rates() -> None:
    same, longer = ratio_of_counts(20, 10), ratio_of_counts(20, 10, exposure=2)
    assert (longer.low, longer.high) == pytest.approx((same.low / 2, same.high / 2))


@pytest.mark.parametrize(("now", "before"), [(99, 100), (99, 400), (500, 99), (99, 90_000), (90_000, 99)])
def test_small_and_large_counts_meet(now: int, before: int) -> None:
    one, other = ratio_of_counts(now, before), ratio_of_counts(now + (now == 99), before + (before == 99))
    assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=0.025)


def test_exact_and_score_intervals_agree_where_one_takes_over() -> None:
    score = share_interval(100, 220)
    exact = ratio_of_counts(99, 121)
    assert exact.low < 100 / 120 < exact.high
    assert score.low / (1 - score.low) == pytest.approx(ratio_of_counts(100, 120).low)


@pytest.mark.parametrize("total", [1, 2, 9, 60])
def test_the_incomplete_beta_function_is_a_sum_of_chances(total: int) -> None:
    for share in (0.01, 0.3, 0.5, 0.77, 0.999):
        expected = chances(total, share)
        for count in range(1, total + 1):
            found = incomplete_beta(count, total - count + 1, share)
            assert found == pytest.approx(sum(expected[count:]), rel=1e-9, abs=1e-14)


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(1, 12.7062), (2, 4.30265), (10, 2.22814), (30, 2.04227), (1000, 1.96234)]
)
def test_students_quantiles_are_those_of_the_tables(freedom: int, quantile: float) -> None:
    assert student_quantile(freedom) == pytest.approx(quantile, abs=1e-5)


def test_wilsons_and_newcombes_intervals_are_the_published_ones() -> None:
    assert _ends(share_interval(81, 263)) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert _ends(share_interval(0, 20)) == pytest.approx((0, 0.1611), abs=5e-5)
    assert share_interval(3, 0) == Interval(0, 1)
    assert _ends(difference_of_shares((56, 70), (48, 80))) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert _ends(difference_of_shares((9, 10), (3, 10))) == pytest.approx((0.1705, 0.8090), abs=5e-5)


def test_a_mean_of_single_people_has_the_usual_error() -> None:
    values = [3.0, 4.5, 9.0, 3.5, 6.0]
    sample = sample_mean([(value, 1) for value in values] + [(0.0, 0)])
    assert sample
    mean = sum(values) / 5
    error = math.sqrt(sum((value - mean) ** 2 for value in values) / 4 / 5)
    assert (sample.mean, sample.error, sample.clusters) == pytest.approx((mean, error, 5))
    assert bounded_mean_interval(MeanSample(0.95, 0.1, 50)).high == 1
    assert mean_interval(sample).low > 0
    assert sample_mean([(7.0, 3), (0.0, 0)]) is None


def test_differences_and_ratios_of_means_add_their_errors() -> None:
    one, other = MeanSample(6.0, 0.3, 100_000), MeanSample(5.0, 0.4, 100_000)
    assert _ends(difference_of_means(one, other)) == pytest.approx((1 - 0.5 * Z, 1 + 0.5 * Z), abs=1e-4)
    log_reach = Z * math.hypot(0.05, 0.08)
    assert _ends(ratio_of_means(one, other)) == pytest.approx(
        (1.2 * math.exp(-log_reach), 1.2 * math.exp(log_reach)), rel=1e-4
    )


def test_a_mean_of_groups_who_stay_alike_still_covers_the_truth() -> None:
    """Each slot has a mood of its own, so people of one slot are no independent evidence."""
    chance = random.Random(20261117)
    held = 0
    for _ in range(600):
        clusters = []
        for _ in range(60):
            mood, people = chance.uniform(0.5, 1.5), chance.randrange(6)
            clusters.append((sum(mood * chance.expovariate(1 / 6) for _ in range(people)), people))
        sample = sample_mean(clusters)
        assert sample
        held += 6 in mean_interval(sample)
    assert held >= 0.92 * 600


def _ends(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high
