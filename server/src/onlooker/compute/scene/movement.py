"""Where something moved that nobody who is followed explains, in small grey pictures that stay in memory."""

from collections.abc import Sequence

import cv2
import numpy as np

from onlooker.compute.motion.change import Grey
from onlooker.compute.tracking.boxes import Box, shared_area
from onlooker.compute.vision.decoding import Picture, as_grey, as_picture

WIDTH, HEIGHT = 160, 120
NOISES, LEAST_CHANGE = 6.0, 9.0
LEAST_SHARE = 0.004
"""Of the picture: smaller changes are leaves and reflections."""
WHOLE_SHARE = 0.6
"""More than this changed: a lamp was switched or the camera turned."""
EXPLAINED_SHARE = 0.6

_AROUND = np.ones((5, 5), np.uint8)


def shrink(picture: Picture) -> Grey:
    """As small as movement needs; what a worker keeps of a frame until the next."""
    small = as_picture(cv2.resize(as_grey(picture), (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA))
    return as_picture(cv2.GaussianBlur(small, (3, 3), 0))


def find_movement(before: Grey, now: Grey, *, width: int, height: int) -> list[Box]:
    """Boxes around what changed, in pixels of the picture."""
    difference = cv2.absdiff(before, now)
    noise = 1.4826 * float(np.median(difference[::2, ::2]))
    changed = (difference > max(NOISES * noise, LEAST_CHANGE)).astype(np.uint8)
    if not LEAST_SHARE / 2 < cv2.countNonZero(changed) / changed.size < WHOLE_SHARE:
        return []
    count, _, stats, _ = cv2.connectedComponentsWithStats(cv2.dilate(changed, _AROUND))
    across, down = width / WIDTH, height / HEIGHT
    return [
        Box(left * across, top * down, (left + wide) * across, (top + high) * down)
        for left, top, wide, high, area in stats[1:count].tolist()
        if area >= LEAST_SHARE * WIDTH * HEIGHT
    ]


def unexplained(moved: Sequence[Box], people: Sequence[Box]) -> list[Box]:
    """The boxes that do not mostly lie where people are known to be."""
    return [box for box in moved if sum(shared_area(box, person) for person in people) < EXPLAINED_SHARE * box.area]
