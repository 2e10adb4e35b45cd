"""Generates pictures, or a video, of a person who passes a shelf: the astronaut, cut out of her photograph."""

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from onlooker_pipeline.vision.picture import Picture, as_picture, decode_picture

STEPS = 4
STEP_PX = 76
"""How far she moves to the right from picture to picture."""
START_PX = 14
SCALE = 0.8
WIDTH, HEIGHT = 640, 480
FPS = 10
WALKS_S, STANDS_S = 2.0, 5.0
"""In the video she walks in, stands in front of the camera, and walks out."""
PHOTOGRAPH = Path(__file__).resolve().parent / "pictures/astronaut.jpg"

_WALL, _BOARD = (222, 228, 232), (130, 150, 165)
_BOARDS = (140, 290, 440)
"""Rows at which the boards begin."""
_BUST = (330, 370)
"""Rows and columns of the photograph that show her."""
_HEAD_AT_MOST, _HEAD_AT_LEAST = ((212, 92), (74, 84)), ((210, 88), (60, 66))
_BODY_AT_MOST = [
    [100, 165],
    [150, 135],
    [250, 135],
    [300, 200],
    [345, 260],
    [358, 330],
    [10, 330],
    [25, 275],
    [60, 235],
]
_BODY_AT_LEAST = [
    [115, 185],
    [160, 160],
    [250, 160],
    [285, 220],
    [320, 270],
    [335, 330],
    [45, 330],
    [60, 280],
    [90, 240],
]


def pass_by(photograph: bytes) -> Iterator[Picture]:
    """The view of a camera that points at the shelf."""
    cut_out = _cut_out(photograph)
    for step in range(STEPS):
        yield _before_shelf(*cut_out, START_PX + step * STEP_PX)


def stop_by(photograph: bytes) -> Iterator[Picture]:
    """The same view, ten times a second, while she comes, stays for a while and leaves."""
    cut_out = _cut_out(photograph)
    width = cut_out[1].shape[1]
    middle = (WIDTH - width) / 2
    for number in range(round(FPS * (2 * WALKS_S + STANDS_S)) + FPS):
        seconds = number / FPS
        walked = min(seconds / WALKS_S, 1.0) + max((seconds - WALKS_S - STANDS_S) / WALKS_S, 0.0)
        swaying = 2 * math.sin(seconds)
        yield _before_shelf(*cut_out, round(-width + walked * (middle + width) + swaying))


def _before_shelf(somebody: NDArray[np.float32], opacity: NDArray[np.float32], left: int) -> Picture:
    """The part of her that is in view."""
    picture = _shelf()
    height, width = opacity.shape[:2]
    shown = slice(max(-left, 0), max(min(width, WIDTH - left), 0))
    part = picture[HEIGHT - height :, max(left, 0) : max(left + width, 0)]
    part[:] = part * (1 - opacity[:, shown]) + somebody[:, shown] * opacity[:, shown]
    return picture


def _shelf() -> Picture:
    """Three boards with goods of all sizes, always the same."""
    dice = np.random.default_rng(3)
    shelf = np.full((HEIGHT, WIDTH, 3), _WALL, np.uint8)
    for board in _BOARDS:
        left = 16
        while left < WIDTH - 40:
            width, height = (int(dice.integers(*limits)) for limits in ((18, 46), (50, 104)))
            colour = [int(value) for value in dice.integers(165, 225, 3)]
            shelf[board - height : board, left : left + width] = colour
            shelf[board - height // 2 : board - height // 4, left + 4 : left + width - 4] = _WALL
            left += width + int(dice.integers(2, 14))
        shelf[board : board + 10] = _BOARD
    return shelf


def _cut_out(photograph: bytes) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Her pixels, and the opacity of each, from 0 to 1."""
    rows, columns = _BUST
    picture = decode_picture(photograph)[:rows, :columns].copy()
    mask: Any = np.full((rows, columns), cv2.GC_BGD, np.uint8)
    cv2.ellipse(mask, *_HEAD_AT_MOST, 0, 0, 360, (cv2.GC_PR_BGD,), cv2.FILLED)
    cv2.fillPoly(mask, [np.array(_BODY_AT_MOST)], (cv2.GC_PR_FGD,))
    cv2.ellipse(mask, *_HEAD_AT_LEAST, 0, 0, 360, (cv2.GC_FGD,), cv2.FILLED)
    cv2.fillPoly(mask, [np.array(_BODY_AT_LEAST)], (cv2.GC_FGD,))
    cv2.grabCut(picture, mask, (0, 0, 0, 0), np.zeros((1, 65)), np.zeros((1, 65)), 5, cv2.GC_INIT_WITH_MASK)
    hers = np.isin(mask, (cv2.GC_FGD, cv2.GC_PR_FGD)).astype(np.float32)
    opacity = as_picture(cv2.GaussianBlur(hers, (0, 0), 1.2))
    small = [cv2.resize(plane, None, fx=SCALE, fy=SCALE, interpolation=cv2.INTER_AREA) for plane in (picture, opacity)]
    return small[0].astype(np.float32), small[1].astype(np.float32)[:, :, None]


def main(path: str) -> None:
    video = cv2.VideoWriter(path, cv2.VideoWriter.fourcc(*"mp4v"), FPS, (WIDTH, HEIGHT))
    for picture in stop_by(PHOTOGRAPH.read_bytes()):
        video.write(picture)
    video.release()


if __name__ == "__main__":
    main(sys.argv[1])
