"""Happy and neutral faces, by `face_expression_estimation`."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2

from bench.accuracy.diagrams import draw_confusion
from bench.accuracy.services import faces_of
from bench.lib.figures import Figure
from bench.lib.frames import as_frame
from bench.lib.product import say
from bench.lib.testdata import LabelledClip, read_clips, read_labels, within
from onlooker_pipeline.expressions import EXPRESSIONS

SERVICE = "face_expression_estimation"
LABELS = {"happy": "happiness", "neutral": "neutral"}


@dataclass(frozen=True)
class ExpressionReading:
    """One face: what it shows, and the expression with the largest value."""

    label: str
    read: str

    @property
    def is_right(self) -> bool:
        return self.label == self.read


def measure(data: Path, pictures: Path | None = None) -> list[Figure]:
    photographs = list(_of_photographs(data / "images/azure_face"))
    frames = []
    for clip in read_clips(data):
        if any("emotion" in person for person in clip.persons):
            frames += list(_of_clip(clip))
            say(f"  {clip.name}: {sum(r.is_right for r in frames)} of {len(frames)} faces right so far")
    readings = photographs + frames
    if pictures:
        counts = Counter((reading.label, reading.read) for reading in readings)
        rows = [[counts[label, read] for read in EXPRESSIONS] for label in LABELS.values()]
        draw_confusion(pictures / "expression.svg", "Expression", list(LABELS.values()), rows, read=list(EXPRESSIONS))
    happy = [reading for reading in readings if reading.label == "happiness"]
    neutral = [reading for reading in readings if reading.label == "neutral"]
    return [
        _share("happy_and_neutral_right", readings, at_least=0.9),
        _share("happy_right", happy, at_least=0.9),
        _share("neutral_right", neutral, at_least=0.9),
        _share("happy_and_neutral_right_in_photographs", photographs),
        _share("happy_and_neutral_right_in_clips", frames),
    ]


def _share(name: str, readings: list[ExpressionReading], *, at_least: float | None = None) -> Figure:
    right = sum(reading.is_right for reading in readings)
    share = right / len(readings) if readings else float("nan")
    return Figure(name, share, at_least=at_least, note=f"{right} of {len(readings)} faces")


def _of_photographs(folder: Path) -> Iterator[ExpressionReading]:
    """A picture's label holds for all its faces."""
    for row in read_labels(folder):
        if row["emotion"] in LABELS:
            faces = faces_of(SERVICE, as_frame(cv2.imread(str(folder / row["file"]))))
            yield from (ExpressionReading(LABELS[row["emotion"]], _largest(face)) for face in faces)


def _of_clip(clip: LabelledClip) -> Iterator[ExpressionReading]:
    """People are labelled from left to right, so a frame counts only if as many faces were found as are there."""
    for number, picture in clip.pictures():
        seconds = number / clip.fps
        present = [person for person in clip.persons if person["enter"] <= seconds < person["leave"]]
        labels = [_label(person, seconds) for person in present]
        if not any(labels):
            continue
        faces = faces_of(SERVICE, as_frame(picture))
        if len(faces) == len(present):
            yield from (ExpressionReading(x, _largest(face)) for x, face in zip(labels, faces, strict=True) if x)


def _label(person: dict[str, Any], seconds: float) -> str | None:
    now = [interval[2] for interval in person.get("emotion", []) if within(seconds, [interval])]
    return LABELS.get(now[0]) if now else None


def _largest(face: dict[str, Any]) -> str:
    return max(EXPRESSIONS, key=lambda name: float(face[name]))
