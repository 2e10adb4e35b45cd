"""What goes wrong in front of a camera and in it: pictures as they look then. Grey, of the size they were."""

from collections.abc import Callable
from typing import Any

import cv2
import numpy as np

from onlooker_pipeline.service_call import PictureFault

Change = Callable[[Any, np.random.Generator], Any]
"""From a healthy picture to what the camera shows instead."""


def _noisy(pixels: Any, dice: np.random.Generator, noise: float) -> Any:
    return np.clip(np.round(pixels + dice.normal(0, noise, pixels.shape)), 0, 255).astype(np.uint8)


def blacken(picture: Any, dice: np.random.Generator) -> Any:
    return _noisy(np.zeros(picture.shape, np.float32), dice, 1.5)


def cover_with_hand(picture: Any, dice: np.random.Generator) -> Any:
    """Skin out of focus: light leaks in from one side, and the hand is never quite still."""
    height, width = picture.shape
    across, down = np.meshgrid(np.linspace(0, 1, width), np.linspace(0, 1, height))
    leak = dice.uniform(0.9, 1.1)
    return _noisy((35 + 45 * leak * across**2 + 15 * down).astype(np.float32), dice, 3.0)


def cover_with_tape(picture: Any, dice: np.random.Generator) -> Any:
    return _noisy(np.full(picture.shape, 52.0, np.float32), dice, 3.0)


def darken(picture: Any, dice: np.random.Generator) -> Any:
    """Night without a lamp: a thirtieth of the light, and the sensor's own noise."""
    return _noisy(picture * np.float32(1 / 30), dice, 2.0)


def overexpose(picture: Any, dice: np.random.Generator) -> Any:
    return _noisy(np.minimum(picture * np.float32(5.0) + 60, 255), dice, 1.0)


def blur(picture: Any, dice: np.random.Generator) -> Any:
    """Out of focus by a hundredth of the picture's width."""
    return _noisy(cv2.GaussianBlur(picture, (0, 0), picture.shape[1] / 100).astype(np.float32), dice, 2.0)


def turn(picture: Any, dice: np.random.Generator) -> Any:
    """The view from two fifths of the picture further to the side."""
    height, width = picture.shape
    matrix = np.array([[1, 0, -0.4 * width], [0, 1, 0.08 * height]], np.float32)
    return cv2.warpAffine(picture, matrix, (width, height), borderMode=cv2.BORDER_REFLECT_101)


def dim(picture: Any, dice: np.random.Generator) -> Any:
    """A healthy night: a sixth of the light, in which people are still found."""
    return _noisy(picture * np.float32(1 / 6), dice, 3.0)


CHANGES: dict[str, tuple[PictureFault, Change]] = {
    "black": (PictureFault.BLACK, blacken),
    "hand": (PictureFault.COVERED, cover_with_hand),
    "tape": (PictureFault.COVERED, cover_with_tape),
    "dark": (PictureFault.DARK, darken),
    "overexposed": (PictureFault.OVEREXPOSED, overexpose),
    "blurred": (PictureFault.BLURRED, blur),
    "moved": (PictureFault.MOVED, turn),
}
"""By what happens; `frozen` is no change of a picture, but of when it changes."""
