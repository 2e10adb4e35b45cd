"""A histogram of face sizes: three bins to a doubling, so that counts of any frames can be added and have a median."""

import math
from collections.abc import Sequence

SMALLEST_PX = 10
BINS_PER_DOUBLING = 3
FACE_BINS = 16
"""The first has all that is smaller, the last all from 320 pixels on; 20, 40 and 80 pixels are edges."""


def bin_of(size_px: float) -> int:
    """The bin of a face by its longer side."""
    if size_px < SMALLEST_PX:
        return 0
    # What is left of an edge by a rounding error alone is at the edge.
    return min(int(BINS_PER_DOUBLING * math.log2(size_px / SMALLEST_PX) + 1e-9), FACE_BINS - 1)


def middle_px(number: int) -> float:
    """The geometric middle of a bin: no size in the bin differs from it by more than 13 %."""
    return float(SMALLEST_PX * 2 ** ((number + 0.5) / BINS_PER_DOUBLING))


def median_px(counts: Sequence[float]) -> float | None:
    """The middle of the bin in which the median lies; None without any face."""
    half, below = sum(counts) / 2 * (1 - 1e-9), 0.0  # counts may be weighted, and their sums rounded
    for number, count in enumerate(counts):
        below += count
        if count and below >= half:
            return middle_px(number)
    return None
