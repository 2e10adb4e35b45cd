"""How a metric differs between two periods, and what chance alone would do. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from onlooker.metrics.definitions import Figures, Metric, Number, Unit
from onlooker.metrics.intervals import (
    Interval,
    MeanSample,
    bounded_mean_interval,
    difference_of_means,
    difference_of_shares,
    mean_interval,
    ratio_of_counts,
    ratio_of_means,
    sample_mean,
    share_interval,
)

FEWEST_PEOPLE = 10
"""Pages tell no mean and no share of fewer."""

ROUNDING = 1e-9
"""Where all people are alike, an interval has no width, and a sum's last digit would pass for a change."""


class ChangeKind(StrEnum):
    """What the size of a change is."""

    RATIO = "ratio"
    """Of a count per watched time, or of seconds: 1 is no change."""
    DIFFERENCE = "difference"
    """Of shares: 0 is no change."""


class ChangeDirection(StrEnum):
    """Where a change goes, if it is more than chance."""

    UP = "up"
    DOWN = "down"
    SAME = "same"
    UNKNOWN = "unknown"
    """Nothing is known of a mean of nobody, or of people of a single slot."""


@dataclass(frozen=True)
class Change:
    """A number over compared time, now and before."""

    now: Number
    before: Number
    people: int
    """Whom a mean or a share is of, in the period with fewer of them."""
    kind: ChangeKind
    size: float | None
    """None where there is nothing to divide by."""
    interval: Interval | None
    """What the size would be in 95 of 100 repetitions; None where it is not known."""

    @property
    def direction(self) -> ChangeDirection:
        return find_direction(self.interval, self.kind)


def find_direction(interval: Interval | None, kind: ChangeKind) -> ChangeDirection:
    """Of a change whose size lies in this interval."""
    if interval is None:
        return ChangeDirection.UNKNOWN
    nothing = 1.0 if kind is ChangeKind.RATIO else 0.0
    if interval.low - ROUNDING <= nothing <= interval.high + ROUNDING:
        return ChangeDirection.SAME
    return ChangeDirection.UP if interval.low > nothing else ChangeDirection.DOWN


def sum_figures(clusters: Sequence[Figures]) -> list[int]:
    return [sum(column) for column in zip(*clusters, strict=True)]


def compare_metric(
    metric: Metric, now: Sequence[Figures], before: Sequence[Figures], *, exposure: float
) -> dict[str, Change]:
    """By part of the metric's value. Both are given cluster by cluster, such as slots or hours.

    `exposure`: how many times as long the compared time was watched.
    """
    nobody = [[0] * len(metric.figures)]
    totals, totals_before = (sum_figures(clusters or nobody) for clusters in (now, before))
    values, values_before = metric.shape(totals), metric.shape(totals_before)
    if metric.unit in (Unit.PEOPLE, Unit.PARTS):
        return {
            part: compare_counts(int(value or 0), int(values_before[part] or 0), exposure=exposure)
            for part, value in values.items()
        }
    samples = sample_metric(metric, now), sample_metric(metric, before)
    people = min(totals[1], totals_before[1])
    return {part: _compare_means(metric, values[part], values_before[part], people, samples) for part in values}


def compare_counts(now: int, before: int, *, exposure: float) -> Change:
    size = now / before / exposure if before else None
    return Change(
        now, before, min(now, before), ChangeKind.RATIO, size, ratio_of_counts(now, before, exposure=exposure)
    )


def compare_shares(now: tuple[int, int], before: tuple[int, int]) -> Change:
    """Each is a count and the total that it is a share of."""
    share, share_before = (count / total if total else None for count, total in (now, before))
    people = min(now[1], before[1])
    if share is None or share_before is None:
        return Change(share, share_before, people, ChangeKind.DIFFERENCE, None, None)
    interval = difference_of_shares(now, before)
    return Change(share, share_before, people, ChangeKind.DIFFERENCE, share - share_before, interval)


def sample_metric(metric: Metric, clusters: Sequence[Figures]) -> MeanSample | None:
    """Of a metric that is a mean."""
    return sample_mean((total / metric.scale, count) for total, count in clusters)


def _compare_means(
    metric: Metric, now: Number, before: Number, people: int, samples: tuple[MeanSample | None, MeanSample | None]
) -> Change:
    kind = ChangeKind.DIFFERENCE if metric.unit is Unit.SHARE else ChangeKind.RATIO
    one, other = samples
    if one is None or other is None or (kind is ChangeKind.RATIO and not (one.mean and other.mean)):
        return Change(now, before, people, kind, None, None)
    if kind is ChangeKind.DIFFERENCE:
        return Change(now, before, people, kind, one.mean - other.mean, difference_of_means(one, other))
    return Change(now, before, people, kind, one.mean / other.mean, ratio_of_means(one, other))


def metric_interval(metric: Metric, clusters: Sequence[Figures]) -> Interval | None:
    """Of the metric itself, where it is a mean; None where people of one slot alone are known."""
    sample = sample_metric(metric, clusters)
    if sample is None:
        return None
    return bounded_mean_interval(sample) if metric.unit is Unit.SHARE else mean_interval(sample)


def conversion_interval(interested: int, passing_by: int) -> Interval | None:
    return share_interval(interested, passing_by) if passing_by else None
