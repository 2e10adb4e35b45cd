"""Where the labelled pictures and scenes lie: beside the project, never in it."""

import csv
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import cv2

from bench.lib.frames import FRAME_HEIGHT, FRAME_WIDTH

BESIDE_THE_PROJECT = Path(__file__).resolve().parents[3] / "shared" / "testdata"


def find_testdata(folder: str | Path | None = None) -> Path:
    """The folder, or the end of the program with what is missing."""
    path = Path(folder) if folder else BESIDE_THE_PROJECT
    if not (path / "images").is_dir():
        sys.exit(f"No labelled pictures in {path}. They are not part of the repository: name their folder with --data.")
    return path


def read_labels(folder: Path) -> list[dict[str, str]]:
    """The rows of a folder's labels.csv."""
    with (folder / "labels.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


VIDEO_SUFFIXES = (".mp4", ".avi")


@dataclass(frozen=True)
class LabelledFace:
    """A face that was drawn into a scene; `roi` in pixels of the fitted frame, as a service reports it."""

    person: str
    roi: tuple[float, float, float, float]
    is_front: bool
    is_visible: bool
    """At least about half of it, inside the frame and not hidden."""


@dataclass(frozen=True)
class Video:
    """A video beside its ground truth."""

    name: str
    path: Path
    truth: dict[str, Any]

    @property
    def fps(self) -> float:
        return float(self.truth["fps"])

    def pictures(self, wanted: Sequence[int] | None = None) -> Iterator[tuple[int, Any]]:
        """Frames with their numbers; all, or the wanted ones."""
        chosen = None if wanted is None else set(wanted)
        video = cv2.VideoCapture(str(self.path))
        number = 0
        while video.grab():
            if chosen is None or number in chosen:
                yield number, video.retrieve()[1]
            number += 1
        video.release()


class DrawnScene(Video):
    """Drawn by the generator, so every face of every frame is known."""

    @cached_property
    def labels(self) -> list[list[LabelledFace]]:
        """The faces of each frame."""
        return [[self._label(row) for row in rows] for rows in self.truth["frames"]]

    def _label(self, row: list[Any]) -> LabelledFace:
        number, left, top, width, height, state, visible = row
        scale = min(FRAME_WIDTH / self.truth["width"], FRAME_HEIGHT / self.truth["height"])
        right = (FRAME_WIDTH - self.truth["width"] * scale) / 2
        down = (FRAME_HEIGHT - self.truth["height"] * scale) / 2
        roi = (left * scale + right, top * scale + down, width * scale, height * scale)
        person = self.truth["persons"][number]["person"]
        return LabelledFace(person, roi, is_front=state == "front", is_visible=bool(visible))


class LabelledClip(Video):
    """Filmed; a reviewer wrote down what each person does when."""

    @property
    def persons(self) -> list[dict[str, Any]]:
        """From left to right, as the labels list them."""
        return list(self.truth["persons"])


def read_scenes(data: Path) -> list[DrawnScene]:
    return [DrawnScene(*found) for found in _videos(data / "synth" / "out")]


def read_clips(data: Path) -> list[LabelledClip]:
    return [LabelledClip(*found) for found in _videos(data / "clips")]


def within(seconds: float, intervals: Sequence[Sequence[Any]]) -> bool:
    return any(interval[0] <= seconds < interval[1] for interval in intervals)


def overlap(one: Sequence[float], other: Sequence[float]) -> float:
    """Intersection over union of two rois."""
    width = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    height = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    shared = max(width, 0) * max(height, 0)
    return shared / max(one[2] * one[3] + other[2] * other[3] - shared, 1e-9)


def match_faces(
    labels: Sequence[LabelledFace], faces: Sequence[dict[str, Any]], *, at_least: float
) -> list[dict[str, Any] | None]:
    """For each label the reported face that is its own: those that overlap most find each other first."""
    pairs = [(overlap(label.roi, face["roi"]), i, j) for i, label in enumerate(labels) for j, face in enumerate(faces)]
    matches: dict[int, int] = {}
    for shared, i, j in sorted(pairs, reverse=True):
        if shared >= at_least and i not in matches and j not in matches.values():
            matches[i] = j
    return [faces[matches[i]] if i in matches else None for i in range(len(labels))]


def _videos(folder: Path) -> Iterator[tuple[str, Path, dict[str, Any]]]:
    for truth in sorted(folder.glob("*.gt.json")):
        name = truth.name.removesuffix(".gt.json")
        paths = [folder / (name + suffix) for suffix in VIDEO_SUFFIXES]
        path = next((path for path in paths if path.exists()), None)
        if path is None:
            raise FileNotFoundError(f"No video beside {truth.name}: looked for {', '.join(p.name for p in paths)}")
        yield name, path, json.loads(truth.read_text())
