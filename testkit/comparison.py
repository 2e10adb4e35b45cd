"""The comparison of two ranges, computed from visits and covered slots in plain Python: slow, and plainly right."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import chain
from typing import Any
from zoneinfo import ZoneInfo

from onlooker_pipeline.visits.visit import Visit
from testkit.block_oracle import EVER_US, StreamGroups, untold
from testkit.kept_sums import rounded
from testkit.like_time import SLOT, like_slots
from testkit.oracle import SECOND_US, Figures, Judged, balance_of, figures_of
from testkit.worlds.expectation import KNOWN, clipped, slots_of, whole
from testkit.worlds.world import Question

Range = tuple[datetime, datetime]
Ends = tuple[float, float]
TAIL = 0.025
Z = 1.959964
SLOTS_UP_TO = timedelta(days=8)
HOURS_UP_TO = timedelta(days=62)
COUNTED = ("passing_by", "interested", "category", "gender", "age", "emotion", "stopped")
MEANS: dict[str, Callable[[Judged], float | None]] = {
    "stop_time": lambda one: (one.still_us + one.rounding.still_us) / SECOND_US,
    "attention_time": lambda one: (one.looking_us + one.rounding.looking_us) / SECOND_US,
    "satisfaction": lambda one: balance_of(one.visit) + one.rounding.balance if one.visit.expression else None,
}


@dataclass(frozen=True)
class ExpectedChange:
    """What is known of a metric's part."""

    now: float | None
    before: float | None
    change: float | None
    interval: Ends | None

    def direction(self, nothing: float) -> str:
        if self.interval is None:
            return "unknown"
        low, high = self.interval
        return "same" if low <= nothing <= high else "up" if low > nothing else "down"


@dataclass(frozen=True)
class ExpectedComparison:
    """What a range's comparison is."""

    hours: float
    compared_hours: float
    reason: str | None
    changes: dict[str, dict[str, ExpectedChange]]


@dataclass(frozen=True)
class ComparedPeople:
    """Of a period: its independent draws."""

    clusters: list[list[Judged]]
    """By slot, hour or day."""
    blocks: list[list[Judged]]
    """Those who are told about in groups, who are in the clusters as people, too."""


def expect_comparison(
    visits: Sequence[Visit],
    now: Range,
    before: Range,
    zone: ZoneInfo,
    covered_s: Mapping[datetime, float],
    *,
    kept_us: int = -EVER_US,
    groups: StreamGroups | None = None,
) -> ExpectedComparison:
    """`kept_us`: visits that began earlier are deleted. `groups`: all people are told about in these alone."""
    like = like_slots(now, before, zone, covered_s)
    length = now[1] - now[0]
    reason = _why_not(like, now, before, covered_s)
    hours, compared_hours = length.total_seconds() / 3600, len(like) / 4
    if reason:
        return ExpectedComparison(hours, compared_hours, reason, {})
    cluster = SLOT if length <= SLOTS_UP_TO else timedelta(hours=1) if length <= HOURS_UP_TO else timedelta(days=1)
    pairs = sorted(like.items())
    watched_s, watched_before_s = (
        sum(min(900.0, covered_s[slot]) for slot in slots) for slots in (like, like.values())
    )
    both = []
    for place, period in enumerate((now, before)):
        slots = [pair[place] for pair in pairs]
        people = _people_by_slot(visits, period, kept_us=kept_us)
        numbers = cluster_numbers(pairs, slots, cluster)
        clusters: dict[int, list[Judged]] = {number: [] for number in numbers}
        for slot, number in zip(slots, numbers, strict=True):
            clusters[number] += untold(people.get(slot, [])) if groups else people.get(slot, [])
        blocks = blocks_inside(groups, period, compared_runs(pairs, place)) if groups else []
        both.append(ComparedPeople(list(clusters.values()), blocks))
    return ExpectedComparison(hours, compared_hours, None, changes_of(both[0], both[1], watched_s / watched_before_s))


def _why_not(
    like: Mapping[datetime, datetime], now: Range, before: Range, covered_s: Mapping[datetime, float]
) -> str | None:
    def is_watched(period: Range) -> bool:
        return any(s >= 810 and period[0] <= slot and slot + SLOT <= period[1] for slot, s in covered_s.items())

    if not is_watched(now):
        return "not_watched"
    if not is_watched(before):
        return "not_watched_before"
    if not like:
        return "no_common_time"
    return "too_little" if 3 * len(like) * SLOT < now[1] - now[0] else None


