"""Happy and neutral faces, by `face_expression_estimation`."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from bench.accuracy.diagrams import draw_confusion
from bench.accuracy.services import faces_of
from bench.lib.degradation import GOOD, Condition, degrade
from bench.lib.figures import Figure
from bench.lib.frames import fit
from bench.lib.product import say
from bench.lib.testdata import LabelledClip, read_clips, read_labels, within
from onlooker_pipeline.expressions import EXPRESSIONS, VALENCES

SERVICE = "face_expression_estimation"
LABELS = {"happy": "happiness", "neutral": "neutral"}
BLURRED, NOISY = Condition(blur_px=1.5), Condition(noise=10)
FRAMES_APART = 6
"""In worse conditions: frames of a clip that follow one another show the same."""
CALIBRATION_AT_MOST = 0.07


@dataclass(frozen=True)
class ExpressionReading:
    """One face: what it shows, and the expression with the largest share."""

    label: str
    read: str
    share: float

    @property
    def is_right(self) -> bool:
        return self.label == self.read

    @property
    def valence_is_right(self) -> bool:
        """Whether the coarser word is: positive, neutral or negative."""
        return any(self.label in names and self.read in names for names in VALENCES.values())


def measure(data: Path, pictures: Path | None = None) -> list[Figure]:
    photographs, frames = _read(data, GOOD)
    readings = photographs + frames
    if pictures:
        counts = Counter((reading.label, reading.read) for reading in readings)
        rows = [[counts[label, read] for read in EXPRESSIONS] for label in LABELS.values()]
        draw_confusion(pictures / "expression.svg", "Expression", list(LABELS.values()), rows, read=list(EXPRESSIONS))
    happy = [reading for reading in readings if reading.label == "happiness"]
    neutral = [reading for reading in readings if reading.label == "neutral"]
    valence = [reading.valence_is_right for reading in readings]
    return [
        _share("happy_and_neutral_right", readings, at_least=0.9),
        _share("happy_right", happy, at_least=0.9),
        _share("neutral_right", neutral, at_least=0.9),
        _share("happy_and_neutral_right_in_photographs", photographs),
        _share("happy_and_neutral_right_in_clips", frames),
        Figure("valence_right", sum(valence) / len(valence), note="positive or neutral, not another; none is negative"),
        *_calibrations("good", photographs, frames),
        *_calibrations("blurred", *_read(data, BLURRED, apart=FRAMES_APART)),
        *_calibrations("noisy", *_read(data, NOISY, apart=FRAMES_APART)),
    ]


def _read(
    data: Path, condition: Condition, *, apart: int = 1
) -> tuple[list[ExpressionReading], list[ExpressionReading]]:
    """Of photographs, and of frames of clips."""
    photographs = list(_of_photographs(data / "images/azure_face", condition))
    frames: list[ExpressionReading] = []
    for clip in read_clips(data):
        if any("emotion" in person for person in clip.persons):
            frames += list(_of_clip(clip, condition, apart=apart))
            say(f"  {clip.name}: {sum(r.is_right for r in frames)} of {len(frames)} faces right so far")
    return photographs, frames


def _share(name: str, readings: list[ExpressionReading], *, at_least: float | None = None) -> Figure:
    right = sum(reading.is_right for reading in readings)
    share = right / len(readings) if readings else float("nan")
    return Figure(name, share, at_least=at_least, note=f"{right} of {len(readings)} faces")


def _calibrations(name: str, photographs: list[ExpressionReading], frames: list[ExpressionReading]) -> Iterator[Figure]:
    """Photographs show many people and have a target. Clips show a handful, most of them neutral all the time."""
    yield _calibration(name, photographs, at_most=CALIBRATION_AT_MOST)
    yield _calibration(f"{name}_in_clips", frames)


def _calibration(name: str, readings: list[ExpressionReading], *, at_most: float | None = None) -> Figure:
    """How far the largest share is from how often it is right."""
    stated, right = (
        sum(values) / max(len(readings), 1)
        for values in ([reading.share for reading in readings], [reading.is_right for reading in readings])
    )
    note = f"{len(readings)} faces: stated {stated:.2f}, right {right:.2f}"
    return Figure(f"expression_calibration_{name}", abs(stated - right), at_most=at_most, note=note)


def _frame(picture: Any, condition: Condition) -> bytes:
    dice = np.random.default_rng(picture.shape[0])
    return degrade(cv2.cvtColor(fit(picture), cv2.COLOR_BGR2GRAY), condition, dice)


def _of_photographs(folder: Path, condition: Condition) -> Iterator[ExpressionReading]:
    """A picture's label holds for all its faces."""
    for row in read_labels(folder):
        if row["emotion"] in LABELS:
            faces = faces_of(SERVICE, _frame(cv2.imread(str(folder / row["file"])), condition))
            yield from (_reading(LABELS[row["emotion"]], face) for face in faces)


def _of_clip(clip: LabelledClip, condition: Condition, *, apart: int) -> Iterator[ExpressionReading]:
    """People are labelled from left to right, so a frame counts only if as many faces were found as are there."""
    for number, picture in clip.pictures():
        seconds = number / clip.fps
        present = [person for person in clip.persons if person["enter"] <= seconds < person["leave"]]
        labels = [_label(person, seconds) for person in present]
        if not any(labels) or number % apart:
            continue
        faces = faces_of(SERVICE, _frame(picture, condition))
        if len(faces) == len(present):
            yield from (_reading(x, face) for x, face in zip(labels, faces, strict=True) if x)


def _label(person: dict[str, Any], seconds: float) -> str | None:
    now = [interval[2] for interval in person.get("emotion", []) if within(seconds, [interval])]
    return LABELS.get(now[0]) if now else None


def _reading(label: str, face: dict[str, Any]) -> ExpressionReading:
    read = max(EXPRESSIONS, key=lambda name: float(face[name]))
    return ExpressionReading(label, read, float(face[read]))
