"""From where on pictures show too little of people: limits that doctor, its guide and the map of accuracy share.

`just accuracy-map` measures what becomes of faces found, gender, looking and age as pictures get worse, and fails if a
limit here is looser than what it measured. docs/reference/accuracy.md has its tables.
"""

from __future__ import annotations

import math

SOFT_PX, BLURRED_PX = 1.5, 2.2
"""Blur of the sharpest edges as doctor measures it: ages get worse, ages are guesses."""
NOISY, VERY_NOISY = 5.0, 9.0
"""Standard deviation of the noise in grey levels, in the same way."""
SMALLEST_FACE_PX = 40
"""Height of a face in the picture as it is sent, below which faces are missed and ages are guesses."""
FACE_HEIGHT_M = 0.2
"""Of the box around a grown-up's face: from the chin to the middle of the forehead."""
USUAL_VIEW_DEGREES = 53.0
"""How wide a webcam sees, from the left edge to the right one; assumed where nobody states it."""


def farthest_m(width_px: int, view_degrees: float) -> float:
    """The distance at which a face is SMALLEST_FACE_PX high, in pictures of this width as they are sent."""
    focal_px = width_px / 2 / math.tan(math.radians(view_degrees) / 2)
    return focal_px * FACE_HEIGHT_M / SMALLEST_FACE_PX
