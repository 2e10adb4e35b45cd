"""People are searched at a second, smaller size where a large one may be, and a mere hint is nobody."""

import math
from typing import Any

import numpy as np
import pytest

from onlooker_pipeline.vision import person_model
from onlooker_pipeline.vision.person_model import CONFIDENCE_AT_LEAST
from onlooker_pipeline.vision.persons import HINT_FROM, LARGE_PX, PersonBox, find_persons

Found = tuple[tuple[float, float, float, float], float]
"""Left, top, right, bottom in pixels of the picture, and a score."""

FRAME = np.full((480, 640), 120, np.uint8)
WIDE_FRAME = np.full((360, 640), 120, np.uint8)
SMALL: Found = ((100, 100, 130, 190), 0.6)
LARGE: Found = ((300, 100, 420, 420), 0.5)
BINS = 11


class StubNetwork:
    """Answers as NanoDet would that finds these people: by the width of its input."""

    input_shapes = {"input": [1, 3, "H", "W"]}

    def __init__(self, found: dict[int, list[Found]]) -> None:
        self._found = found
        self.sizes: list[tuple[int, int]] = []

    def run(self, tensor: np.ndarray, others: Any = None) -> dict[str, np.ndarray]:
        assert others is None
        height, width = tensor.shape[2:]
        self.sizes.append((width, height))
        outputs = {}
        for stride in (8, 16, 32):
            columns, cells = width // stride, (width // stride) * (height // stride)
            scores = np.zeros((1, cells, 80), np.float32)
            bins = np.zeros((1, cells, 4 * BINS), np.float32)
            for box, score in self._found[width] if stride == 32 else []:
                left, top, right, bottom = (value * width / 640 / stride for value in box)
                column, row = int((left + right) / 2), int((top + bottom) / 2)
                x, y = column + 0.5, row + 0.5
                scores[0, row * columns + column, 0] = score
                bins[0, row * columns + column] = [
                    value for side in (x - left, y - top, right - x, bottom - y) for value in logits_of(side)
                ]
            outputs |= {f"scores_{stride}": scores, f"distances_{stride}": bins}
        return outputs


def logits_of(side: float) -> list[float]:
    """A distribution over bins whose mean is this side: over the two bins beside it."""
    shares = [max(1 - abs(side - number), 1e-12) for number in range(BINS)]
    return [math.log(share) for share in shares]


def staged(monkeypatch: pytest.MonkeyPatch, at_full: list[Found], at_smaller: list[Found]) -> StubNetwork:
    net = StubNetwork({416: at_full, 256: at_smaller})
    monkeypatch.setattr(person_model, "network", lambda _: net)
    return net


def corners(person: PersonBox) -> tuple[float, float, float, float]:
    return person.left, person.top, person.right, person.bottom


def test_small_people_need_one_search(monkeypatch: pytest.MonkeyPatch) -> None:
    net = staged(monkeypatch, [SMALL], [LARGE])
    (person,) = find_persons(FRAME)
    assert corners(person) == pytest.approx(SMALL[0], abs=0.5)
    assert person.confidence == pytest.approx(SMALL[1])
    assert net.sizes == [(416, 320)]


def test_a_hint_of_somebody_large_is_looked_at_in_a_smaller_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    hint = (LARGE[0], HINT_FROM + 0.01)
    net = staged(monkeypatch, [SMALL, hint], [LARGE])
    small, large = find_persons(FRAME)
    assert corners(small) == pytest.approx(SMALL[0], abs=0.5)
    assert corners(large) == pytest.approx(LARGE[0], abs=0.5)
    assert net.sizes == [(416, 320), (256, 192)]


def test_small_people_of_the_smaller_picture_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    staged(monkeypatch, [LARGE], [LARGE, (SMALL[0], 0.9)])
    (person,) = find_persons(FRAME)
    assert corners(person) == pytest.approx(LARGE[0], abs=0.5)


def test_somebody_found_at_both_sizes_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    nearly = (305, 104, 424, 424)
    staged(monkeypatch, [LARGE], [(nearly, 0.7)])
    (person,) = find_persons(FRAME)
    assert corners(person) == pytest.approx(nearly, abs=0.5)


@pytest.mark.parametrize(("height_px", "searches"), [(LARGE_PX - 2, 1), (LARGE_PX + 2, 2)])
def test_large_means_the_same_in_pictures_of_any_size(
    monkeypatch: pytest.MonkeyPatch, height_px: float, searches: int
) -> None:
    """In pixels of the net's input, not of the picture."""
    net = staged(monkeypatch, [((300, 100, 360, 100 + height_px * 640 / 416), 0.6)], [])
    find_persons(np.full((960, 1280), 120, np.uint8))
    assert len(net.sizes) == searches


def test_a_wide_picture_costs_no_more_than_it_covers(monkeypatch: pytest.MonkeyPatch) -> None:
    net = staged(monkeypatch, [LARGE], [LARGE])
    find_persons(WIDE_FRAME)
    assert net.sizes == [(416, 256), (256, 160)]


def test_a_mere_hint_is_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    staged(monkeypatch, [SMALL, ((200, 100, 230, 190), (HINT_FROM + CONFIDENCE_AT_LEAST) / 2)], [])
    (person,) = find_persons(FRAME)
    assert corners(person) == pytest.approx(SMALL[0], abs=0.5)
