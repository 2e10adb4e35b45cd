"""Outputs of person nets are read as their authors' own code reads them, cell by cell."""

import math
from collections.abc import Iterator

import numpy as np
import pytest

from onlooker_pipeline.vision.person_layouts import (
    OutputLayout,
    WrongLayoutError,
    decode_nanodet,
    decode_rt_detr,
    decode_yolox,
)

SIZE = WIDTH, HEIGHT = 96, 64
CLASSES = 3
Row = tuple[float, ...]


def cells(strides: tuple[int, ...]) -> Iterator[tuple[int, int, int]]:
    """Column, row and stride of every cell, in the order in which nets give them."""
    for stride in strides:
        for row in range(math.ceil(HEIGHT / stride)):
            for column in range(math.ceil(WIDTH / stride)):
                yield column, row, stride


def probabilities(count: int, *, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((1, count, CLASSES)).astype(np.float32)


def normal(*shape: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def expected_side(logits: np.ndarray) -> float:
    shares = [math.exp(value) for value in logits.tolist()]
    return sum(number * share for number, share in enumerate(shares)) / sum(shares)


def nanodet_oracle(scores: np.ndarray, bins: np.ndarray, layout: OutputLayout) -> list[Row]:
    rows = []
    for index, (column, row, stride) in enumerate(cells(layout.strides)):
        score = float(scores[0, index, layout.person_class])
        if score > layout.at_least:
            left, top, right, bottom = (stride * expected_side(side) for side in bins[0, index].reshape(4, -1))
            x, y = (column + layout.cell_centre) * stride, (row + layout.cell_centre) * stride
            rows.append((x - left, y - top, x + right, y + bottom, score))
    return rows


@pytest.mark.parametrize(
    ("strides", "bins", "cell_centre"),
    [((8, 16, 32), 11, 0.5), ((8, 16, 32), 8, 0.5), ((8, 16, 32, 64), 8, 0.0)],
    ids=["NanoDet-g", "NanoDet-m", "NanoDet-Plus"],
)
@pytest.mark.parametrize("in_one_output", [True, False])
def test_nanodet(strides: tuple[int, ...], bins: int, cell_centre: float, in_one_output: bool) -> None:
    count = len(list(cells(strides)))
    scores, logits = probabilities(count, seed=1), normal(1, count, 4 * bins, seed=2)
    layout = OutputLayout(1, CLASSES, strides, cell_centre, at_least=0.6)
    if in_one_output:
        outputs = {"output": np.concatenate([scores, logits], axis=2)}
    else:
        edges = np.cumsum([sum(stride == one for _, _, stride in cells(strides)) for one in strides])[:-1]
        parts = [*np.split(scores, edges, axis=1), *np.split(logits, edges, axis=1)]
        outputs = {f"output_{number}": part for number, part in enumerate(parts)}
    boxes, found = decode_nanodet(outputs, layout, SIZE)
    expected = nanodet_oracle(scores, logits, layout)
    assert 0 < len(expected) < count
    np.testing.assert_allclose(np.column_stack([boxes, found]), expected, rtol=1e-4, atol=1e-3)


def test_yolox() -> None:
    layout = OutputLayout(2, CLASSES, (8, 16, 32), at_least=0.3)
    count = len(list(cells(layout.strides)))
    places = normal(1, count, 4, seed=3)
    objectness, scores = probabilities(count, seed=4)[:, :, :1], probabilities(count, seed=5)
    expected = []
    for index, (column, row, stride) in enumerate(cells(layout.strides)):
        across, down, wide, high = places[0, index].tolist()
        score = float(objectness[0, index, 0]) * float(scores[0, index, 2])
        if score > layout.at_least:
            x, y = (column + across) * stride, (row + down) * stride
            width, height = math.exp(wide) * stride, math.exp(high) * stride
            expected.append((x - width / 2, y - height / 2, x + width / 2, y + height / 2, score))
    outputs = {"output": np.concatenate([places, objectness, scores], axis=2)}
    boxes, found = decode_yolox(outputs, layout, SIZE)
    assert 0 < len(expected) < count
    np.testing.assert_allclose(np.column_stack([boxes, found]), expected, rtol=1e-4, atol=1e-3)


def test_rt_detr_as_its_authors_export_it() -> None:
    layout = OutputLayout(person_class=1, at_least=0.4)
    boxes = normal(1, 50, 4, seed=6)
    scores = np.random.default_rng(7).random((1, 50)).astype(np.float32)
    labels = np.random.default_rng(8).integers(0, 3, (1, 50))
    expected = [
        (*boxes[0, index].tolist(), float(scores[0, index]))
        for index in range(50)
        if labels[0, index] == 1 and scores[0, index] > 0.4
    ]
    decoded, found = decode_rt_detr({"labels": labels, "boxes": boxes, "scores": scores}, layout, SIZE)
    assert 0 < len(expected) < 50
    np.testing.assert_allclose(np.column_stack([decoded, found]), expected, rtol=1e-6)


def test_rt_detr_as_transformers_exports_it() -> None:
    layout = OutputLayout(person_class=0, at_least=0.4)
    logits, shares = normal(1, 50, CLASSES, seed=9), np.random.default_rng(10).random((1, 50, 4)).astype(np.float32)
    expected = []
    for index in range(50):
        score = 1 / (1 + math.exp(-float(logits[0, index, 0])))
        x, y, width, height = shares[0, index].tolist()
        if score > layout.at_least:
            left, top = (x - width / 2) * WIDTH, (y - height / 2) * HEIGHT
            expected.append((left, top, left + width * WIDTH, top + height * HEIGHT, score))
    decoded, found = decode_rt_detr({"logits": logits, "pred_boxes": shares}, layout, SIZE)
    assert 0 < len(expected) < 50
    np.testing.assert_allclose(np.column_stack([decoded, found]), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("decode", "outputs", "expected"),
    [
        (
            decode_nanodet,
            {"output": np.zeros((1, 5, 12), np.float32)},
            r"one output of shape \[1, 126, 3 \+ 4 x bins\]",
        ),
        (decode_nanodet, {"a": np.zeros((1, 96, 3), np.float32), "b": np.zeros(3)}, r"outputs of shape \[1, 96, 3\]"),
        (decode_nanodet, {"output": np.zeros((1, 126, 9), np.float32)}, "four equal shares of bins, not 6"),
        (decode_yolox, {"output": np.zeros((1, 126, 85), np.float32)}, r"an output of shape \[1, 126, 5 \+ 3\]"),
        (decode_rt_detr, {"output": np.zeros((1, 126, 8), np.float32)}, "outputs named labels, boxes and scores"),
    ],
)
def test_other_outputs_are_refused_with_what_is_expected(decode: object, outputs: object, expected: str) -> None:
    with pytest.raises(WrongLayoutError, match=expected):
        decode(outputs, OutputLayout(classes=CLASSES), SIZE)  # type: ignore[operator]
