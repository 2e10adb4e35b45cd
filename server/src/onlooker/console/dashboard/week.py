"""How busy the hours of a week are. Pure."""

from collections.abc import Sequence
from datetime import date
from functools import lru_cache

WATCHED_FROM_S = 1800.0
"""An hour of which less was watched says little, and would say it loudly: one person in a minute is sixty an hour."""
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

Week = tuple[tuple[float | None, ...], ...]
"""From Monday on, 24 hours each: people who pass by in an hour that is watched; None where none was."""


def draw_week(keys: Sequence[str], passing_by: Sequence[int], covered_s: Sequence[float]) -> Week:
    """People per watched hour, over all hours of the period of which at least 30 minutes were watched.

    So an hour that was watched for 45 minutes, or that the period cuts, counts for as much as was seen of it. Where it
    is not known any more whether the camera watched, an hour does not count.
    """
    people, watched_s = [[0] * 24 for _ in DAYS], [[0.0] * 24 for _ in DAYS]
    for key, count, seen_s in zip(keys, passing_by, covered_s, strict=True):
        if seen_s >= WATCHED_FROM_S:
            day, hour = _weekday(key[:10]), int(key[11:13])
            people[day][hour] += count
            watched_s[day][hour] += seen_s
    return tuple(
        tuple(3600 * count / lasted_s if lasted_s else None for count, lasted_s in zip(*day, strict=True))
        for day in zip(people, watched_s, strict=True)
    )


@lru_cache(maxsize=4096)
def _weekday(text: str) -> int:
    return date.fromisoformat(text).weekday()
