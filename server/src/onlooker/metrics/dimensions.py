"""The dimensions by which numbers are broken down and filtered, one declaration each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from onlooker.metrics.definitions import AGE_PARTS, CATEGORY_PARTS, EMOTION_PARTS, GENDER_PARTS, UNKNOWN

STAY_EDGES_S = (1, 3, 5, 10, 20, 30, 60, 120, 300)
"""Where a band of seconds ends and the next one begins."""
STAY_BANDS = (
    *(f"{first}-{last}" for first, last in zip((0, *STAY_EDGES_S), STAY_EDGES_S, strict=False)),
    f"{STAY_EDGES_S[-1]}+",
)
"""A band holds its first second, and ends before its last one."""
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
HOURS = tuple(f"{hour:02}" for hour in range(24))


@dataclass(frozen=True)
class Dimension:
    """What divides visits into parts: each visit is in exactly one."""

    name: str
    title: str
    meaning: str
    parts: tuple[str, ...]
    place: str
    """SQL over judged visits (sql/judged_visits.sql, sql/cells.sql): the part of a visit, counted from 0."""
    part_of_hour: Callable[[int], str] | None = None
    """The part of an hour of the local week, counted from Monday midnight; None if hours have nothing to do with it."""


def _trait(name: str, title: str, meaning: str, conditions: Mapping[str, str]) -> Dimension:
    """The parts of a metric; all other people are unknown."""
    parts = tuple(conditions) if UNKNOWN in conditions else (*conditions, UNKNOWN)
    places = {parts.index(part): condition for part, condition in conditions.items() if part != UNKNOWN}
    cases = " ".join(f"WHEN {condition} THEN {place}" for place, condition in places.items())
    return Dimension(name, title, meaning, parts, f"CASE {cases} ELSE {parts.index(UNKNOWN)} END")


def _stay(name: str, title: str, meaning: str, interval: str) -> Dimension:
    edges = ", ".join(f"interval '{edge} s'" for edge in STAY_EDGES_S)
    return Dimension(name, title, meaning, STAY_BANDS, f"width_bucket({interval}, ARRAY[{edges}])")


DIMENSIONS: dict[str, Dimension] = {
    dimension.name: dimension
    for dimension in (
        _trait("gender", "Gender", "Gender; `?` where it is not known.", GENDER_PARTS),
        _trait("age", "Age", "Age; `?` where it is not known.", AGE_PARTS),
        _trait("category", "Category", "Age and gender together; `?` where either is not known.", CATEGORY_PARTS),
        _trait("emotion", "Emotion", "What a face shows most; `?` where it is not known.", EMOTION_PARTS),
        _stay("stop_band", "Stopped for", "Seconds that a person stood still, in bands.", "still_for"),
        _stay("attention_band", "Looked for", "Seconds that a person looked, in bands.", "looking_for"),
        _stay("presence_band", "Present for", "Seconds that a person was in view, in bands.", "present_for"),
        Dimension(
            "weekday",
            "Weekday",
            "Day of the local week on which a visit begins.",
            WEEKDAYS,
            "(local_s / 86400 + 3) % 7",
            lambda hour: WEEKDAYS[hour // 24],
        ),
        Dimension(
            "hour_of_day",
            "Hour of the day",
            "Hour of the local day in which a visit begins.",
            HOURS,
            "local_s / 3600 % 24",
            lambda hour: HOURS[hour % 24],
        ),
    )
}
