"""How streams stand among each other: each against the average of all over the time that it watched itself. Pure.

The total of a camera that was off for two days is no measure of its place. So every stream is compared with what the
average stream counted in the same slots of the local week: 1.2 is a fifth more than average.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from zoneinfo import ZoneInfo

from onlooker.metrics.buckets import offsets_around
from onlooker.metrics.changes import FEWEST_PEOPLE
from onlooker.metrics.comparison import Comparison, are_inside
from onlooker.metrics.like_time import LEAST_SHARE, WEEK_S
from onlooker.slots import SLOT_S

DIGITS = 9
"""So that equal streams are equal, in whatever order their numbers were added up."""


@dataclass(frozen=True)
class SlotTally:
    """Slots of the same weekday and time of day that were watched, and whom they saw."""

    slots: int = 0
    passing_by: int = 0
    interested: int = 0

    def __add__(self, other: "SlotTally") -> "SlotTally":
        return SlotTally(
            self.slots + other.slots, self.passing_by + other.passing_by, self.interested + other.interested
        )


@dataclass(frozen=True)
class WeekProfile:
    """What a stream saw while it watched."""

    tallies: dict[int, SlotTally]
    """By slot of the local week."""
    is_enough: bool
    """Whether at least a third of the period was watched."""


def make_profile(comparison: Comparison, zone: ZoneInfo) -> WeekProfile:
    """From a comparison whose clusters are slots."""
    like = comparison.like
    tallies: dict[int, SlotTally] = defaultdict(SlotTally)
    people = zip(comparison.clusters["passing_by"], comparison.clusters["interested"], strict=True)
    given = zip(pairwise(comparison.edges_s), are_inside(comparison.edges_s, like.watched), people, strict=True)
    offsets = offsets_around(zone, int(comparison.edges_s[0]), int(comparison.edges_s[-1]))
    changes_s = [change.at_s for change in offsets]
    for (begin_s, end_s), is_watched, ([passing_by], [interested]) in given:
        if is_watched and end_s - begin_s == SLOT_S:
            offset_s = offsets[bisect_right(changes_s, begin_s) - 1].offset_s
            tallies[int(begin_s + offset_s) % WEEK_S // SLOT_S] += SlotTally(1, passing_by, interested)
    return WeekProfile(dict(tallies), bool(like.length_s) and like.watched_s >= LEAST_SHARE * like.length_s)


def compute_standings(profiles: Mapping[int, WeekProfile], metric: str) -> dict[int, float]:
    """By stream; streams that watched too little, or whose conversion is of too few people, have none."""
    ranked = {stream_id: profile for stream_id, profile in profiles.items() if profile.is_enough}
    pooled: dict[int, SlotTally] = defaultdict(SlotTally)
    for profile in ranked.values():
        for slot, tally in profile.tallies.items():
            pooled[slot] += tally
    found = {stream_id: _stand(profile, pooled, metric) for stream_id, profile in ranked.items()}
    return {stream_id: round(standing, DIGITS) for stream_id, standing in found.items() if standing is not None}


def _stand(profile: WeekProfile, pooled: Mapping[int, SlotTally], metric: str) -> float | None:
    counted = sum(profile.tallies.values(), start=SlotTally())
    passing_by = interested = 0.0
    for slot, tally in profile.tallies.items():
        weight = tally.slots / pooled[slot].slots
        passing_by += weight * pooled[slot].passing_by
        interested += weight * pooled[slot].interested
    if metric == "passing_by":
        return counted.passing_by / passing_by if passing_by else 0.0
    if metric == "interested":
        return counted.interested / interested if interested else 0.0
    if counted.passing_by < FEWEST_PEOPLE:
        return None
    return counted.interested / counted.passing_by / (interested / passing_by) if interested else 0.0
