"""Movement between two small grey pictures."""

import cv2
import numpy as np
import pytest

from onlooker.compute.motion.change import Grey
from onlooker.compute.scene.movement import HEIGHT, WIDTH, find_movement, shrink, unexplained
from onlooker.compute.tracking.boxes import Box, contained

SIDES = {"width": 640, "height": 480}


def wall(*, seed: int = 0, noise: float = 2.0, light: int = 120) -> np.ndarray:
    """A grey wall as a camera sees it."""
    grain = np.random.default_rng(seed).normal(light, noise, (480, 640))
    return np.clip(grain, 0, 255).astype(np.uint8)


def with_block(picture: np.ndarray, box: Box, light: int = 200) -> Grey:
    shown = picture.copy()
    cv2.rectangle(shown, (int(box.left), int(box.top)), (int(box.right), int(box.bottom)), light, -1)
    return shrink(shown)


def test_nothing_moves_in_noise() -> None:
    for noise in (0.0, 2.0, 10.0, 30.0):
        before, now = (shrink(wall(seed=seed, noise=noise)) for seed in (1, 2))
        assert find_movement(before, now, **SIDES) == []


@pytest.mark.parametrize("noise", [0.0, 5.0])
def test_what_appears_is_found_where_it_is(noise: float) -> None:
    block = Box(300, 120, 380, 360)
    before, now = shrink(wall(seed=1, noise=noise)), with_block(wall(seed=2, noise=noise), block)
    (found,) = find_movement(before, now, **SIDES)
    assert contained(block, found) > 0.95
    assert tuple(found) == pytest.approx(tuple(block), abs=16)


def test_two_who_move_apart_are_two() -> None:
    shown = wall()
    cv2.rectangle(shown, (50, 100), (120, 300), 200, -1)
    cv2.rectangle(shown, (450, 100), (520, 300), 200, -1)
    assert len(find_movement(shrink(wall()), shrink(shown), **SIDES)) == 2


def test_small_change_is_a_leaf() -> None:
    now = with_block(wall(), Box(300, 120, 308, 128))
    assert find_movement(shrink(wall()), now, **SIDES) == []


def test_lamp_that_is_switched_is_no_movement() -> None:
    assert find_movement(shrink(wall(light=80)), shrink(wall(light=180)), **SIDES) == []
    now = with_block(wall(), Box(0, 0, 640, 400))
    assert find_movement(shrink(wall()), now, **SIDES) == []


def test_picture_kept_until_the_next_is_tiny_and_grey() -> None:
    colour = np.zeros((1080, 1920, 3), np.uint8)
    assert shrink(colour).shape == shrink(wall()).shape == (HEIGHT, WIDTH)
    assert shrink(colour).nbytes < 20_000


def test_movement_of_who_is_followed_is_explained() -> None:
    moved = [Box(100, 100, 200, 300), Box(400, 100, 500, 300)]
    assert unexplained(moved, [Box(90, 80, 210, 400)]) == moved[1:]
    assert unexplained(moved, []) == moved
    assert unexplained(moved, [Box(90, 80, 130, 400)]) == moved
    assert unexplained(moved, [Box(90, 80, 140, 400), Box(140, 80, 210, 400)]) == moved[1:]
