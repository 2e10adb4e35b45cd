"""True tracks turned into the boxes of a detector that misses, jitters and invents."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.accuracy.scene_replay import BoxFrame
from bench.lib.true_tracks import COUNTED_FROM_PX, TrueTracks
from onlooker_pipeline.tracking.boxes import Box
from onlooker_pipeline.vision.persons import PersonBox

CONFIDENCE = 0.7
LEAST_WIDTH_PX, LEAST_HEIGHT_PX = 4.0, 8.0
MOVED_PX = 1.0
FALSE_SHAPE = 0.4
"""Width of an invented box relative to its height."""


@dataclass(frozen=True)
class DetectorFaults:
    """What is wrong with the boxes; the shares are of boxes, frames and a body's height."""

    missed: float = 0.0
    jitter: float = 0.0
    """Standard deviation of each edge, relative to the body's height."""
    jitter_lasts_s: float = 0.5
    """After this time an edge's error has mostly been replaced by another one."""
    false_per_frame: float = 0.0
    hidden_below: float = 0.0
    """Share of every body that is cut off at its lower end, as behind a counter."""
    smallest_px: float = COUNTED_FROM_PX
    """Smaller bodies are not found."""


def make_boxes(truth: TrueTracks, faults: DetectorFaults, *, seed: int) -> list[BoxFrame]:
    """Each frame as a detector with these faults sees it; the same seed gives the same boxes."""
    chance = np.random.default_rng(seed)
    errors: dict[int, tuple[float, NDArray[np.float64]]] = {}
    frames: list[BoxFrame] = []
    before: Mapping[int, Box] = {}
    for seconds, boxes in zip(truth.seconds, truth.boxes, strict=True):
        found = []
        for person, box in boxes.items():
            errors[person] = seconds, _next_error(chance, errors.get(person), seconds, faults)
            if chance.random() >= faults.missed and box.height >= faults.smallest_px:
                found.append(_disturbed(box, errors[person][1], faults))
        found += [_invented(chance, truth) for _ in range(chance.poisson(faults.false_per_frame))]
        inside = [box.within(truth.width, truth.height) for box in found]
        bodies = [PersonBox(*box, CONFIDENCE) for box in inside if _is_box(box)]
        frames.append(BoxFrame(seconds, bodies, _movement(before, boxes)))
        before = boxes
    return frames


def _next_error(
    chance: np.random.Generator,
    last: tuple[float, NDArray[np.float64]] | None,
    seconds: float,
    faults: DetectorFaults,
) -> NDArray[np.float64]:
    """Of the four edges, in standard deviations; it drifts, because a net errs alike in frames that are alike."""
    fresh = chance.normal(size=4)
    if last is None:
        return fresh
    kept = math.exp(-(seconds - last[0]) / faults.jitter_lasts_s)
    return kept * last[1] + math.sqrt(1 - kept**2) * fresh


def _disturbed(box: Box, error: NDArray[np.float64], faults: DetectorFaults) -> Box:
    sides = np.array(box) + error * faults.jitter * box.height
    left, top, right, bottom = sides.tolist()
    return Box(left, top, right, bottom - faults.hidden_below * box.height)


def _invented(chance: np.random.Generator, truth: TrueTracks) -> Box:
    height = truth.height * chance.uniform(0.2, 0.6)
    left, top = chance.uniform(0, truth.width), chance.uniform(0, truth.height - height)
    return Box(left, top, left + FALSE_SHAPE * height, top + height)


def _is_box(box: Box) -> bool:
    return box.width >= LEAST_WIDTH_PX and box.height >= LEAST_HEIGHT_PX


def _movement(before: Mapping[int, Box], now: Mapping[int, Box]) -> list[Box]:
    """Around everybody who moved since the frame before."""
    pairs = [(before[person], box) for person, box in now.items() if person in before]
    return [
        Box(min(a.left, b.left), min(a.top, b.top), max(a.right, b.right), max(a.bottom, b.bottom))
        for a, b in pairs
        if math.dist(a.centre, b.centre) >= MOVED_PX
    ]
