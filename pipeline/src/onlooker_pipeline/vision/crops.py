"""Square crops for the nets: cut upright, in batches, with mirror images; and their points mapped back."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from onlooker_pipeline.vision.networks import Tensor
from onlooker_pipeline.vision.picture import Picture, as_picture, resized

Points = NDArray[np.float32]
Item = TypeVar("Item")
BATCH = 16


@dataclass(frozen=True)
class Region:
    """A square of the picture: its centre, side and rotation."""

    x: float
    y: float
    side_px: float
    tilt_radians: float

    def matrix(self, size: int) -> NDArray[np.float64]:
        """Maps a crop of `size` x `size` pixels to the picture."""
        scale = self.side_px / size
        cosine, sine = scale * math.cos(self.tilt_radians), scale * math.sin(self.tilt_radians)
        half = size / 2
        return np.array(
            [
                [cosine, -sine, self.x - (cosine - sine) * half],
                [sine, cosine, self.y - (sine + cosine) * half],
            ]
        )


def cut_region(picture: Picture, region: Region, size: int) -> Picture:
    """The region as an upright picture of `size` x `size` pixels; black beyond the edge."""
    shrink = int(region.side_px / size)
    if shrink >= 2:
        picture, region = _shrunk(picture, region, shrink)
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return as_picture(cv2.warpAffine(picture, region.matrix(size), (size, size), flags=flags))


def _shrunk(picture: Picture, region: Region, shrink: int) -> tuple[Picture, Region]:
    """The part around a large region, scaled down by averaging: skipping pixels would add noise."""
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
    """Crops as one batch of red, green, blue from 0 to `brightest`, channels last; grey is repeated in all three."""
    height, width = crops[0].shape[:2]
    tensor = np.empty((len(crops), height, width, 3), np.float32)
    for row, crop in zip(tensor, crops, strict=True):
        # For grey, OpenCV is ten times as fast as NumPy.
        colours = cv2.cvtColor(crop, cv2.COLOR_GRAY2RGB if crop.ndim == 2 else cv2.COLOR_BGR2RGB)
        np.multiply(colours, np.float32(brightest / 255), out=row, dtype=np.float32)
    return tensor


def in_batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), BATCH):
        yield items[start : start + BATCH]


def with_mirror_images(crops: Tensor) -> Tensor:
    """[n, height, width, channels] to [2n, ...]: the crops, then their mirror images."""
    return np.concatenate([crops, crops[:, :, ::-1]])


def fold_mirrored(said: Tensor) -> Tensor:
    """The output for n crops and their mirror images as n means: they err less than either half."""
    return np.asarray(said.reshape(2, -1, *said.shape[1:]).mean(axis=0), np.float32)
