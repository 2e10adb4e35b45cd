"""How clearly a picture shows a face: how many pixels it has, how blurred they are, and how noisy."""

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from onlooker_pipeline.vision.crops import Region, cut_region
from onlooker_pipeline.vision.picture import Picture, as_grey, as_picture

LARGEST_PX, SMALLEST_PX = 112, 16
"""Side of the crop that is looked at; a face is not enlarged for it."""
SLIGHT_PX, STRONG_PX = 0.7, 1.5
"""Two degrees of smoothing: a sharp edge loses much of its slope by the stronger one, a blurred edge little."""
EDGES_SHARE = 97
"""Percentile of the slopes that stands for the edges: of eyes, brows and nose, not of wrinkles."""
SHARPEST_PX, WIDEST_PX = 0.4, 8.0
NOISE_MASK = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32)
"""Immerkaer's: it answers neither to slopes nor to straight edges, so to little else than noise."""
SQUARE_PX = 8
QUIET_SHARE = 25
"""Percentile of the squares whose noise counts: skin shows it best."""
FINE_STRUCTURE = 80.0
"""Divided by the crop's side, the noise that the features of a clean face pass for: in a small one they are fine."""
NOISY_FROM, NOISY_TO = 0.3, 1.3
"""Grey levels, after compression, between which smoothing goes from none to all."""
SMOOTHING_PX = 0.8
"""In pixels of the picture. More of it hides wrinkles, less leaves noise that is read as wrinkles."""
HIDDEN_BY_NOISE = 0.33
"""The share of a face's detail that noise and smoothing take: with it, ages of noisy faces are as far off as stated."""


@dataclass(frozen=True)
class Clarity:
    """Of one face in one picture."""

    side_px: float
    """Side of its chip in pixels of the picture."""
    blur_px: float
    """Standard deviation of the blur, in pixels of the picture."""
    noise: float
    """Standard deviation in grey levels, without what a clean face has."""

    @property
    def noisiness(self) -> float:
        """From 0 for a clean face to 1 for one that is smoothed before its age is read."""
        return min(max((self.noise - NOISY_FROM) / (NOISY_TO - NOISY_FROM), 0.0), 1.0)

    @property
    def sharpness(self) -> float:
        """How many blurs wide the chip is: a large blurred face shows no more than a small sharp one."""
        return self.side_px / self.blur_px

    @property
    def detail(self) -> float:
        """What noise leaves of it."""
        return self.sharpness * (1 - HIDDEN_BY_NOISE * self.noisiness)


def measure_clarity(picture: Picture, region: Region) -> Clarity:
    """Of the face whose chip is cut from this region."""
    side = round(min(max(region.side_px, SMALLEST_PX), LARGEST_PX))
    crop = as_grey(cut_region(picture, region, side)).astype(np.float32)
    shrunk = max(region.side_px / side, 1.0)
    noise = math.sqrt(max(_noise_of(crop) ** 2 - (FINE_STRUCTURE / side) ** 2, 0.0))
    return Clarity(region.side_px, _blur_of(crop) * shrunk, noise)


def smoothed(crop: Picture, clarity: Clarity, side_px: float) -> Picture:
    """The crop of a noisy face, `side_px` wide in the picture, without most of its noise; of a clean one as it is."""
    spread = SMOOTHING_PX * clarity.noisiness * crop.shape[0] / max(side_px, 1.0)
    return as_picture(cv2.GaussianBlur(crop, (0, 0), spread)) if spread > 0.1 else crop


def _blur_of(crop: NDArray[np.float32]) -> float:
    """From how much slope the edges lose by smoothing: slopes of an edge go with 1 / its width."""
    ratio = (_slope(crop, SLIGHT_PX) / max(_slope(crop, STRONG_PX), 1e-3)) ** 2
    if ratio <= 1.0:
        return WIDEST_PX
    blur = math.sqrt(max(STRONG_PX**2 - ratio * SLIGHT_PX**2, 0.0) / (ratio - 1.0))
    return min(max(blur, SHARPEST_PX), WIDEST_PX)


def _slope(crop: NDArray[np.float32], smoothing_px: float) -> float:
    smooth = cv2.GaussianBlur(crop, (0, 0), smoothing_px)
    across, down = cv2.Sobel(smooth, cv2.CV_32F, 1, 0), cv2.Sobel(smooth, cv2.CV_32F, 0, 1)
    return float(np.percentile(cv2.magnitude(across, down), EDGES_SHARE))


def _noise_of(crop: NDArray[np.float32]) -> float:
    """Immerkaer's estimate in the quieter squares."""
    answers = np.abs(cv2.filter2D(crop, -1, NOISE_MASK))[1:-1, 1:-1] * (math.sqrt(math.pi / 2) / 6)
    squares = max(min(answers.shape) // SQUARE_PX, 1)
    side = min(answers.shape) // squares
    whole = answers[: squares * side, : squares * side].reshape(squares, side, squares, side)
    return float(np.percentile(whole.mean(axis=(1, 3)), QUIET_SHARE))
