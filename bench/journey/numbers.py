"""The four numbers that page, data endpoint and ground truth must agree on."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from datetime import datetime
from typing import Any

from bench.dashboard.figures import Figure
from bench.journey.clip import Clip
from bench.scenes.summary import COUNT_ERROR, TIME_ERROR_S
from onlooker_client import Client

SHOWN_TO_S = 0.05
"""What rounding may change."""


@dataclass(frozen=True)
class Numbers:
    """Of some range of time; None where there is nobody to take a mean of, or nothing is shown."""

    passing_by: float | None
    interested: float | None
    stop_time: float | None
    attention_time: float | None

    def is_like(self, other: "Numbers") -> bool:
        pairs = zip(astuple(self), astuple(other), strict=True)
        return all(a == b or (a is not None and b is not None and abs(a - b) <= SHOWN_TO_S) for a, b in pairs)

    def has_counts_of(self, clip: Clip) -> bool:
        return (self.passing_by, self.interested) == (clip.passing, clip.interested)


NAMES = tuple(field.name for field in fields(Numbers))


@dataclass(frozen=True)
class Reading:
    """Numbers, and when they were there."""

    at_s: float
    numbers: Numbers


def ask_numbers(client: Client, from_at: datetime, to_at: datetime | None = None) -> Numbers:
    """Through the SDK, of the data endpoint."""
    (bucket,) = client.metrics(NAMES, from_at, to_at, time="global")
    return Numbers(**{name: bucket[name] for name in NAMES})


def numbers_in(said: Mapping[str, Any]) -> Numbers:
    """Of what a command printed."""
    return Numbers(**{name: said[name] for name in NAMES})


def final_since(readings: Sequence[Reading]) -> float:
    """Since when it has been what it was in the end."""
    since = readings[-1].at_s
    for reading in reversed(readings):
        if not reading.numbers.is_like(readings[-1].numbers):
            break
        since = reading.at_s
    return since


def judge_numbers(found: Numbers, clip: Clip, *, of: str) -> list[Figure]:
    """Beside the truth, with the targets that scenes have."""
    figures = []
    counts = {"passing": (found.passing_by, clip.passing), "interested": (found.interested, clip.interested)}
    for name, (value, true) in counts.items():
        off = None if value is None else abs(value - true) / max(true, 1)
        figures += [Figure(f"{of}_{name}", value), Figure(f"{of}_{name}_error", off, at_most=COUNT_ERROR)]
    times = {
        "stop_time": (found.stop_time, clip.stop_time_s),
        "attention_time": (found.attention_time, clip.attention_time_s),
    }
    for name, (seconds, right) in times.items():
        figures.append(Figure(f"{of}_{name}_s", None if seconds is None else round(seconds, 2)))
        if right is not None:
            error = None if seconds is None else round(abs(seconds - right), 3)
            figures.append(Figure(f"{of}_{name}_error_s", error, at_most=TIME_ERROR_S))
    return figures
