"""How busy the hours of a week are. Pure."""

from collections.abc import Sequence

from onlooker.metrics.buckets import HOURS_A_WEEK

WATCHED_FROM_S = 1800.0
"""An hour of which less was watched says little, and would say it loudly: one person in a minute is sixty an hour."""
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

Week = tuple[tuple[float | None, ...], ...]
"""From Monday on, 24 hours each: people who pass by in an hour that is watched; None where none was."""


def draw_week(of_week: Sequence[int], passing_by: Sequence[int], covered_s: Sequence[float]) -> Week:
    """People per watched hour, over all hours of the period of which at least 30 minutes were watched.

    So an hour that was watched for 45 minutes, or that the period cuts, counts for as much as was seen of it. Where it
    is not known any more whether the camera watched, an hour does not count.
    """
    people, watched_s = [0] * HOURS_A_WEEK, [0.0] * HOURS_A_WEEK
    for hour, count, seen_s in zip(of_week, passing_by, covered_s, strict=True):
        if seen_s >= WATCHED_FROM_S:
            people[hour] += count
            watched_s[hour] += seen_s
    means = [3600 * count / lasted_s if lasted_s else None for count, lasted_s in zip(people, watched_s, strict=True)]
    return tuple(tuple(means[first : first + 24]) for first in range(0, HOURS_A_WEEK, 24))
