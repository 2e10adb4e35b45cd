"""Focus: how wide the sharpest edges of the picture are.

The strongest slopes of a picture are compared at two degrees of smoothing. A sharp edge loses much by the stronger one,
an edge that is blurred already loses little; from the ratio follows the blur that is in the picture, in pixels as they
are sent. Neither contrast nor brightness nor the noise of a sensor changes the ratio much, as they do with the variance
of the Laplacian. docs/guides/doctor.md has the figures behind the limits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onlooker_client.doctor.finding import Finding, bad, good, unchecked, warn
from onlooker_client.sources.opencv import load_opencv

SLIGHT_PX, STRONG_PX = 1.0, 2.5
"""The two degrees of smoothing."""
STRONGEST_SHARE = 99.5
"""Percentile of the slopes that stands for the edges."""
LEAST_SLOPE = 2.5
"""Levels a pixel; below it there is noise, and no edge."""
SOFT_PX, BLURRED_PX = 1.8, 2.8
WIDEST_PX = 20.0


@dataclass(frozen=True)
class Focus:
    """Of some pictures together."""

    blur_px: float
    slope: float
    """Of the strongest edges, in levels a pixel."""


def measure_focus(pictures: Sequence[Any]) -> Focus:
    """`pictures` are grey, in the size in which they are sent; the middle one of the results counts."""
    measured = sorted((_measure(picture) for picture in pictures), key=lambda focus: focus.blur_px)
    return measured[len(measured) // 2]


def judge_focus(focus: Focus, *, is_dark: bool) -> Finding:
    if is_dark:
        return unchecked("it is too dark to tell")
    figure = f"(edges blurred by {focus.blur_px:.1f} pixels)"
    turn = "Turn the focus ring until the picture is sharp, and clean the lens. Then run doctor again."
    if focus.slope < LEAST_SLOPE:
        return warn("nothing with an edge is in view", f"Point the camera at the scene. If it is: {turn}")
    if focus.blur_px > BLURRED_PX:
        return bad(f"out of focus {figure}", turn)
    if focus.blur_px > SOFT_PX:
        return warn(f"a little soft {figure}", turn)
    return good(f"sharp {figure}")


def _measure(picture: Any) -> Focus:
    slight, strong = _slope(picture, SLIGHT_PX), _slope(picture, STRONG_PX)
    ratio = (slight / max(strong, 1e-3)) ** 2
    if ratio <= 1.0:
        return Focus(WIDEST_PX, slight)
    blur = math.sqrt(max(STRONG_PX**2 - ratio * SLIGHT_PX**2, 0.0) / (ratio - 1.0))
    return Focus(min(blur, WIDEST_PX), slight)


def _slope(picture: Any, smoothing_px: float) -> float:
    import numpy as np

    cv2 = load_opencv()
    smooth = cv2.GaussianBlur(picture.astype(np.float32), (0, 0), smoothing_px)
    across, down = cv2.Sobel(smooth, cv2.CV_32F, 1, 0), cv2.Sobel(smooth, cv2.CV_32F, 0, 1)
    return float(np.percentile(np.hypot(across, down) / 8.0, STRONGEST_SHARE))
