"""Non-maximum suppression: of boxes that overlap, only the best stays."""

import cv2
import numpy as np
from numpy.typing import NDArray

Boxes = NDArray[np.float32]
"""Rows of left, top, right, bottom."""


def suppress_overlaps(boxes: Boxes, scores: NDArray[np.float32], *, overlap: float, limit: int) -> list[int]:
    """Indices of the best boxes, best first, none of which overlaps a better one by more than `overlap`."""
    corners_and_sizes = np.column_stack([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]]).astype(float)
    kept = cv2.dnn.NMSBoxes(corners_and_sizes.tolist(), scores.tolist(), score_threshold=0.0, nms_threshold=overlap)
    return [int(index) for index in np.ravel(kept)[:limit]]
