"""Parts of moving objects, and which of them form one object."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from onlooker_pipeline.motion.change import Box, PictureChange, Vector
from onlooker_pipeline.motion.flow import Flow, contradicted_share

PART_LIMIT = 24
NEAR = 10
LIKE_VELOCITY, LIKE_SHARE = 0.7, 0.2
THIN, THIN_SHARE = 7, 0.35
HOLLOW = 0.35
LONGEST_GAP = 70
CONTRADICTION = 0.12


@dataclass(frozen=True, eq=False)
class MovingPart:
    """Changed pixels that moved together."""

    pixels: NDArray[np.int32]
    flow: Flow
    velocity: Vector | None
    """None: it changed, but its motion is unknown."""

    @property
    def moving(self) -> Vector:
        assert self.velocity is not None
        return self.velocity

    @cached_property
    def box(self) -> Box:
        left, top = self.pixels.min(axis=0).tolist()
        right, bottom = self.pixels.max(axis=0).tolist()
        return left, top, right + 1, bottom + 1

    def is_outline(self, velocity: Vector) -> bool:
        """Whether it may be an edge of something larger: a strip across its path, or a hollow outline."""
        speed = max(math.hypot(*velocity), 1e-6)
        x, y = velocity[0] / speed, velocity[1] / speed
        length = float(np.ptp(self.pixels @ np.array([x, y]))) - speed
        width = float(np.ptp(self.pixels @ np.array([-y, x])))
        left, top, right, bottom = self.box
        hollow = len(self.pixels) < HOLLOW * (right - left) * (bottom - top)
        return hollow or length < max(THIN, THIN_SHARE * width)


def box_now(part: MovingPart, shape: tuple[int, ...]) -> Box:
    """Where the object is now: its changed pixels without those it left; a side at the picture's edge stays."""
    left, top, right, bottom = part.box
    height, width = shape
    vx, vy = part.moving
    if vx > 0 and left > 0:
        left = min(left + round(vx), right - 2)
    elif vx < 0 and right < width:
        right = max(right + round(vx), left + 2)
    if vy > 0 and top > 0:
        top = min(top + round(vy), bottom - 2)
    elif vy < 0 and bottom < height:
        bottom = max(bottom + round(vy), top + 2)
    return max(left, 0), max(top, 0), right, bottom


def join_parts(change: PictureChange, parts: list[MovingPart]) -> list[MovingPart]:
    """A plain object changes only at its edges: parts of one velocity with no contradiction between them are one."""
    parts = sorted(parts, key=lambda part: -len(part.pixels))[:PART_LIMIT]
    done: list[MovingPart] = []
    while parts:
        part = parts.pop(0)
        others = sorted(parts, key=lambda other: _gap(part, other))
        for other in others:
            joined = _joined(change, part, other)
            if joined is not None:
                parts = [joined, *(left for left in parts if left is not other)]
                break
        else:
            done.append(part)
    return done


def _joined(change: PictureChange, first: MovingPart, second: MovingPart) -> MovingPart | None:
    """Both as one part, or None if they are two objects."""
    known = first.velocity or second.velocity
    if known is None:
        return None
    one, other = first.velocity or known, second.velocity or known
    apart = math.hypot(one[0] - other[0], one[1] - other[1])
    if apart > max(LIKE_VELOCITY, LIKE_SHARE * max(math.hypot(*one), math.hypot(*other))):
        return None
    if _gap(first, second) > _gap_allowed(first, second, known):
        return None
    points = len(first.flow), len(second.flow)
    share = points[0] / max(sum(points), 1) if sum(points) else 0.5
    velocity = (one[0] * share + other[0] * (1 - share), one[1] * share + other[1] * (1 - share))
    joined = MovingPart(
        np.concatenate([first.pixels, second.pixels]), np.concatenate([first.flow, second.flow]), velocity
    )
    against = contradicted_share(change, box_now(joined, change.mask.shape), velocity)
    return joined if against <= CONTRADICTION else None


def _gap(first: MovingPart, second: MovingPart) -> float:
    """Pixels between two boxes along the axis that separates them most; negative if they overlap."""
    a, b = first.box, second.box
    return max(max(a[0], b[0]) - min(a[2], b[2]), max(a[1], b[1]) - min(a[3], b[3]))


def _gap_allowed(first: MovingPart, second: MovingPart, velocity: Vector) -> float:
    """Front and back edges of a plain object may be as far apart as objects are long; other parts must be near."""
    outlines = [part.is_outline(velocity) for part in (first, second)]
    if all(outlines):
        return LONGEST_GAP
    smaller = min(max(right - left, bottom - top) for left, top, right, bottom in (first.box, second.box))
    known = first.velocity is not None and second.velocity is not None
    return max(NEAR, smaller) if known and any(outlines) else NEAR
