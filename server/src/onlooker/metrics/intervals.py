"""What chance alone does to a number: 95 % intervals of counts' ratios, of shares and of means. Pure.

A change between two counts is the ratio of two rates. Given the sum of both, one of them is binomial, which makes the
interval exact. It is the mid-P one: the usual exact interval (Clopper-Pearson) covers more than 97 % of all cases, and
would call real changes chance.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

LEVEL = 0.95
Z = 1.959963984540054
"""The normal distribution has this share within so many standard deviations."""
LARGE = 100
"""Two counts that are both at least this large get the score interval, which differs by less than half a percent."""
BISECTIONS = 36
FRACTION_STEPS = 500
TINY = 1e-300
PRECISION = 1e-13
CACHED = 4096


@dataclass(frozen=True)
class Interval:
    """What would hold in 95 of 100 repetitions."""

    low: float
    high: float
    """Infinite where nothing bounds it."""

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True)
class MeanSample:
    """A mean with its standard error, from the sums and counts of clusters."""

    mean: float
    error: float
    clusters: int

    @property
    def reach(self) -> float:
        """How far the interval goes to either side, in the mean's own unit."""
        return self.reach_at(LEVEL)

    def reach_at(self, level: float) -> float:
        return student_quantile(self.clusters - 1, level) * self.error


def ratio_of_counts(now: int, before: int, *, exposure: float = 1.0, level: float = LEVEL) -> Interval:
    """Of the rates of two Poisson counts. `exposure`: how many times as long the first was counted."""
    total = now + before
    if not total:
        return Interval(0.0, math.inf)
    is_small = min(now, before) < LARGE
    share = _exact_share(now, total, level) if is_small else share_interval(now, total, level=level)
    return Interval(_as_odds(share.low) / exposure, _as_odds(share.high) / exposure)


def is_more(now: int, before: int, *, exposure: float = 1.0, level: float = LEVEL) -> bool:
    """Whether the ratio's interval lies above 1; without its ends, which take a hundred times as long to find."""
    if min(now, before) >= LARGE:
        return ratio_of_counts(now, before, exposure=exposure, level=level).low > 1
    return now > 0 and _at_least(now, now + before, exposure / (1 + exposure)) < (1 - level) / 2


def _as_odds(share: float) -> float:
    return share / (1 - share) if share < 1 else math.inf


@lru_cache(maxsize=CACHED)
def _exact_share(count: int, total: int, level: float) -> Interval:
    """The shares at which neither this count nor a more extreme one is rarer than 2.5 %, the count itself halved."""
    tail = (1 - level) / 2
    low = 0.0 if not count else _rising_root(lambda share: _at_least(count, total, share) - tail)
    high = 1.0 if count == total else 1 - _rising_root(lambda rest: _at_least(total - count, total, rest) - tail)
    return Interval(low, high)


def _at_least(count: int, total: int, share: float) -> float:
    """The probability of a larger count, and half of that of this one."""
    log_chance = _log_choose(total, count) + count * math.log(share) + (total - count) * math.log1p(-share)
    return incomplete_beta(count, total - count + 1, share) - math.exp(log_chance) / 2


def _log_choose(total: int, count: int) -> float:
    return math.lgamma(total + 1) - math.lgamma(count + 1) - math.lgamma(total - count + 1)


def _rising_root(function: Callable[[float], float]) -> float:
    """Where a function that rises between 0 and 1 crosses zero."""
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if function(middle) > 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (DLMF 8.17.22)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_front) / a * _beta_fraction(a, b, x)


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Evaluated from the front (Lentz), until it stands still."""
    front, back = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = back
    for half in range(1, FRACTION_STEPS):
        for term in (
            half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half)),
            -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1)),
        ):
            front = (1 + term / front) or TINY
            back = 1 / ((1 + term * back) or TINY)
            value *= front * back
        if abs(front * back - 1) < PRECISION:
            break
    return value


@lru_cache(maxsize=CACHED)
def normal_quantile(level: float) -> float:
    """The normal distribution has this share within so many standard deviations."""
    return Z if level == LEVEL else NormalDist().inv_cdf((1 + level) / 2)


def share_interval(count: int, total: int, *, level: float = LEVEL) -> Interval:
    """Wilson's: right for few people as well, and never outside 0 and 1."""
    if not total:
        return Interval(0.0, 1.0)
    z = normal_quantile(level)
    share, weight = min(count, total) / total, z * z / total
    middle = (share + weight / 2) / (1 + weight)
    reach = z * math.sqrt(share * (1 - share) / total + weight / total / 4) / (1 + weight)
    return Interval(max(0.0, middle - reach), min(1.0, middle + reach))


def difference_of_shares(now: tuple[int, int], before: tuple[int, int], *, level: float = LEVEL) -> Interval:
    """Newcombe's, from the two Wilson intervals. Each share is a count and the total."""
    (count, total), (count_before, total_before) = now, before
    one, other = min(count, total) / total, min(count_before, total_before) / total_before
    interval = share_interval(count, total, level=level)
    interval_before = share_interval(count_before, total_before, level=level)
    down = math.hypot(one - interval.low, interval_before.high - other)
    up = math.hypot(interval.high - one, other - interval_before.low)
    return Interval(one - other - down, one - other + up)


def sample_mean(clusters: Iterable[tuple[float, int]]) -> MeanSample | None:
    """A mean from sums and counts of clusters such as slots; None where fewer than two have people.

    A slot stores sums, not squares. The error of a ratio of sums over slots needs none, and stays right where people
    of the same slot are alike, as groups are.
    """
    known = [(total, count) for total, count in clusters if count]
    people = sum(count for _, count in known)
    if len(known) < 2:
        return None
    mean = sum(total for total, _ in known) / people
    spread = sum((total - mean * count) ** 2 for total, count in known)
    return MeanSample(mean, math.sqrt(spread * len(known) / (len(known) - 1)) / people, len(known))


def mean_interval(sample: MeanSample) -> Interval:
    """Of seconds, which are positive and skewed: symmetrical in their logarithm."""
    if not sample.mean:
        return Interval(0.0, 0.0)
    factor = math.exp(sample.reach / sample.mean)
    return Interval(sample.mean / factor, sample.mean * factor)


def bounded_mean_interval(sample: MeanSample) -> Interval:
    """Of a mean between 0 and 1."""
    return Interval(max(0.0, sample.mean - sample.reach), min(1.0, sample.mean + sample.reach))


def ratio_of_means(now: MeanSample, before: MeanSample, *, level: float = LEVEL) -> Interval:
    """Of means that are positive."""
    reach = math.hypot(now.reach_at(level) / now.mean, before.reach_at(level) / before.mean)
    ratio = now.mean / before.mean
    return Interval(ratio / math.exp(reach), ratio * math.exp(reach))


def difference_of_means(now: MeanSample, before: MeanSample, *, level: float = LEVEL) -> Interval:
    reach = math.hypot(now.reach_at(level), before.reach_at(level))
    return Interval(now.mean - before.mean - reach, now.mean - before.mean + reach)


@lru_cache(maxsize=CACHED)
def student_quantile(freedom: int, level: float = LEVEL) -> float:
    """How many standard errors the interval of a mean reaches, with this many degrees of freedom."""
    return math.sqrt(freedom * (1 / _rising_root(lambda x: incomplete_beta(freedom / 2, 0.5, x) - (1 - level)) - 1))
