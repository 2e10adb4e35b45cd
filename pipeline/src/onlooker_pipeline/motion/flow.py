"""Optical flow: how far single points and whole boxes moved between two pictures."""

import math
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from onlooker_pipeline.motion.change import Box, PictureChange, Plane, Vector, sample, widened

Points: TypeAlias = NDArray[np.float32]
"""Rows of x, y."""
Flow: TypeAlias = NDArray[np.float32]
"""Rows of x, y in the present picture, and the velocity vx, vy that brought the point there."""

PATCH = 9
REACH = 24
"""A match is searched for this far, in every direction."""
LEAST_SPEED = 0.4
EDGE = 2
"""The motion of a plain object shows only at its edges: a box must not cut them off."""
SEARCHES = 16
"""Points that Lucas-Kanade loses are searched for; a search costs as much as tracking three."""
ROUND_TRIP = 0.7
TRACKED_REST, FOUND_REST = 0.5, 0.4
"""The share of a patch's change that may be left unexplained."""
UNIQUE_SHARE = 0.1
"""Any other place must leave this much more of the change unexplained; along a straight edge none does."""
NO_FLOW: Flow = np.zeros((0, 4), np.float32)

_TRACKING = {
    "winSize": (11, 11),
    "maxLevel": 3,
    "criteria": (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 20, 0.03),
}


def track_points(change: PictureChange, points: Points) -> Flow:
    """The points whose motion is certain: found in both directions, and explained better than by rest."""
    sources, certain = _track_both_ways(change, points)
    searches = SEARCHES
    rows: list[tuple[float, float, float, float]] = []
    for point, source, tracked in zip(points, sources, certain, strict=True):
        x, y = float(point[0]), float(point[1])
        at_rest = _mismatch(change, (x, y), (x, y))
        velocity: Vector | None = None
        if tracked and _mismatch(change, (x, y), (float(source[0]), float(source[1]))) < TRACKED_REST * at_rest:
            velocity = (x - float(source[0]), y - float(source[1]))
        elif searches > 0:
            searches -= 1
            velocity = _search(change, (x, y), FOUND_REST * at_rest)
        if velocity is not None and math.hypot(*velocity) >= LEAST_SPEED:
            rows.append((x, y, *velocity))
    return np.array(rows, np.float32) if rows else NO_FLOW


def _track_both_ways(change: PictureChange, points: Points) -> tuple[Points, NDArray[np.bool_]]:
    """Where each point was, and whether tracking it from there leads back."""
    before, now = (np.clip(plane, 0, 255).astype(np.uint8) for plane in (change.previous, change.present))
    present = points.reshape(-1, 1, 2)
    sources, found, _ = cv2.calcOpticalFlowPyrLK(now, before, present, None, **_TRACKING)  # type: ignore[call-overload]
    returned, back, _ = cv2.calcOpticalFlowPyrLK(before, now, sources, None, **_TRACKING)  # type: ignore[call-overload]
    astray = np.linalg.norm((returned - present).reshape(-1, 2), axis=1)
    return sources.reshape(-1, 2), (found.ravel() == 1) & (back.ravel() == 1) & (astray < ROUND_TRIP)


def _mismatch(change: PictureChange, point: Vector, source: Vector) -> float:
    """Mean difference of the patch around a point and the one around its source, beyond noise."""
    now = cv2.getRectSubPix(change.present, (PATCH, PATCH), point)
    before = cv2.getRectSubPix(change.previous, (PATCH, PATCH), source)
    return max(cv2.norm(now, before, cv2.NORM_L1) / PATCH**2 - 0.8 * change.noise, 0.0)


def _search(change: PictureChange, point: Vector, limit: float) -> Vector | None:
    """The velocity of the patch around a point, where one place of the previous picture alone matches."""
    half = PATCH // 2
    x, y = round(point[0]), round(point[1])
    height, width = change.present.shape
    if not (half <= x < width - half and half <= y < height - half):
        return None
    patch = change.present[y - half : y + half + 1, x - half : x + half + 1]
    left, top = max(0, x - half - REACH), max(0, y - half - REACH)
    around = change.previous[top : y + half + 1 + REACH, left : x + half + 1 + REACH]
    place, unique = _best_place(around, patch, change.noise)
    source = (left + place[0] + half, top + place[1] + half)
    if not unique or _mismatch(change, (x, y), source) >= limit:
        return None
    return x - source[0], y - source[1]


