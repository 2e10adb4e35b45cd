"""Face detection with YuNet: a box, five points and a confidence each."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onlooker_pipeline.vision.networks import Tensor, network
from onlooker_pipeline.vision.non_maximum_suppression import Boxes, suppress_overlaps
from onlooker_pipeline.vision.picture import Picture, resized

CONFIDENCE_AT_LEAST = 0.65
"""Any lower, shelves become faces; any higher, tilted heads are missed."""
OVERLAP_AT_MOST = 0.3
FACES_AT_MOST = 100
STRIDES = (8, 16, 32)
FRAME = (640, 480)
"""The usual frame of a camera. The net finds faces of about 10 to 450 pixels."""
PHOTOGRAPH_PIXELS = 1_920_000
"""Larger pictures are searched twice: at FRAME for large faces, and at up to this many pixels for small ones."""
PHOTOGRAPH_SIDE = 2_560
"""A strip a million pixels long would be padded to thirty times its size."""

Points = NDArray[np.float32]


@dataclass(frozen=True)
class Face:
    """Where a face is, in pixels of the picture."""

    left: float
    top: float
    right: float
    bottom: float
    confidence: float
    points: Points
    """Eye, eye, nose, mouth corner, mouth corner; of each pair the one on the left of the picture first."""

    @property
    def size_px(self) -> float:
        """Its longer side."""
        return max(self.right - self.left, self.bottom - self.top)

    @property
    def centre(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    @property
    def tilt_radians(self) -> float:
        """Angle of the line from eye to eye."""
        along, down = self.points[1] - self.points[0]
        return math.atan2(down, along)


def find_faces(picture: Picture, *, at_least: float = CONFIDENCE_AT_LEAST) -> list[Face]:
    """The faces of a picture, the most confident first."""
    found = [_look(picture, scale, at_least) for scale in _scales(picture)]
    boxes = np.concatenate([boxes for boxes, _, _ in found])
    scores = np.concatenate([scores for _, scores, _ in found])
    points = np.concatenate([points for _, _, points in found])
    best = suppress_overlaps(boxes, scores, overlap=OVERLAP_AT_MOST, limit=FACES_AT_MOST)
    return [_face(boxes[i], float(scores[i]), points[i]) for i in best]


def _face(box: Boxes, confidence: float, points: Points) -> Face:
    left, top, right, bottom = box.tolist()
    return Face(left, top, right, bottom, confidence, points)


def _scales(picture: Picture) -> list[float]:
    height, width = picture.shape[:2]
    frame = min(FRAME[0] / width, FRAME[1] / height)
    if frame >= 1:
        return [1.0]
    photograph = min(1.0, math.sqrt(PHOTOGRAPH_PIXELS / (width * height)), PHOTOGRAPH_SIDE / max(width, height))
    return [frame] if photograph < frame * 1.1 else [frame, photograph]


def _look(picture: Picture, scale: float, at_least: float) -> tuple[Boxes, Tensor, Points]:
    """Boxes, confidences and points of what the net finds in the picture at one scale."""
    if scale != 1:
        picture = resized(picture, scale)
    tensor = _tensor(picture)
    outputs = network("face_detect").run(tensor)
    columns = tensor.shape[3]
    parts = [_decode(outputs, stride, columns // stride, at_least) for stride in STRIDES]
    boxes, scores, points = (np.concatenate(members) for members in zip(*parts, strict=True))
    boxes /= scale
    points /= scale
    return boxes, scores, points


def _tensor(picture: Picture) -> Tensor:
    """Blue, green and red planes from 0 to 255, padded to whole cells of the coarsest grid."""
    height, width = picture.shape[:2]
    cell = STRIDES[-1]
    tensor = np.zeros((1, 3, -(-height // cell) * cell, -(-width // cell) * cell), np.float32)
    tensor[0, :, :height, :width] = picture if picture.ndim == 2 else picture.transpose(2, 0, 1)
    return tensor


def _decode(outputs: dict[str, Tensor], stride: int, columns: int, at_least: float) -> tuple[Boxes, Tensor, Points]:
    squares = (outputs[f"cls_{stride}"] * outputs[f"obj_{stride}"])[0, :, 0]
    chosen = np.nonzero(squares > at_least**2)[0]
    scores = np.sqrt(np.minimum(squares[chosen], 1))
    cells = np.stack([chosen % columns, chosen // columns], axis=1).astype(np.float32)
    boxes = outputs[f"bbox_{stride}"][0][chosen]
    centres = (boxes[:, :2] + cells) * stride
    halves = np.exp(np.minimum(boxes[:, 2:], 8)) * stride / 2
    points = (outputs[f"kps_{stride}"][0][chosen].reshape(-1, 5, 2) + cells[:, None]) * stride
    return np.concatenate([centres - halves, centres + halves], axis=1), scores, points
