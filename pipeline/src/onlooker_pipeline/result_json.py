"""How results are written: pixels as whole numbers, everything else to four decimals."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlooker_pipeline.vision.faces import Face
from onlooker_pipeline.vision.picture import Picture

DECIMALS = 4
UNKNOWN_AGE, UNKNOWN_GENDER = 0.0, "unknown"
"""With confidence 0: historic programs format the number and the word without a check."""


def describe_faces(picture: Picture, faces: Sequence[Face], more: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """The result of a service that finds faces; `more` has further members for each."""
    height, width = picture.shape[:2]
    reports = [
        {"roi": _roi(face, width, height), "roi_confidence": rounded(face.confidence), **members}
        for face, members in zip(faces, more or [{}] * len(faces), strict=True)
    ]
    return {"input_size": [height, width], "nb_faces": len(reports), "faces": reports}


def rounded(value: float) -> float:
    return round(float(value), DECIMALS)


def describe_point(xy: NDArray[np.float32]) -> list[int]:
    x, y = xy
    return [round(float(x)), round(float(y))]


def _roi(face: Face, width: int, height: int) -> list[int]:
    """Left, top, width and height of the part that lies in the picture."""
    left, top = max(0, round(face.left)), max(0, round(face.top))
    right, bottom = min(width, round(face.right)), min(height, round(face.bottom))
    return [left, top, max(right - left, 0), max(bottom - top, 0)]
