"""Rectangles as rows of left, top, right, bottom."""

import numpy as np
from numpy.typing import NDArray

Boxes = NDArray[np.float32]


def overlaps(box: Boxes, others: Boxes) -> NDArray[np.float32]:
    """Intersection over union of one box with each of the others."""
    left_top = np.maximum(box[:2], others[:, :2])
    right_bottom = np.minimum(box[2:], others[:, 2:])
    shared = np.prod(np.maximum(right_bottom - left_top, 0), axis=1)
    areas = np.prod(others[:, 2:] - others[:, :2], axis=1)
    union = np.prod(box[2:] - box[:2]) + areas - shared
    return np.asarray(shared / np.maximum(union, 1e-9), np.float32)


def keep_best(boxes: Boxes, scores: NDArray[np.float32], *, overlap: float, limit: int) -> list[int]:
    """Indices of the best boxes, best first, none of which overlaps a better one by more than `overlap`."""
    kept: list[int] = []
    left = np.argsort(-scores, kind="stable")
    while len(left) and len(kept) < limit:
        best = int(left[0])
        kept.append(best)
        left = left[1:][overlaps(boxes[best], boxes[left[1:]]) <= overlap]
    return kept
