"""What person nets give: how YOLOX, RT-DETR, D-FINE and NanoDet lay out their outputs."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from onlooker_pipeline.vision.networks import Tensor
from onlooker_pipeline.vision.non_maximum_suppression import Boxes

Candidates = tuple[Boxes, Tensor]
"""Boxes in pixels of the net's input, and the score of each."""


class WrongLayoutError(Exception):
    """The outputs are not those of the layout; the message says what is expected."""


@dataclass(frozen=True)
class OutputLayout:
    """What must be known to read a net's outputs."""

    person_class: int = 0
    classes: int = 80
    strides: tuple[int, ...] = (8, 16, 32)
    cell_centre: float = 0.5
    """Where in its cell a point of the grid lies: 0.5 for NanoDet, 0 for NanoDet-Plus."""
    at_least: float = 0.0
    """Lower scores are left out."""


Decode = Callable[[Mapping[str, Any], OutputLayout, tuple[int, int]], Candidates]
"""From outputs by name, with the width and height of the input."""


def decode_nanodet(outputs: Mapping[str, Any], layout: OutputLayout, size: tuple[int, int]) -> Candidates:
    """Each cell gives the distance to every side as a distribution over bins."""
    grids = [_grid(size, stride) for stride in layout.strides]
    parts = [
        _sides_of_grid(scores, bins, layout, grid)
        for (scores, bins), grid in zip(
            _nanodet_grids(outputs, layout, [len(grid.cells) for grid in grids]), grids, strict=True
        )
    ]
    return np.concatenate([boxes for boxes, _ in parts]), np.concatenate([scores for _, scores in parts])


def _nanodet_grids(
    outputs: Mapping[str, Any], layout: OutputLayout, counts: list[int]
) -> Iterator[tuple[Tensor, Tensor]]:
    """Scores and bins of each grid, from two outputs a grid or from one output with everything in a row."""
    arrays = [np.asarray(output) for output in outputs.values()]
    if len(arrays) == 1:
        (whole,) = arrays
        if whole.ndim != 3 or whole.shape[1] != sum(counts) or whole.shape[2] <= layout.classes:
            raise WrongLayoutError(f"one output of shape [1, {sum(counts)}, {layout.classes} + 4 x bins]")
        for rows in np.split(whole[0], np.cumsum(counts)[:-1]):
            yield rows[:, : layout.classes], rows[:, layout.classes :]
        return
    for count in counts:
        scores = [one for one in arrays if one.shape == (1, count, layout.classes)]
        bins = [one for one in arrays if one.ndim == 3 and one.shape[1] == count and one.shape[2] != layout.classes]
        if len(scores) != 1 or len(bins) != 1:
            raise WrongLayoutError(f"outputs of shape [1, {count}, {layout.classes}] and [1, {count}, 4 x bins]")
        yield scores[0][0], bins[0][0]


@dataclass(frozen=True)
class _Grid:
    """The cells of one stride, row by row."""

    stride: int
    cells: Tensor


@lru_cache(maxsize=32)
def _grid(size: tuple[int, int], stride: int) -> _Grid:
    width, height = size
    columns, rows = np.meshgrid(np.arange(math.ceil(width / stride)), np.arange(math.ceil(height / stride)))
    return _Grid(stride, np.stack([columns.ravel(), rows.ravel()], axis=1).astype(np.float32))


def _sides_of_grid(scores: Tensor, bins: Tensor, layout: OutputLayout, grid: _Grid) -> Candidates:
    person = scores[:, layout.person_class]
    chosen = np.nonzero(person > layout.at_least)[0]
    if bins.shape[1] % 4:
        raise WrongLayoutError(f"four equal shares of bins, not {bins.shape[1]} numbers")
    logits = bins[chosen].reshape(len(chosen), 4, bins.shape[1] // 4)
    weights = np.exp(logits - logits.max(axis=2, keepdims=True))
    numbers = np.arange(logits.shape[2], dtype=np.float32)
    sides = (weights @ numbers) / weights.sum(axis=2) * grid.stride
    middles = (grid.cells[chosen] + layout.cell_centre) * grid.stride
    boxes = np.concatenate([middles - sides[:, :2], middles + sides[:, 2:]], axis=1).astype(np.float32)
    return boxes, person[chosen]


def decode_yolox(outputs: Mapping[str, Any], layout: OutputLayout, size: tuple[int, int]) -> Candidates:
    """Each cell gives the offset of a middle, the logarithms of a width and a height, an objectness and scores."""
    grids = [_grid(size, stride) for stride in layout.strides]
    cells = np.concatenate([grid.cells for grid in grids])
    strides = np.concatenate([np.full((len(grid.cells), 1), grid.stride, np.float32) for grid in grids])
    rows = np.asarray(next(iter(outputs.values())))
    if rows.shape != (1, len(cells), 5 + layout.classes):
        raise WrongLayoutError(f"an output of shape [1, {len(cells)}, 5 + {layout.classes}]")
    scores = rows[0, :, 4] * rows[0, :, 5 + layout.person_class]
    chosen = np.nonzero(scores > layout.at_least)[0]
    found = rows[0, chosen]
    middles = (found[:, :2] + cells[chosen]) * strides[chosen]
    halves = np.exp(np.minimum(found[:, 2:4], 8)) * strides[chosen] / 2
    return np.concatenate([middles - halves, middles + halves], axis=1).astype(np.float32), scores[chosen]


def decode_rt_detr(outputs: Mapping[str, Any], layout: OutputLayout, size: tuple[int, int]) -> Candidates:
    """A list of boxes: with labels and scores, as the authors export it, or with logits, as Transformers does."""
    if {"labels", "boxes", "scores"} <= set(outputs):
        boxes, scores = np.asarray(outputs["boxes"])[0], np.asarray(outputs["scores"])[0]
        chosen = (np.asarray(outputs["labels"])[0] == layout.person_class) & (scores > layout.at_least)
        return boxes[chosen].astype(np.float32), scores[chosen]
    if not {"logits", "pred_boxes"} <= set(outputs):
        raise WrongLayoutError("outputs named labels, boxes and scores, or logits and pred_boxes")
    logits = np.asarray(outputs["logits"])
    if logits.shape[2] <= layout.person_class:
        raise WrongLayoutError(f"logits of more than {layout.person_class} classes")
    scores = 1 / (1 + np.exp(-logits[0, :, layout.person_class]))
    middles_and_sizes = np.asarray(outputs["pred_boxes"])[0] * np.array([*size, *size], np.float32)
    middles, halves = middles_and_sizes[:, :2], middles_and_sizes[:, 2:] / 2
    chosen = scores > layout.at_least
    boxes = np.concatenate([middles - halves, middles + halves], axis=1).astype(np.float32)
    return boxes[chosen], scores[chosen]


LAYOUTS: dict[str, Decode] = {"nanodet": decode_nanodet, "rt-detr": decode_rt_detr, "yolox": decode_yolox}
"""D-FINE has the outputs of RT-DETR."""
