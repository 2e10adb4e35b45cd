"""The axes of the map: what gets worse, in which steps, and what is counted at each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bench.accuracy.portrait_readings import PortraitReading
from bench.lib.degradation import GOOD, Condition
from onlooker.metrics.definitions import AGE_KNOWN_ABOVE

NEAR_PX, FAR_PX = 96.0, 48.0
"""Height of the faces that the other axes are measured with: about 1.3 and 2.7 metres away from a webcam."""


@dataclass(frozen=True)
class Axis:
    """One property of pictures."""

    name: str
    """Of the member of Condition."""
    title: str
    steps: tuple[float, ...]
    """From good to bad, or from small to large."""
    quick_steps: tuple[float, ...]
    """Those that CI measures."""

    def conditions(self, face_px: float, *, quick: bool) -> list[Condition]:
        steps = self.quick_steps if quick else self.steps
        members: list[dict[str, Any]] = [{"face_px": face_px} | {self.name: step} for step in steps]
        return [replace(GOOD, **own) for own in members]


AXES = (
    Axis("face_px", "Height of the face, pixels", (16, 20, 24, 30, 40, 50, 64, 80, 100), (24, 64)),
    Axis("quality", "JPEG quality", (95, 80, 60, 40, 25, 15), (25,)),
    Axis("blur_px", "Blur by the lens, pixels", (0, 0.6, 1.0, 1.2, 1.5, 2.0, 3.0), (1.5,)),
    Axis("motion_px", "Blur by motion, pixels", (0, 2, 4, 6, 9, 13), (6,)),
    Axis("noise", "Noise, grey levels", (0, 3, 5, 8, 10, 15, 20), (10,)),
    Axis("light", "Light, share", (1, 0.5, 0.3, 0.2, 0.1, 0.05), (0.2,)),
    Axis("back_light", "Back-light", (0, 0.2, 0.4, 0.6, 0.8, 0.95), (0.6,)),
)


@dataclass(frozen=True)
class MapCell:
    """What was counted in one condition; shares from 0 to 1, not a number where there was nothing to count."""

    faces: int
    found: float
    gender_right: float
    looking: float
    """Of people who look at the camera, those who are judged so."""
    age_error: float
    age_bias: float
    within_ten_years: float
    age_confidence: float
    age_unknown: float
    """Of faces found, those whose age is a guess."""


def count_readings(readings: Sequence[PortraitReading]) -> MapCell:
    found = [r for r in readings if r.reading]
    aged = [r for r in found if not np.isnan(r.portrait.age_years)]
    errors = [r.age_error for r in aged]
    return MapCell(
        faces=len(readings),
        found=len(found) / len(readings) if readings else float("nan"),
        gender_right=_mean([r.gender_is_right for r in found]),
        looking=_mean([r.at_camera for r in found]),
        age_error=_mean([abs(error) for error in errors]),
        age_bias=_mean(errors),
        within_ten_years=_mean([abs(error) <= 10 for error in errors]),
        age_confidence=_mean([r.age_confidence for r in aged]),
        age_unknown=_mean([r.age_confidence <= AGE_KNOWN_ABOVE for r in found]),
    )


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
