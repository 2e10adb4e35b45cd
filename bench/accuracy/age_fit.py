"""Fits how ages are corrected and trusted (compute/vision/age.py), and says how it does on people it has not seen."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from bench.lib.frames import as_frame, as_sent
from bench.lib.testdata import find_testdata, read_labels
from onlooker_pipeline.vision.age_and_gender import (
    CORRECTION,
    SPREAD_SIDES_PX,
    WITHIN_YEARS,
    Correction,
    adulthood,
    estimate_age,
    read_ages_and_genders,
)
from onlooker_pipeline.vision.faces import find_faces
from onlooker_pipeline.vision.picture import decode_picture, resized

FOLDS = 5
SEEDS = 20
LABEL_TOO_HIGH_YEARS = 2
"""A portrait was taken 0 to 4 years before the day that its label counts to."""
CAMERA_NOISE = 3.0
OFFSET_FROM_SIDE_PX = 56.0
"""Smaller faces are read with too much noise to tell the offset by."""
SENIOR_YEARS = 50
DECADES = ((0, 40), (40, 50), (50, 60), (60, 70), (70, 120))
NOT_CORRECTED = Correction(offset_years=0.0, spread_years=CORRECTION.spread_years)


@dataclass(frozen=True)
class AgeReading:
    """What the nets say about one face."""

    file: str
    gender: str
    years: float
    side_px: float
    male: float
    label_years: float = float("nan")
    size_px: float | None = None
    """The side its chip was shrunk to; None for the frame as a camera near by sends it."""


@dataclass(frozen=True)
class Estimate:
    """A reading with the age and the confidence by some correction."""

    reading: AgeReading
    age: float
    confidence: float

    @property
    def error(self) -> float:
        return self.age - self.reading.label_years


def read_faces(data: bytes, **labels: Any) -> list[AgeReading]:
    """Every face of a picture file, from left to right."""
    picture = decode_picture(data)
    faces = sorted(find_faces(picture), key=lambda face: face.left)
    said = read_ages_and_genders(picture, faces)
    return [AgeReading(years=s.age_years, side_px=s.side_px, male=s.male_probability, **labels) for s in said]


def read_portraits(data: Path) -> list[AgeReading]:
    """Each official portrait as a camera sends it, and again from farther away, with a camera's noise."""
    noise = np.random.default_rng(0)
    readings: list[AgeReading] = []
    for row in read_labels(data / "images/congress_pd"):
        label = float(row["age_when_added"]) - LABEL_TOO_HIGH_YEARS
        labels = {"file": row["file"], "gender": row["gender"], "label_years": label}
        frame = as_frame(cv2.imread(str(data / "images/congress_pd" / row["file"])))
        found = read_faces(frame, **labels)[:1]
        readings += found
        for size in SPREAD_SIDES_PX if found else ():
            far = resized(decode_picture(frame), size / found[0].side_px)
            noisy = np.clip(far + noise.normal(0, CAMERA_NOISE, far.shape), 0, 255).astype(np.uint8)
            readings += read_faces(as_sent(noisy), size_px=size, **labels)[:1]
    return readings


def fit(readings: Sequence[AgeReading]) -> Correction:
    """The offset by least squares, pooled over sizes; then for each size the spread that makes the confidence true."""
    clear = [r for r in readings if r.size_px is None or r.size_px >= OFFSET_FROM_SIDE_PX]
    shares = np.array([adulthood(r.years) for r in clear])
    missing = np.array([r.label_years - r.years for r in clear])
    offset = round(float(shares @ missing / (shares @ shares)), 1)
    spreads: list[float] = []
    for size in reversed(SPREAD_SIDES_PX):
        estimates = judge([r for r in readings if r.size_px == size], Correction(offset, CORRECTION.spread_years))
        spread = WITHIN_YEARS / NormalDist().inv_cdf((1 + summarise(estimates)["within_10_years"]) / 2)
        spreads.append(max([spread, *spreads]))  # a smaller face is never read better: less is chance
    return Correction(offset, tuple(round(spread, 1) for spread in reversed(spreads)))


def judge(readings: Sequence[AgeReading], correction: Correction) -> list[Estimate]:
    return [Estimate(r, *estimate_age(r.years, side_px=r.side_px, correction=correction)) for r in readings]


def judge_held_out(readings: Sequence[AgeReading], seed: int) -> list[Estimate]:
    """Each reading by a fit that its person had no part in."""
    people = sorted({r.file for r in readings})
    order = np.random.default_rng(seed).permutation(len(people))
    fold_of = {people[i]: position % FOLDS for position, i in enumerate(order)}
    estimates: list[Estimate] = []
    for fold in range(FOLDS):
        correction = fit([r for r in readings if fold_of[r.file] != fold])
        estimates += judge([r for r in readings if fold_of[r.file] == fold], correction)
    return estimates


def summarise(estimates: Sequence[Estimate]) -> dict[str, float]:
    errors: NDArray[np.float64] = np.array([e.error for e in estimates])
    senior = [(e.age >= SENIOR_YEARS) == (e.reading.label_years >= SENIOR_YEARS) for e in estimates]
    return {
        "mean_absolute_error": float(np.abs(errors).mean()),
        "bias": float(errors.mean()),
        "senior_right": float(np.mean(senior)),
        "within_10_years": float((np.abs(errors) <= WITHIN_YEARS).mean()),
        "confidence": float(np.mean([e.confidence for e in estimates])),
    }


def report_held_out(readings: Sequence[AgeReading]) -> dict[str, float]:
    """Means over the seeds, of the frames as sent; then by group and size, with the first seed."""
    rounds = [judge_held_out(readings, seed) for seed in range(SEEDS)]
    summaries = [summarise([e for e in estimates if e.reading.size_px is None]) for estimates in rounds]
    figures = {name: float(np.mean([summary[name] for summary in summaries])) for name in summaries[0]}
    for name, mean in figures.items():
        print(f"  {name:20} {mean:7.3f}  spread over seeds {np.std([summary[name] for summary in summaries]):.3f}")
    for title in sorted({title for r in readings for title in groups_of(r)}):
        _print_line(title, [e for e in rounds[0] if title in groups_of(e.reading)])
    return figures


def groups_of(reading: AgeReading) -> list[str]:
    if reading.size_px is not None:
        return [f"chip of {reading.size_px:.0f} px"]
    decade = next(f"{low} to {high}" for low, high in DECADES if low <= reading.label_years < high)
    return [reading.gender, f"label {decade}"]


def _print_line(title: str, estimates: Sequence[Estimate]) -> None:
    shown = "  ".join(f"{name} {value:.2f}" for name, value in summarise(estimates).items())
    print(f"  {title:16} n {len(estimates):3}  {shown}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder of the labelled pictures")
    data = find_testdata(parser.parse_args().data)
    readings = read_portraits(data)
    frames = [r for r in readings if r.size_px is None]
    print(f"{len(frames)} portraits, chips of {np.median([r.side_px for r in frames]):.0f} px (median)")
    _print_line("as the net reads", judge(frames, NOT_CORRECTED))
    print(f"Held out, {FOLDS} folds by person, {SEEDS} seeds:")
    figures = report_held_out(readings)
    fitted = fit(readings)
    print(f"CORRECTION = {fitted}")
    print("compute/vision/age.py holds this one." if fitted == CORRECTION else f"compute/vision/age.py: {CORRECTION}")
    print(json.dumps({name: round(value, 4) for name, value in figures.items()}))


if __name__ == "__main__":
    main()
