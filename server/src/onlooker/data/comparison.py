"""The extension `compare`: how the metrics of a range differ from those of another one, like with like."""

import math
from collections.abc import Mapping
from typing import Any

from onlooker.errors import bad_request
from onlooker.metrics.changes import Change
from onlooker.metrics.comparison import Comparison
from onlooker.metrics.definitions import METRICS
from onlooker.metrics.intervals import Interval
from onlooker.metrics.like_time import TimeRange, previous_range
from onlooker.metrics.query import Query, parse_moment

PREVIOUS = "previous"
COMPARISON_PARAMETERS = ("compare", "compare_from", "compare_to")
DIGITS = 6
_EITHER = "Send `compare=previous`, or `compare_from` and `compare_to`."


def parse_comparison(parameters: Mapping[str, str], query: Query) -> TimeRange:
    """The range to compare with. Raises a Problem."""
    if query.breakdown:
        raise bad_request("Numbers that are broken down or filtered are not compared. Leave `compare` out.")
    if not any(name in METRICS for name in query.metrics):
        raise bad_request("What was watched is not compared. Add a metric of visits, such as `passing_by`.")
    asked = [name for name in COMPARISON_PARAMETERS if name in parameters]
    if asked == ["compare"]:
        if parameters["compare"] != PREVIOUS:
            raise bad_request(f"`compare` can only be `{PREVIOUS}`. {_EITHER}")
        return previous_range(TimeRange(query.from_at, query.to_at), query.zone)
    if asked != ["compare_from", "compare_to"]:
        raise bad_request(f"A comparison is either with the previous period or with a range. {_EITHER}")
    from_at, to_at = (parse_moment(name, parameters[name], query.zone) for name in asked)
    if from_at >= to_at:
        raise bad_request("`compare_from` must lie before `compare_to`.")
    if from_at < query.to_at and query.from_at < to_at:
        raise bad_request("The range to compare with must not overlap the one from `from_date` to `to_date`.")
    return TimeRange(from_at, to_at)


def refuse_comparison(parameters: Mapping[str, str]) -> None:
    """For answers that have no place for one."""
    if any(name in parameters for name in COMPARISON_PARAMETERS):
        raise bad_request("A table has no comparison. Ask `/api/1/entities` for it.")


def comparison_members(comparison: Comparison, query: Query) -> dict[str, Any]:
    like = comparison.like
    members = {
        "from_date": like.before.from_at.astimezone(query.zone).isoformat(),
        "to_date": like.before.to_at.astimezone(query.zone).isoformat(),
        "hours": round(like.comparable_s / 3600, DIGITS),
        "compared_hours": like.compared_s / 3600,
        "reason": like.reason,
        "metrics": {
            name: {part: _change_members(change) for part, change in parts.items()}
            for name, parts in comparison.changes.items()
        },
    }
    return members if comparison.exact else members | {"exact": False}


def _change_members(change: Change) -> dict[str, Any]:
    return {
        "now": change.now,
        "before": change.before,
        "kind": change.kind,
        "change": None if change.size is None else round(change.size, DIGITS),
        "interval": _interval_members(change.interval),
        "direction": change.direction,
    }


def _interval_members(interval: Interval | None) -> list[float | None] | None:
    if interval is None:
        return None
    return [round(interval.low, DIGITS), None if math.isinf(interval.high) else round(interval.high, DIGITS)]
