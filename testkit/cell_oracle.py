"""Breakdowns and filters as the guide defines them, person by person in plain Python."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import product
from typing import Any

from testkit.oracle import (
    AGE_BANDS,
    CATEGORIES,
    EMOTIONS,
    SECOND_US,
    Figures,
    Judged,
    Thresholds,
    age_band_of,
    category_of,
    emotion_of,
    figures_of,
    gender_of,
)

STAY_FROM_S = {
    **{"0-1": 0, "1-3": 1, "3-5": 3, "5-10": 5, "10-20": 10, "20-30": 20, "30-60": 30, "60-120": 60},
    **{"120-300": 120, "300+": 300},
}
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
PARTS: dict[str, tuple[str, ...]] = {
    "gender": ("?", "female", "male"),
    "age": (*AGE_BANDS, "?"),
    "category": (*CATEGORIES, "?"),
    "emotion": (*EMOTIONS, "?"),
    "stop_band": tuple(STAY_FROM_S),
    "attention_band": tuple(STAY_FROM_S),
    "presence_band": tuple(STAY_FROM_S),
    "weekday": WEEKDAYS,
    "hour_of_day": tuple(f"{hour:02}" for hour in range(24)),
}
"""Of every dimension, in order."""
OF_TIME = ("weekday", "hour_of_day")
Filters = Mapping[str, Sequence[str]]


def part_of(one: Judged, dimension: str, known: Thresholds, local: datetime) -> str:
    """`local` is their first moment in the range, on the clock."""
    if dimension in OF_TIME:
        return part_of_moment(dimension, local)
    parts = {
        "gender": gender_of(one.visit, known),
        "age": age_band_of(one.visit, known),
        "category": category_of(one.visit, known) or "?",
        "emotion": emotion_of(one.visit),
        "stop_band": _band_of(one.still_us),
        "attention_band": _band_of(one.looking_us),
        "presence_band": _band_of(one.present_us),
    }
    return parts[dimension]


def part_of_moment(dimension: str, local: datetime) -> str:
    return WEEKDAYS[local.weekday()] if dimension == "weekday" else f"{local.hour:02}"


def _band_of(length_us: int) -> str:
    edges_us = [SECOND_US * first_s for first_s in STAY_FROM_S.values()]
    return tuple(STAY_FROM_S)[bisect_right(edges_us, length_us) - 1]


def cells_of(by: Sequence[str], filters: Filters) -> list[dict[str, str]]:
    """Every combination of parts that the filters keep."""
    kept = [[part for part in PARTS[name] if part in filters.get(name, PARTS[name])] for name in by]
    return [dict(zip(by, parts, strict=True)) for parts in product(*kept)]


def break_down(
    people: Sequence[tuple[Judged, datetime]], by: Sequence[str], filters: Filters, known: Thresholds
) -> tuple[Figures, list[dict[str, Any]]]:
    """The figures of a bucket, and of each of its cells; everybody with their first moment on the clock."""
    names = {*by, *filters}
    found = [(one, {name: part_of(one, name, known, local) for name in names}) for one, local in people]
    kept = [(one, parts) for one, parts in found if all(parts[name] in filters[name] for name in filters)]
    cells = [
        {"by": cell, **figures_of([one for one, parts in kept if cell.items() <= parts.items()], known)}
        for cell in cells_of(by, filters)
    ]
    return figures_of([one for one, _ in kept], known), cells
