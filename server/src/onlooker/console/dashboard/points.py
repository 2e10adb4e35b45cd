"""The points of the time chart, and which of them are gaps. Pure."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from onlooker.metrics.absences import Absence, BucketCoverage
from onlooker.metrics.buckets import Buckets

GAP_BELOW = 0.01
"""Of so small a share that was watched no zero is made."""
JUDGED_FROM_S = 60.0
"""What a time has that only began is not written down yet."""


@dataclass(frozen=True)
class Point:
    """An hour or a day of the time chart."""

    key: str
    """The bucket's own start, as the data endpoint writes it."""
    from_at: datetime
    """In UTC, and the bucket's own, like `to_at`: it may lie outside the period."""
    to_at: datetime
    passing_by: int | None
    """None where the camera watched nothing of it, and nobody was seen: a gap, not a zero."""
    interested: int | None
    watched: BucketCoverage
    gap: Absence | None


def sum_up(counts: Mapping[str, list[int]], hours: Sequence[datetime], buckets: Buckets) -> dict[str, list[int]]:
    """Counts of buckets, of those of their hours, given by their edges. Buckets may reach beyond the hours."""
    cuts = [0, *(bisect_left(hours, edge) for edge in buckets.edges[1:-1]), len(hours) - 1]
    return {name: [sum(values[first:after]) for first, after in pairwise(cuts)] for name, values in counts.items()}


def draw_points(
    buckets: Buckets, covered: tuple[BucketCoverage, ...], counts: Mapping[str, list[int]]
) -> tuple[Point, ...]:
    people = zip(counts["passing_by"], counts["interested"], strict=True)
    given = zip(buckets.keys, pairwise(buckets.edges), covered, people, strict=True)
    return tuple(_point(*one) for one in given)


def _point(key: str, edges: tuple[datetime, datetime], watched: BucketCoverage, people: tuple[int, int]) -> Point:
    gap = None if any(people) else gap_of(watched)
    passing_by, interested = people
    if gap:
        return Point(key, *edges, None, None, watched, gap)
    return Point(key, *edges, passing_by, interested, watched, None)


def gap_of(watched: BucketCoverage) -> Absence | None:
    """Why a time in which nobody was seen says nothing; None where it says that nobody came, or that nobody knows."""
    if not watched.covered_s and set(watched.missing) == {Absence.NOT_CREATED}:
        return Absence.NOT_CREATED
    if watched.length_s < JUDGED_FROM_S or watched.covered_s >= GAP_BELOW * watched.length_s:
        return None
    main = max(watched.missing, key=lambda absence: watched.missing[absence])
    return None if main is Absence.UNKNOWN else main
