"""Motion detection on a few thousand points of a picture."""

from __future__ import annotations

from typing import Any

from onlooker_client.sources.opencv import load_opencv

cv2 = load_opencv()

COLUMNS = 80
"""Points a row: enough to see an arm at the edge, few enough to cost nothing."""
FOLLOW = 0.15
"""How much of each picture goes into what is taken for still: light that changes slowly is followed."""
LEAST = 9.0
"""Grey levels; a point that differs by more has moved, if the noise is small."""
ABOVE_NOISE = 6.0
"""Times the mean difference: nearly five standard deviations, as the noise of thousands of points must not reach it."""
LEARN = 0.05
POINTS = 4
"""Fewer points than these are flicker."""


class MotionDetector:
    """Compares each picture with what the last seconds looked like."""

    def __init__(self) -> None:
        self._still: Any = None
        self._noise = 0.0
        """Mean difference of a picture in which nothing moves."""

    def see(self, pixels: Any) -> bool:
        """Whether something moved since the picture before; the first one of its size moved."""
        points = _thin_out(pixels)
        if self._still is None or self._still.shape != points.shape:
            self._still = points
            self._noise = LEAST / ABOVE_NOISE
            return True
        change = points - self._still
        brighter = cv2.mean(change)[0]
        change = abs(change - brighter)
        cv2.accumulateWeighted(points, self._still, FOLLOW)
        limit = max(LEAST, ABOVE_NOISE * self._noise)
        self._learn_noise(change, limit)
        _, moved = cv2.threshold(change, limit, 1.0, cv2.THRESH_BINARY)
        return bool(cv2.countNonZero(moved) >= POINTS)

    def _learn_noise(self, change: Any, limit: float) -> None:
        """Points that moved count as if they barely had, so that a crowd is not taken for noise."""
        _, calm = cv2.threshold(change, limit, 0.0, cv2.THRESH_TRUNC)
        self._noise += LEARN * (cv2.mean(calm)[0] - self._noise)


def _thin_out(pixels: Any) -> Any:
    """A small picture in grey, each point the mean of what surrounds it."""
    step = max(1, pixels.shape[1] // COLUMNS)
    points = pixels[::step, ::step]
    if points.ndim == 3:
        points = points[:, :, 1]  # green is nearest to grey
    return cv2.blur(points.astype("float32"), (3, 3))
