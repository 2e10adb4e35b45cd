"""Where two grey pictures of one scene differ by more than light, noise and a shaking camera explain."""

from dataclasses import dataclass, replace
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

Grey: TypeAlias = NDArray[np.uint8]
Plane: TypeAlias = NDArray[np.float32]
Box: TypeAlias = tuple[int, int, int, int]
"""Left, top, right, bottom; right and bottom are the first outside."""
Vector: TypeAlias = tuple[float, float]

SATURATED = 250
OFFSET_PENALTY = 0.01
"""A lamp scales brightness. An offset is assumed only if scaling leaves more than this share unexplained."""
NOISES_OF_CHANGE = 5.0
LEAST_CHANGE = 6.0
LEAST_NOISE = 0.7
"""From rounding to whole grey values alone."""
CELLS, SHAKEN_CELLS, SHAKEN_CORNERS, CHANGED_CELL = 4, 10, 3, 0.01
"""A shaken camera changes most of 4 x 4 cells, in the corners too; a large object leaves some unchanged."""
PATTERN_SHARE, LEAST_PATTERN = 0.6, 1.5
"""Smoothing keeps about a third of noise, and nearly all of a shifted pattern."""
GLOBAL_SHARE = 0.5
"""If more changed, a lamp was switched or the camera turned, and nothing can be told apart."""

_CLOSING = np.ones((3, 3), np.uint8)


@dataclass(frozen=True)
class PictureChange:
    """Two pictures and what differs; the previous one is adapted to the light and position of the present one."""

    previous: Plane
    present: Plane
    mask: Grey
    """1 where they differ."""
    noise: float
    """Standard deviation of the difference where nothing moves."""
    smooth_noise: float
    """The same of the smoothed difference, in which the noise of a sensor is weak."""
    shaken: bool = False
    """Whether the camera moved, and the previous picture with it."""

    @property
    def share(self) -> float:
        return cv2.countNonZero(self.mask) / self.mask.size


def find_change(previous: Grey, present: Grey) -> PictureChange | None:
    """None if the whole picture changed."""
    before, now = previous.astype(np.float32), present.astype(np.float32)
    change = _compare(_in_light_of(before, now), now)
    if _may_be_shaken(change):
        steady = _without_shake(before, now)
        calmer = steady.smooth_noise < change.smooth_noise / 2
        # A wrong shift makes still parts differ too: it raises the noise and so hides what changed.
        if calmer or (steady.share < change.share / 2 and steady.noise <= change.noise):
            change = replace(steady, shaken=True)
    return None if change.share > GLOBAL_SHARE else change


def _may_be_shaken(change: PictureChange) -> bool:
    """Whether much of the picture changed, or what looks like noise has a pattern."""
    if change.smooth_noise > max(PATTERN_SHARE * change.noise, LEAST_PATTERN):
        return True
    cells = cv2.resize(change.mask.astype(np.float32), (CELLS, CELLS), interpolation=cv2.INTER_AREA)
    changed = cells > CHANGED_CELL
    return int(changed.sum()) >= SHAKEN_CELLS and int(changed[:: CELLS - 1, :: CELLS - 1].sum()) >= SHAKEN_CORNERS


def sample(plane: Plane, box: Box, shift: Vector) -> Plane:
    """The box's pixels as they would be had the plane moved by `shift`."""
    left, top, right, bottom = box
    matrix = np.array([[1, 0, left - shift[0]], [0, 1, top - shift[1]]], np.float32)
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    moved = cv2.warpAffine(plane, matrix, (right - left, bottom - top), flags=flags, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(moved, np.float32)


def widened(box: Box, margin: int, shape: tuple[int, ...]) -> Box:
    """The box with a margin on every side, within the picture."""
    left, top, right, bottom = box
    return max(left - margin, 0), max(top - margin, 0), min(right + margin, shape[1]), min(bottom + margin, shape[0])


def _in_light_of(before: Plane, now: Plane) -> Plane:
    """The earlier picture in the light of the present one: a line fitted to the grey values of what stood still."""
    x, y = before[::8, ::8].ravel(), now[::8, ::8].ravel()
    usable = (x < SATURATED) & (y < SATURATED)
    if np.count_nonzero(usable) < 50:
        return before
    x, y = x[usable], y[usable]
    gain, offset = float(np.median(y)) / max(float(np.median(x)), 1.0), 0.0
    for _ in range(4):
        error = np.abs(y - gain * x - offset)
        still = error <= 2.5 * max(1.4826 * float(np.median(error)), 1.0)
        u, w = x[still], y[still]
        uu, sum_u, count = float(u @ u), float(u.sum()), len(u) * (1 + OFFSET_PENALTY)
        determinant = uu * count - sum_u * sum_u
        if determinant <= 0:
            break
        uw, sum_w = float(u @ w), float(w.sum())
        gain, offset = (count * uw - sum_u * sum_w) / determinant, (uu * sum_w - sum_u * uw) / determinant
    return np.asarray(before * np.float32(gain) + np.float32(offset), np.float32)


def _compare(before: Plane, now: Plane) -> PictureChange:
    difference = now - before
    smooth = np.asarray(cv2.GaussianBlur(difference, (5, 5), 1.0), np.float32)
    smooth_noise = _spread(smooth)
    threshold = max(LEAST_CHANGE, NOISES_OF_CHANGE * smooth_noise)
    changed = (np.abs(smooth) > threshold).astype(np.uint8)
    mask = np.asarray(cv2.morphologyEx(changed, cv2.MORPH_CLOSE, _CLOSING), np.uint8)
    return PictureChange(before, now, mask, max(_spread(difference), LEAST_NOISE), smooth_noise)


def _spread(difference: Plane) -> float:
    """Standard deviation of the bulk; the median does not see what moves."""
    return 1.4826 * float(np.median(np.abs(difference[::4, ::4])))


def _without_shake(before: Plane, now: Plane) -> PictureChange:
    """The same comparison after shifting the earlier picture to where it fits best."""
    height, width = now.shape
    window = cv2.createHanningWindow((width, height), cv2.CV_32F)
    # It multiplies its arguments by the window, in place.
    (x, y), _ = cv2.phaseCorrelate(before.copy(), now.copy(), window)
    shift = x, y
    change = _compare(_in_light_of(sample(before, (0, 0, width, height), shift), now), now)
    columns, rows = int(abs(shift[0])) + 2, int(abs(shift[1])) + 2
    change.mask[:rows], change.mask[-rows:] = 0, 0
    change.mask[:, :columns], change.mask[:, -columns:] = 0, 0
    return change