def cluster_numbers(pairs: Sequence[Range], slots: Sequence[datetime], cluster: timedelta) -> list[int]:
    """A cluster ends with its hour or day, and where the compared time of either period is interrupted."""
    numbers: list[int] = []
    for place, slot in enumerate(slots):
        last = pairs[place - 1] if place else (None, None)
        is_first = any(other is None or one != other + SLOT for one, other in zip(pairs[place], last, strict=True))
        begins = not slot.timestamp() % cluster.total_seconds()
        numbers.append((numbers[-1] if numbers else 0) + (is_first or begins))
    return numbers


def compared_runs(pairs: Sequence[Range], place: int) -> list[Range]:
    """The compared time of a period without interruption in either."""
    runs: list[Range] = []
    last: Range | None = None
    for pair in pairs:
        if last and all(one == other + SLOT for one, other in zip(pair, last, strict=True)):
            runs[-1] = (runs[-1][0], pair[place] + SLOT)
        else:
            runs.append((pair[place], pair[place] + SLOT))
        last = pair
    return runs


def blocks_inside(groups: StreamGroups, period: Range, runs: Sequence[Range]) -> list[list[Judged]]:
    """The people of blocks of the period that lie in a run."""
    runs_us = [(in_us(begins), in_us(ends)) for begins, ends in runs]
    return [
        list(block.people)
        for block in groups.blocks
        if block.lies_inside(*map(in_us, period))
        and any(begins_us <= block.begins_us and block.ends_us <= ends_us for begins_us, ends_us in runs_us)
    ]


def in_us(at: datetime) -> int:
    return round(at.timestamp() * 1e6)


