"""How rows stand among each other, as far as chance lets it be told: a rank with its interval. Pure.

A rank is one more than the number of rows that are surely larger, and goes on to as many as are not surely smaller. A
row is set against all others, so each of these comparisons has its share of the 5 %: then the interval of a row's rank
holds the true one in at least 95 of 100 repetitions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from onlooker.metrics.changes import (
    FEWEST_PEOPLE,
    ChangeDirection,
    ChangeKind,
    find_direction,
    sample_metric,
    sum_figures,
)
from onlooker.metrics.definitions import METRICS, Figures, Unit
from onlooker.metrics.intervals import (
    LEVEL,
    Interval,
    MeanSample,
    difference_of_means,
    difference_of_shares,
    is_more,
    ratio_of_means,
)
from onlooker.metrics.pooled_figures import clusters_of
from onlooker.metrics.side_by_side import ComparedRow

CONVERSION = "conversion"


@dataclass(frozen=True)
class RankInterval:
    """Between which places a row stands; 1 is the largest number."""

    best: int
    worst: int


@dataclass(frozen=True)
class _Standing:
    """The sums behind a row's number."""

    hours: float
    counts: tuple[int, int] = (0, 0)
    """The count, and of how many people it is a share."""
    sample: MeanSample | None = None


def rank_rows(rows: Sequence[ComparedRow], metric: str) -> list[RankInterval | None]:
    """None for rows of which the number is not known, or is of too few people."""
    standings = [_stand(row, metric) for row in rows]
    known = [one for one in standings if one]
    level = 1 - (1 - LEVEL) / max(1, len(known) - 1)
    larger, smaller = [0] * len(known), [0] * len(known)
    for (place, one), (other_place, other) in combinations(enumerate(known), 2):
        direction = _compare(one, other, metric, level)
        above, below = (place, other_place) if direction is ChangeDirection.UP else (other_place, place)
        if direction in (ChangeDirection.UP, ChangeDirection.DOWN):
            smaller[above] += 1
            larger[below] += 1
    ranks = iter([RankInterval(1 + more, len(known) - less) for more, less in zip(larger, smaller, strict=True)])
    return [next(ranks) if one else None for one in standings]


def _stand(row: ComparedRow, metric: str) -> _Standing | None:
    if not row.compared_watched_s:
        return None
    if metric == CONVERSION:
        [interested], [passing_by] = (sum_figures(_clusters(row, name)) for name in ("interested", "passing_by"))
        return _Standing(row.hours, (interested, passing_by)) if passing_by >= FEWEST_PEOPLE else None
    clusters = _clusters(row, metric)
    totals = sum_figures(clusters)
    if METRICS[metric].unit is Unit.PEOPLE:
        return _Standing(row.hours, (totals[0], 0))
    if totals[-1] < FEWEST_PEOPLE:
        return None
    return _Standing(row.hours, sample=sample_metric(METRICS[metric], clusters))


def _clusters(row: ComparedRow, metric: str) -> list[Figures]:
    return clusters_of(metric, row.clusters)


def _compare(one: _Standing, other: _Standing, metric: str, level: float) -> ChangeDirection:
    """Where the first stands, seen from the other, if more than chance sets them apart."""
    if metric in METRICS and METRICS[metric].unit is Unit.PEOPLE:
        return _compare_counts(one, other, level)
    kind = ChangeKind.RATIO
    interval: Interval | None = None
    if metric == CONVERSION:
        kind = ChangeKind.DIFFERENCE
        interval = difference_of_shares(one.counts, other.counts, level=level)
    elif one.sample and other.sample and METRICS[metric].unit is Unit.SHARE:
        kind = ChangeKind.DIFFERENCE
        interval = difference_of_means(one.sample, other.sample, level=level)
    elif one.sample and other.sample and one.sample.mean and other.sample.mean:
        interval = ratio_of_means(one.sample, other.sample, level=level)
    return find_direction(interval, kind)


def _compare_counts(one: _Standing, other: _Standing, level: float) -> ChangeDirection:
    exposure = one.hours / other.hours
    if is_more(one.counts[0], other.counts[0], exposure=exposure, level=level):
        return ChangeDirection.UP
    is_less = is_more(other.counts[0], one.counts[0], exposure=1 / exposure, level=level)
    return ChangeDirection.DOWN if is_less else ChangeDirection.SAME
