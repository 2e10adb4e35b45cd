"""What is known about a scene: who was there, when they stood, when they looked."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.accuracy.scenes import VIDEO_SUFFIXES, Video
from bench.scenes.intervals import Interval, as_intervals

Roi = tuple[float, float, float, float]


@dataclass(frozen=True)
class Person:
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
    persons: list[Person]
    passing: int | None
    """None where a scene has no totals; its people are compared all the same."""
    interested: int | None
    boxes: list[dict[int, Roi]] | None
    """Of each frame the faces that can be seen, by person, where they are known."""

    @property
    def nobody_looks(self) -> bool:
        return not any(person.looking or person.looking_uncertain for person in self.persons)


@dataclass(frozen=True)
class Scene:
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


def find_scenes(folder: Path) -> list[Scene]:
    """Every video below the folder that has a ground truth beside it."""
    scenes = []
    for path in sorted(folder.rglob("*.gt.json")):
        name = path.name.removesuffix(".gt.json")
        videos = [path.with_name(name + suffix) for suffix in VIDEO_SUFFIXES]
        video = next((video for video in videos if video.exists()), None)
        if video is None:
            raise FileNotFoundError(f"No video beside {path}: looked for {', '.join(v.name for v in videos)}")
        known = json.loads(path.read_text(encoding="utf-8"))
        scenes.append(Scene(Video(name, video, known), as_truth(name, known)))
    return scenes


def _person(known: dict[str, Any]) -> Person:
    present = as_intervals([(known["enter"], known["leave"])])
    names = ("still", "looking", "still_uncertain", "looking_uncertain")
    parts = {name: as_intervals(known.get(name, [])) for name in names}
    return Person(known["id"], present, passing=known["passing"], interested=known["interested"], **parts)


def _boxes(rows: list[list[Any]]) -> dict[int, Roi]:
    return {row[0]: (row[1], row[2], row[3], row[4]) for row in rows if row[6]}
