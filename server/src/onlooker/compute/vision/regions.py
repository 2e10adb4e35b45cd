"""Square regions of a picture, turned upright: cut out for a net, and points in them carried back."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from onlooker.compute.vision.decoding import Picture, as_picture, resized
from onlooker.compute.vision.networks import Tensor

Points = NDArray[np.float32]


@dataclass(frozen=True)
class Region:
    """A square of the picture: its middle, its side and the angle it is turned by."""

    x: float
    y: float
    side_px: float
    tilt_radians: float

    def matrix(self, size: int) -> NDArray[np.float64]:
        """From a crop of `size` x `size` pixels to the picture."""
        scale = self.side_px / size
        cosine, sine = scale * math.cos(self.tilt_radians), scale * math.sin(self.tilt_radians)
        half = size / 2
        return np.array(
            [
                [cosine, -sine, self.x - (cosine - sine) * half],
                [sine, cosine, self.y - (sine + cosine) * half],
            ]
        )


def cut(picture: Picture, region: Region, size: int) -> Picture:
    """The region as an upright picture of `size` x `size` pixels; black beyond the edge."""
    shrink = int(region.side_px / size)
    if shrink >= 2:
        picture, region = _shrunk(picture, region, shrink)
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return as_picture(cv2.warpAffine(picture, region.matrix(size), (size, size), flags=flags))


def _shrunk(picture: Picture, region: Region, shrink: int) -> tuple[Picture, Region]:
    """The part around a large region, each pixel the mean of those it stands for: skipped pixels would be noise."""
    reach = region.side_px * math.sqrt(0.5) + shrink
    left, top = max(int(region.x - reach), 0), max(int(region.y - reach), 0)
    part = picture[top : max(int(region.y + reach), 0), left : max(int(region.x + reach), 0)]
    part = part[: part.shape[0] // shrink * shrink, : part.shape[1] // shrink * shrink]
    if not part.size:
        return picture, region
    x, y = ((middle + 0.5) / shrink - 0.5 for middle in (region.x - left, region.y - top))
    return resized(part, 1 / shrink), Region(x, y, region.side_px / shrink, region.tilt_radians)


def to_picture(points: Points, region: Region, size: int) -> Points:
    """Points of a crop in pixels of the picture."""
    matrix = region.matrix(size)
    return np.asarray(points @ matrix[:, :2].T + matrix[:, 2], np.float32)


def colour_tensor(crops: Sequence[Picture], *, brightest: float = 255) -> Tensor:
    """Crops as one batch of red, green, blue from 0 to `brightest`, channels last; grey has all three alike."""
    height, width = crops[0].shape[:2]
    tensor = np.empty((len(crops), height, width, 3), np.float32)
    for row, crop in zip(tensor, crops, strict=True):
        # OpenCV spreads grey over the channels ten times as fast as NumPy does.
        colours = cv2.cvtColor(crop, cv2.COLOR_GRAY2RGB if crop.ndim == 2 else cv2.COLOR_BGR2RGB)
        np.multiply(colours, np.float32(brightest / 255), out=row, dtype=np.float32)
    return tensor
