"""Half-open intervals of seconds: ascending and apart."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.lib.testdata import VIDEO_SUFFIXES, Video

Interval = tuple[float, float]
Intervals = Sequence[Interval]


def as_intervals(pairs: Iterable[Sequence[float]]) -> list[Interval]:
    """Sorted; what touches or overlaps becomes one."""
    joined: list[Interval] = []
    for start, end in sorted((float(pair[0]), float(pair[1])) for pair in pairs):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def total(intervals: Intervals) -> float:
    return sum(end - start for start, end in intervals)


def longest(intervals: Intervals) -> float:
    return max((end - start for start, end in intervals), default=0.0)


def shared(one: Intervals, other: Intervals) -> list[Interval]:
    """What lies in both."""
    cuts = ((max(a, c), min(b, d)) for a, b in one for c, d in other)
    return [(start, end) for start, end in cuts if start < end]


def without(intervals: Intervals, taken: Intervals) -> list[Interval]:
    """What is left of the intervals outside the taken ones."""
    left = list(intervals)
    for start, end in taken:
        left = [piece for a, b in left for piece in ((a, min(b, start)), (max(a, end), b)) if piece[0] < piece[1]]
    return left


def likeness(one: Intervals, other: Intervals) -> float:
    """Time in both over time in either; two that are both empty are alike."""
    both = total(shared(one, other))
    either = total(one) + total(other) - both
    return both / either if either > 0 else 1.0


def covers(intervals: Intervals, seconds: float) -> bool:
    return any(start <= seconds < end for start, end in intervals)


Roi = tuple[float, float, float, float]


@dataclass(frozen=True)
class LabelledPerson:
    """Somebody in a scene. What a reviewer was not sure of is no part of any score."""

    id: int
    present: list[Interval]
    still: list[Interval]
    looking: list[Interval]
    still_uncertain: list[Interval]
    looking_uncertain: list[Interval]
    passing: bool
    interested: bool | None
    """None where the reviewer could not tell."""


@dataclass(frozen=True)
class Truth:
    """The ground truth of one scene."""

    name: str
    fps: float
    duration: float
    persons: list[LabelledPerson]
    passing: int | None
    """None where a scene has no totals; its people are compared all the same."""
    interested: int | None
    boxes: list[dict[int, Roi]] | None
    """Of each frame the faces that can be seen, by person, where they are known."""

    @property
    def nobody_looks(self) -> bool:
        return not any(person.looking or person.looking_uncertain for person in self.persons)


@dataclass(frozen=True)
class LabelledScene:
    """A video beside its ground truth."""

    video: Video
    truth: Truth

    @property
    def name(self) -> str:
        return self.truth.name


def read_truth(path: str | Path) -> Truth:
    """Of a `<clip>.gt.json`."""
    path = Path(path)
    return as_truth(path.name.removesuffix(".gt.json"), json.loads(path.read_text(encoding="utf-8")))


def as_truth(name: str, known: dict[str, Any]) -> Truth:
    # Somebody who was hidden from beginning to end has no time of entering.
    persons = [_person(person) for person in known["persons"] if person.get("enter") is not None]
    totals = known.get("totals") or {}
    frames = known.get("frames")
    boxes = None if frames is None else [_boxes(rows) for rows in frames]
    fps, duration = float(known["fps"]), float(known["duration"])
    return Truth(name, fps, duration, persons, totals.get("passing"), totals.get("interested"), boxes)


def find_scenes(folder: Path) -> list[LabelledScene]:
    """Every video below the folder that has a ground truth beside it."""
    scenes = []
    for path in sorted(folder.rglob("*.gt.json")):
        name = path.name.removesuffix(".gt.json")
        videos = [path.with_name(name + suffix) for suffix in VIDEO_SUFFIXES]
        video = next((video for video in videos if video.exists()), None)
        if video is None:
            raise FileNotFoundError(f"No video beside {path}: looked for {', '.join(v.name for v in videos)}")
        known = json.loads(path.read_text(encoding="utf-8"))
        scenes.append(LabelledScene(Video(name, video, known), as_truth(name, known)))
    return scenes


def _person(known: dict[str, Any]) -> LabelledPerson:
    present = as_intervals([(known["enter"], known["leave"])])
    names = ("still", "looking", "still_uncertain", "looking_uncertain")
    parts = {name: as_intervals(known.get(name, [])) for name in names}
    return LabelledPerson(known["id"], present, passing=known["passing"], interested=known["interested"], **parts)


def _boxes(rows: list[list[Any]]) -> dict[int, Roi]:
    return {row[0]: (row[1], row[2], row[3], row[4]) for row in rows if row[6]}