def _best_place(around: Plane, patch: Plane, noise: float) -> tuple[tuple[int, int], bool]:
    """Where the patch fits best, and whether it fits clearly worse everywhere else."""
    misfit = cv2.matchTemplate(around, patch, cv2.TM_SQDIFF)
    least, _, place, _ = cv2.minMaxLoc(misfit)
    column, row = int(place[0]), int(place[1])
    misfit[max(0, row - 2) : row + 3, max(0, column - 2) : column + 3] = np.inf
    return (column, row), float(misfit.min()) > 1.5 * max(least, 0.7 * patch.size * noise * noise)


def search_box(change: PictureChange, box: Box) -> Vector | None:
    """The velocity of all changed pixels of a box together: for things without a point that stands out."""
    left, top, right, bottom = box
    height, width = change.present.shape
    patch = change.present[top:bottom, left:right]
    changed = change.mask[top:bottom, left:right].astype(np.float32)
    from_x, from_y = max(0, left - REACH), max(0, top - REACH)
    around = change.previous[from_y : min(height, bottom + REACH), from_x : min(width, right + REACH)]
    misfit = cv2.matchTemplate(around, patch, cv2.TM_SQDIFF, mask=changed)
    least, _, place, _ = cv2.minMaxLoc(misfit)
    column, row = int(place[0]), int(place[1])
    velocity = (float(left - from_x - column), float(top - from_y - row))
    noise = float(changed.sum()) * change.noise**2
    at_rest = float(misfit[top - from_y, left - from_x]) - noise
    misfit[max(0, row - 2) : row + 3, max(0, column - 2) : column + 3] = np.inf
    unique = float(misfit.min()) - least > UNIQUE_SHARE * at_rest
    fits = max(least - noise, 0.0) < FOUND_REST * at_rest
    return velocity if fits and unique and math.hypot(*velocity) >= LEAST_SPEED else None


def refine_velocity(change: PictureChange, box: Box, velocity: Vector) -> Vector:
    """Gauss-Newton over a thing's pixels: the shift under which the previous picture shows the present one."""
    box = widened(box, EDGE, change.present.shape)
    left, top, right, bottom = box
    now = change.present[top:bottom, left:right]
    softness = 3 * change.noise + 3
    vx, vy = velocity
    for _ in range(5):
        shifted = sample(change.previous, box, (vx, vy))
        slope_x = cv2.Sobel(shifted, cv2.CV_32F, 1, 0, ksize=3, scale=1 / 8)
        slope_y = cv2.Sobel(shifted, cv2.CV_32F, 0, 1, ksize=3, scale=1 / 8)
        error = now - shifted
        weight = 1 / (1 + np.square(error / softness))
        weighted_x, weighted_y = (weight * slope_x).ravel(), (weight * slope_y).ravel()
        xx, xy = float(weighted_x @ slope_x.ravel()), float(weighted_x @ slope_y.ravel())
        yy = float(weighted_y @ slope_y.ravel())
        determinant = xx * yy - xy * xy
        if determinant <= 1e-3 * (xx + yy) ** 2:
            break
        ex, ey = float(weighted_x @ error.ravel()), float(weighted_y @ error.ravel())
        step_x, step_y = (xy * ey - yy * ex) / determinant, (xy * ex - xx * ey) / determinant
        length = math.hypot(step_x, step_y)
        shorter = min(1.0, 2 / max(length, 1e-9))
        vx, vy = vx + step_x * shorter, vy + step_y * shorter
        if length < 0.02:
            break
    astray = math.hypot(vx - velocity[0], vy - velocity[1])
    return (vx, vy) if astray <= max(1.5, 0.35 * math.hypot(*velocity)) else velocity


def explained_share(change: PictureChange, box: Box, velocity: Vector) -> float:
    """How much of a box's change the velocity explains; 0 where it explains no more than rest does."""
    left, top, right, bottom = box
    now = change.present[top:bottom, left:right]
    noise = now.size * change.noise**2
    at_rest = float(np.square(now - change.previous[top:bottom, left:right]).sum()) - noise
    moved = float(np.square(now - sample(change.previous, box, velocity)).sum()) - noise
    return 0.0 if at_rest <= 0 else min(max(1 - max(moved, 0.0) / at_rest, 0.0), 1.0)


def contradicted_share(change: PictureChange, box: Box, velocity: Vector) -> float:
    """Share of the pixels inside a box that cannot have come there with the velocity; its rim is never sure."""
    left, top, right, bottom = box
    if min(right - left, bottom - top) > 4 * EDGE:
        left, top, right, bottom = left + EDGE, top + EDGE, right - EDGE, bottom - EDGE
    moved = sample(change.previous, (left, top, right, bottom), velocity)
    error = np.abs(change.present[top:bottom, left:right] - moved)
    return float((cv2.blur(error, (3, 3)) > 2 * change.noise + 5).mean())
