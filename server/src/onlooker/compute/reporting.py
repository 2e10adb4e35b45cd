"""How a result says what was found: pixels as whole numbers, all else to four places."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlooker.compute.vision.decoding import Picture
from onlooker.compute.vision.faces import Face

DECIMALS = 4
UNKNOWN_AGE, UNKNOWN_GENDER = 0.0, "unknown"
"""With confidence 0: historic programs format the number and the word without asking."""


def report_faces(picture: Picture, faces: Sequence[Face], more: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """The result of a service that finds faces; `more` has what it says of each."""
    height, width = picture.shape[:2]
    reports = [
        {"roi": _roi(face, width, height), "roi_confidence": rounded(face.confidence), **members}
        for face, members in zip(faces, more or [{}] * len(faces), strict=True)
    ]
    return {"input_size": [height, width], "nb_faces": len(reports), "faces": reports}


def rounded(value: float) -> float:
    return round(float(value), DECIMALS)


def point(xy: NDArray[np.float32]) -> list[int]:
    x, y = xy
    return [round(float(x)), round(float(y))]


def _roi(face: Face, width: int, height: int) -> list[int]:
    """Left, top, width, height; the part of it that lies in the picture."""
    left, top = max(0, round(face.left)), max(0, round(face.top))
    right, bottom = min(width, round(face.right)), min(height, round(face.bottom))
    return [left, top, max(right - left, 0), max(bottom - top, 0)]
