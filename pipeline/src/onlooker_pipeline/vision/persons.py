"""Detection of people by their bodies, with NanoDet."""

from dataclasses import dataclass

import numpy as np

from onlooker_pipeline.vision.networks import Tensor, network
from onlooker_pipeline.vision.non_maximum_suppression import Boxes, suppress_overlaps
from onlooker_pipeline.vision.picture import Picture, resized

WIDTH, HEIGHT = 416, 320
CONFIDENCE_AT_LEAST = 0.4
"""The net's scores are low: at 0.5 it misses a third of the people, at 0.35 it finds people who are not there."""
OVERLAP_AT_MOST = 0.6
PERSONS_AT_MOST = 100
STRIDES = (8, 16, 32)
BINS = 11
PERSON = 0
"""Index among the 80 classes of the net."""

_MEAN = np.array([103.53, 116.28, 123.675], np.float32)
_SPREAD = np.array([57.375, 57.12, 58.395], np.float32)


@dataclass(frozen=True)
class PersonBox:
    """Where a body is, in pixels of the picture."""

    left: float
    top: float
    right: float
    bottom: float
    confidence: float


def find_persons(picture: Picture) -> list[PersonBox]:
    """The people of a picture, the most confident first."""
    height, width = picture.shape[:2]
    scale = min(WIDTH / width, HEIGHT / height)
    outputs = list(network("person_detect").run(_tensor(picture, scale)).values())
    parts = [_decode(outputs, stride) for stride in STRIDES]
    boxes, scores = (np.concatenate(members) for members in zip(*parts, strict=True))
    best = suppress_overlaps(boxes, scores, overlap=OVERLAP_AT_MOST, limit=PERSONS_AT_MOST)
    rows = np.column_stack([np.clip(boxes / scale, 0, [width, height, width, height]), scores])
    return [PersonBox(left, top, right, bottom, score) for left, top, right, bottom, score in rows[best].tolist()]


def _tensor(picture: Picture, scale: float) -> Tensor:
    small = resized(picture, scale)
    canvas = np.zeros((HEIGHT, WIDTH, 3), np.float32)
    rows, columns = min(small.shape[0], HEIGHT), min(small.shape[1], WIDTH)
    canvas[:rows, :columns] = small[:rows, :columns, None] if small.ndim == 2 else small[:rows, :columns]
    return np.ascontiguousarray(((canvas - _MEAN) / _SPREAD).transpose(2, 0, 1)[None])


def _decode(outputs: list[Tensor], stride: int) -> tuple[Boxes, Tensor]:
    """Boxes of one grid: each cell gives the distance to every side as a distribution over bins."""
    columns, cells = WIDTH // stride, (WIDTH // stride) * (HEIGHT // stride)
    scores = _with_shape(outputs, (1, cells, 80))[0, :, PERSON]
    chosen = np.nonzero(scores > CONFIDENCE_AT_LEAST)[0]
    bins = _with_shape(outputs, (1, cells, 4 * BINS))[0][chosen].reshape(-1, 4, BINS)
    weights = np.exp(bins - bins.max(axis=2, keepdims=True))
    sides = (weights @ np.arange(BINS, dtype=np.float32)) / weights.sum(axis=2) * stride
    middles = (np.stack([chosen % columns, chosen // columns], axis=1) + 0.5) * stride
    boxes = np.concatenate([middles - sides[:, :2], middles + sides[:, 2:]], axis=1).astype(np.float32)
    return boxes, scores[chosen]


def _with_shape(outputs: list[Tensor], shape: tuple[int, ...]) -> Tensor:
    return next(output for output in outputs if output.shape == shape)
