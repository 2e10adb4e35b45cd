"""The middle of each iris, with MediaPipe's iris net."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onlooker.compute.vision.batches import in_batches
from onlooker.compute.vision.decoding import Picture
from onlooker.compute.vision.landmarks import Landmarks
from onlooker.compute.vision.networks import network
from onlooker.compute.vision.regions import Region, colour_tensor, cut, to_picture

SIZE = 64
REGION_SCALE = 2.3
"""Of the distance between the corners of the eye."""
CORNERS = ((33, 133), (362, 263))
"""Landmarks at the corners of the eye on the left of the picture, and of the one on the right."""


@dataclass(frozen=True)
class Irises:
    """Middles of the irises, in pixels of the picture."""

    left: NDArray[np.float32]
    right: NDArray[np.float32]


def read_irises(picture: Picture, meshes: Sequence[Landmarks]) -> list[Irises]:
    """Both irises of every face, in their order."""
    eyes = [(_region(mesh, corners), side == 1) for mesh in meshes for side, corners in enumerate(CORNERS)]
    middles: list[NDArray[np.float32]] = []
    for batch in in_batches(eyes):
        crops = [_turned(cut(picture, region, SIZE), mirrored=mirrored) for region, mirrored in batch]
        rows = network("iris_landmark").run(colour_tensor(crops, brightest=1))["iris"].reshape(len(batch), 5, 3)
        for row, (region, mirrored) in zip(rows, batch, strict=True):
            x, y = row[0, :2]
            middles.append(to_picture(np.array([SIZE - 1 - x if mirrored else x, y]), region, SIZE))
    return [Irises(left, right) for left, right in zip(middles[::2], middles[1::2], strict=True)]


def _region(mesh: Landmarks, corners: tuple[int, int]) -> Region:
    start, end = mesh.points[list(corners)]
    along, down = end - start
    x, y = (start + end) / 2
    return Region(float(x), float(y), REGION_SCALE * math.hypot(along, down), math.atan2(down, along))


def _turned(crop: Picture, *, mirrored: bool) -> Picture:
    """The net knows one eye; the other is shown to it in a mirror."""
    return crop[:, ::-1] if mirrored else crop
