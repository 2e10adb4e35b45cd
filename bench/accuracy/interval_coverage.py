"""How often intervals hold the truth, in simulated weeks."""

import math
from dataclasses import dataclass

import numpy as np

from onlooker.metrics.intervals import (
    difference_of_shares,
    mean_interval,
    ratio_of_counts,
    sample_mean,
    share_interval,
)

WEEKS = 10_000
AT_LEAST, AT_MOST = 0.94, 0.97
MANY = 30
FEWEST, MOST = 2.0, 3000.0
"""People expected in a week."""
SLOTS = 300


@dataclass(frozen=True)
class IntervalCoverage:
    """Shares of simulated weeks."""

    ratio: float
    ratio_of_many: float
    """Of weeks in which both counts are at least 30."""
    share: float
    difference: float
    mean: float

    @property
    def is_right(self) -> bool:
        everywhere = (self.ratio, self.ratio_of_many, self.share, self.difference, self.mean)
        return min(everywhere) >= AT_LEAST and self.ratio_of_many <= AT_MOST

    def as_members(self) -> dict[str, float]:
        return {
            "intervals_hold_ratio": self.ratio,
            "intervals_hold_ratio_of_many": self.ratio_of_many,
            "intervals_hold_share": self.share,
            "intervals_hold_difference": self.difference,
            "intervals_hold_mean": self.mean,
        }


def measure_coverage(seed: int) -> IntervalCoverage:
    draw = np.random.default_rng(seed)
    held, held_many = [], []
    for _ in range(WEEKS):
        expected = math.exp(draw.uniform(math.log(FEWEST), math.log(MOST)))
        ratio, exposure = math.exp(draw.uniform(-0.7, 0.7)), draw.uniform(0.9, 1.1)
        now, before = int(draw.poisson(expected * ratio * exposure)), int(draw.poisson(expected))
        held.append(ratio in ratio_of_counts(now, before, exposure=exposure))
        if min(now, before) >= MANY:
            held_many.append(held[-1])
    shares, differences = zip(*(_hold_shares(draw) for _ in range(WEEKS)), strict=True)
    means = [_holds_mean(draw) for _ in range(WEEKS)]
    return IntervalCoverage(*(round(sum(one) / len(one), 4) for one in (held, held_many, shares, differences, means)))


def _hold_shares(draw: np.random.Generator) -> tuple[bool, bool]:
    """Conversion: of at least ten people, as pages tell it."""
    people, before = (int(one) for one in np.exp(draw.uniform(math.log(10), math.log(MOST), 2)))
    truth, truth_before = draw.uniform(0.03, 0.7, 2)
    count, count_before = int(draw.binomial(people, truth)), int(draw.binomial(before, truth_before))
    difference = difference_of_shares((count, people), (count_before, before))
    return truth in share_interval(count, people), truth - truth_before in difference


def _holds_mean(draw: np.random.Generator) -> bool:
    """Stop times of groups: skewed, and alike within a slot."""
    people = draw.poisson(draw.uniform(0.3, 3.0), SLOTS)
    moods = draw.gamma(8.0, 1 / 8.0, SLOTS)
    totals = draw.gamma(np.maximum(people, 1) * 2.0, 3.0) * moods
    sample = sample_mean(zip(np.where(people > 0, totals, 0.0).tolist(), people.tolist(), strict=True))
    return sample is not None and 6.0 in mean_interval(sample)