def _people_by_slot(visits: Iterable[Visit], period: Range, kept_us: int = -EVER_US) -> dict[datetime, list[Judged]]:
    from_us, to_us = map(in_us, period)
    question = Question(0, (), from_us, to_us, "global", None, "utc")
    found: dict[datetime, list[Judged]] = {}
    for slot_us, members in slots_of(visits).items():
        is_gone = slot_us < kept_us
        for one in rounded(whole(slot_us, members, question)) if is_gone else clipped(members, question):
            at = datetime.fromtimestamp(one.first_us // 900_000_000 * 900, period[0].tzinfo)
            found.setdefault(at, []).append(one)
    return found


def changes_of(now: ComparedPeople, before: ComparedPeople, exposure: float) -> dict[str, dict[str, ExpectedChange]]:
    ours, theirs = (figures_of(list(chain(*one.clusters)), KNOWN, list(chain(*one.blocks))) for one in (now, before))
    changes = {name: _counted(name, ours, theirs, exposure) for name in COUNTED}
    for name in MEANS:
        changes[name] = {"value": _mean_change(name, (ours, theirs), (now, before))}
    return changes


def _counted(name: str, ours: Figures, theirs: Figures, exposure: float) -> dict[str, ExpectedChange]:
    found = {}
    for part, count in ours[name].items():
        one, other = int(count or 0), int(theirs[name][part] or 0)
        low, high = ratio_ends(one, other)
        size = one / other / exposure if other else None
        found[part] = ExpectedChange(one, other, size, (low / exposure, high / exposure))
    return found


@lru_cache(maxsize=10_000)
def ratio_ends(now: int, before: int) -> Ends:
    """Where the sum of all outcomes at least as extreme, this one halved, becomes rarer than one in forty."""
    total = now + before
    if not total:
        return 0.0, math.inf
    if min(now, before) >= 100:
        share, more = now / total, Z * Z / total
        middle, reach = share + more / 2, Z * math.sqrt(share * (1 - share) / total + more / total / 4)
        low, high = (middle - reach) / (1 + more), (middle + reach) / (1 + more)
    else:
        low = _share_at(lambda share: _beyond(now, total, share)) if now else 0.0
        high = 1 - _share_at(lambda share: _beyond(before, total, share)) if before else 1.0
    return low / (1 - low), high / (1 - high) if high < 1 else math.inf


def _beyond(count: int, total: int, share: float) -> float:
    chances = [math.comb(total, more) * share**more * (1 - share) ** (total - more) for more in range(count, total + 1)]
    return sum(chances) - chances[0] / 2


def _share_at(rarity: Callable[[float], float]) -> float:
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if rarity(middle) > TAIL else (middle, high)
    return low


def _mean_change(
    name: str, values: tuple[Figures, Figures], groups: tuple[ComparedPeople, ComparedPeople]
) -> ExpectedChange:
    now, before = (figures[name]["value"] for figures in values)
    samples = [sample_of(name, [*one.clusters, *one.blocks]) for one in groups]
    if samples[0] is None or samples[1] is None:
        return ExpectedChange(now, before, None, None)
    (mean, reach), (mean_before, reach_before) = samples[0], samples[1]
    if name == "satisfaction":
        size, both = mean - mean_before, math.hypot(reach, reach_before)
        return ExpectedChange(now, before, size, (size - both, size + both))
    size, both = mean / mean_before, math.exp(math.hypot(reach / mean, reach_before / mean_before))
    return ExpectedChange(now, before, size, (size / both, size * both))


def sample_of(name: str, groups: list[list[Judged]]) -> tuple[float, float] | None:
    """A mean, and how far its interval reaches; groups of people are the independent draws."""
    found: list[list[float]] = []
    for group in groups:
        given = (MEANS[name](one) for one in group if one.interested and one.is_told)
        found.append([value for value in given if value is not None])
    known = [values for values in found if values]
    if len(known) < 2:
        return None
    people = sum(map(len, known))
    mean = sum(map(sum, known)) / people
    spread = sum(sum(value - mean for value in values) ** 2 for values in known)
    return mean, student_ends(len(known) - 1) * math.sqrt(spread * len(known) / (len(known) - 1)) / people


@lru_cache(maxsize=1000)
def student_ends(freedom: int) -> float:
    """By adding up the density from the middle, with t = sqrt(freedom) * tan(angle)."""
    steps = 200_000
    width = math.pi / 2 / steps
    heights = [math.cos((step + 0.5) * width) ** (freedom - 1) for step in range(steps)]
    wanted, reached = 0.95 * sum(heights), 0.0
    for step, height in enumerate(heights):
        reached += height
        if reached >= wanted:
            return math.sqrt(freedom) * math.tan((step + 1 - (reached - wanted) / height) * width)
    raise AssertionError


def comparison_differences(expected: ExpectedComparison, found: dict[str, Any], metrics: Iterable[str]) -> list[str]:
    """What is wrong with the data endpoint's `comparison`."""
    frame = (expected.hours, expected.compared_hours, expected.reason)
    said = (found["hours"], found["compared_hours"], found["reason"])
    if not (is_near(said[0], frame[0]) and said[1:] == frame[1:]):
        return [f"hours, compared hours and reason are {said} instead of {frame}"]
    if expected.reason:
        return [f"there are changes: {found['metrics']}"] if found["metrics"] else []
    wrong = []
    for name in metrics:
        nothing = 0.0 if name == "satisfaction" else 1.0
        parts = expected.changes[name]
        if list(found["metrics"][name]) != list(parts):
            wrong.append(f"{name} has the parts {list(found['metrics'][name])}")
            continue
        for part, change in parts.items():
            wrong += wrong_members(f"{name} {part}", change, found["metrics"][name][part], nothing)
    return wrong


def wrong_members(where: str, change: ExpectedChange, found: dict[str, Any], nothing: float) -> list[str]:
    ends = None if change.interval is None else [None if math.isinf(end) else end for end in change.interval]
    given = [found["now"], found["before"], found["change"], *(found["interval"] or [None, None])]
    wanted = [change.now, change.before, change.change, *(ends or [None, None])]
    is_right = all(is_near(one, other) for one, other in zip(given, wanted, strict=True))
    if is_right and (found["interval"] is None) == (ends is None) and _has_direction(change, found, nothing):
        return []
    return [f"{where} is {found} instead of {change}"]


def _has_direction(change: ExpectedChange, found: dict[str, Any], nothing: float) -> bool:
    """An end that is right at the edge may be rounded to either side."""
    is_close = change.interval is not None and any(abs(end - nothing) < 1e-5 for end in change.interval)
    return is_close or bool(found["direction"] == change.direction(nothing))


def is_near(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=2e-5, abs_tol=5e-6)
