"""Every change on a page against the oracle, which knows the visits and what was watched from the database."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from bench.journeys.dashboard.page import Shown
from bench.journeys.dashboard.stage import Screen, Stage
from onlooker_pipeline.visits.visit import Interval, Visit
from testkit.comparison import ExpectedChange, ExpectedComparison, expect_comparison

WEEK = timedelta(days=7)
FEWEST_PEOPLE = 10
Z = 1.959964
NEAR = 2e-5
HEADLINES = ("passing_by", "interested", "conversion", "stop_time", "attention_time", "satisfaction")
SHARES = ("conversion", "satisfaction")
COUNTS = ("passing_by", "interested")
_PARTS = "ARRAY(SELECT (extract(epoch FROM {}(part)) * 1000)::bigint FROM unnest({}) part ORDER BY 1)"
_ENDS = [_PARTS.format(end, name) for name in ("present", "still", "looking") for end in ("lower", "upper")]
_EXPRESSION = "neutral, happiness, surprise, anger, sadness"
_VISITS = f"SELECT {', '.join(_ENDS)}, {_EXPRESSION} FROM visits_visit WHERE stream_id = %s"
_COVERED = "SELECT slot_at, video_s FROM streams_coverage WHERE stream_id = %s"


@dataclass(frozen=True)
class Past:
    """All that happened in front of a screen."""

    visits: Sequence[Visit]
    covered_s: dict[datetime, float]
    zone: ZoneInfo

    def compare(self, from_at: datetime, to_at: datetime) -> ExpectedComparison:
        """With the same local times, as few whole weeks earlier as do not overlap."""
        begins, ends = (at.astimezone(self.zone).replace(tzinfo=None) for at in (from_at, to_at))
        earlier = math.ceil((ends - begins) / WEEK) * WEEK
        before_from, before_to = ((at - earlier).replace(tzinfo=self.zone).astimezone(UTC) for at in (begins, ends))
        before = (before_from, min(before_to, from_at))
        first_ms, last_ms = (1000 * at.timestamp() for at in (before_from, to_at))
        near = [one for one in self.visits if one.present[-1][1] > first_ms and one.present[0][0] < last_ms]
        return expect_comparison(near, (from_at, to_at), before, self.zone, self.covered_s)


def read_past(stage: Stage, screen: Screen) -> Past:
    """Once for each screen: the past of a demo does not change."""
    if screen.client_id not in stage.pasts:
        visits = [_visit_of(*row) for row in stage.stack.execute(_VISITS, screen.id)]
        covered = {slot.astimezone(UTC): float(video_s) for slot, video_s in stage.stack.execute(_COVERED, screen.id)}
        stage.pasts[screen.client_id] = Past(visits, covered, ZoneInfo(screen.zone))
    past = stage.pasts[screen.client_id]
    assert isinstance(past, Past)
    return past


def _visit_of(*columns: Any) -> Visit:
    present, still, looking = (_intervals(*columns[first : first + 2]) for first in (0, 2, 4))
    neutral, happiness, surprise, anger, sadness = columns[6:]
    expression = None if neutral is None else (neutral, happiness, surprise, anger, sadness)
    return Visit(bytes(16), 0, "", 1, True, present, still, looking, expression=expression)


def _intervals(lowers: Iterable[int], uppers: Iterable[int]) -> list[Interval]:
    return list(zip(lowers, uppers, strict=True))


def compare_changes(stage: Stage, shown: Shown, screen: Screen, where: str) -> None:
    """Of a range of which nothing is written meanwhile."""
    from_at, to_at = (datetime.fromisoformat(text).astimezone(UTC) for text in (shown.from_date, shown.to_date))
    expected = read_past(stage, screen).compare(from_at, to_at)
    for name in HEADLINES:
        headline = shown.headlines[name]
        check_change(stage, name, expected, (headline.change, headline.change_text), f"{where} {name} change")


def check_change(stage: Stage, name: str, expected: ExpectedComparison, found: tuple[str, str], where: str) -> None:
    """`found`: its numbers as JSON, and what somebody reads."""
    numbers, text = found
    stage.compared += 1
    right = find_expected(name, expected)
    if right is None:
        stage.check(not numbers, f"{where}: there is none, and the page says {text!r}")
        return
    if not numbers:
        stage.faults.append(f"{where}: {right} is missing, and the page says {text!r}")
        return
    ends = right.interval or (None, None)
    wanted = [right.now, right.before, right.change, *(None if end is None or math.isinf(end) else end for end in ends)]
    given = json.loads(numbers)
    is_near = all(_is_near(one, other) for one, other in zip(given, wanted, strict=True))
    stage.check(is_near, f"{where}: {wanted} is right, the page has {given}")
    direction = right.direction(0.0 if name in SHARES else 1.0)
    said = text.split("\n")[0]
    stage.check(("about the same" in said) == (direction == "same"), f"{where}: {direction} is said as {said!r}")
    if direction in ("up", "down"):
        more = ("more", "times as much", "0 before") if direction == "up" else ("less",)
        stage.check(any(word in said for word in more), f"{where}: {direction} is said as {said!r}")


def find_expected(name: str, expected: ExpectedComparison) -> ExpectedChange | None:
    """None where pages tell no change."""
    if expected.reason:
        return None
    counts = [(int(one.now or 0), int(one.before or 0)) for one in (expected.changes[name]["value"] for name in COUNTS)]
    passing_by, interested = counts
    if name == "conversion":
        if min(passing_by) < FEWEST_PEOPLE:
            return None
        return _conversion(passing_by, interested)
    change = expected.changes[name]["value"]
    people = _with_expression(expected) if name == "satisfaction" else min(interested)
    is_told = name in COUNTS or (people >= FEWEST_PEOPLE and change.interval is not None)
    return change if is_told else None


def _with_expression(expected: ExpectedComparison) -> int:
    """How many interested people's faces were read, in the period with fewer of them."""
    known = [change for part, change in expected.changes["emotion"].items() if part != "?"]
    return min(int(sum(change.now or 0 for change in known)), int(sum(change.before or 0 for change in known)))


def _conversion(passing_by: tuple[int, int], interested: tuple[int, int]) -> ExpectedChange:
    shares = [count / total for count, total in zip(interested, passing_by, strict=True)]
    (low, high), (low_before, high_before) = (_wilson(*one) for one in zip(interested, passing_by, strict=True))
    by = shares[0] - shares[1]
    down, up = (
        math.hypot(shares[0] - low, high_before - shares[1]),
        math.hypot(high - shares[0], shares[1] - low_before),
    )
    return ExpectedChange(shares[0], shares[1], by, (by - down, by + up))


def _wilson(count: int, total: int) -> tuple[float, float]:
    """The roots of (share - p)^2 = z^2 p (1 - p) / total."""
    share, weight = count / total, Z * Z / total
    a, b, c = 1 + weight, -(2 * share + weight), share * share
    root = math.sqrt(b * b - 4 * a * c)
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def _is_near(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=NEAR, abs_tol=NEAR / 4)
