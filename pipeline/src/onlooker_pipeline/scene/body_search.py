"""When a frame is searched for bodies: after unexplained movement, and for people who went unseen."""

import math
from collections.abc import Sequence

import cv2
import numpy as np

from onlooker_pipeline.motion.change import Grey
from onlooker_pipeline.tracking.boxes import Box, shared_area
from onlooker_pipeline.tracking.tracks import Track
from onlooker_pipeline.vision.picture import Picture, as_grey, as_picture

WIDTH, HEIGHT = 160, 120
NOISES, LEAST_CHANGE = 6.0, 9.0
LEAST_SHARE = 0.004
"""Of the picture: smaller changes are leaves and reflections."""
WHOLE_SHARE = 0.6
"""If more changed, a lamp was switched or the camera turned."""
EXPLAINED_SHARE = 0.6

_AROUND = np.ones((5, 5), np.uint8)
MOVED_EVERY_MS = 400
BODY_EVERY_MS, WALKING_BODY_EVERY_MS = 500, 250
"""For people whose face was never seen: only their bodies can be followed."""
SLOW = 0.5
"""Head sizes per second."""
UNSEEN_AFTER_MS, UNSEEN_EVERY_MS = 300, 700


def shrink_picture(picture: Picture) -> Grey:
    """As small as finding movement allows; a worker keeps this until the next frame."""
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


def find_unexplained(moved: Sequence[Box], people: Sequence[Box]) -> list[Box]:
    """The boxes that do not mostly overlap with known people."""
    return [box for box in moved if sum(shared_area(box, person) for person in people) < EXPLAINED_SHARE * box.area]


def should_search_bodies(tracks: Sequence[Track], moved: Sequence[Box], *, searched_ms: int, at_ms: int) -> bool:
    """Whether to run the person net on this frame; `searched_ms` is when it last ran."""
    since_ms = at_ms - searched_ms
    if moved and since_ms >= MOVED_EVERY_MS:
        return True
    return any(since_ms >= _interval_ms(track, at_ms) for track in tracks)


def _interval_ms(track: Track, at_ms: int) -> float:
    """How often the picture is searched because of one person."""
    if not track.had_face:
        settled = track.confirmed and _is_slow(track)
        return BODY_EVERY_MS if settled else WALKING_BODY_EVERY_MS
    if track.confirmed and at_ms - track.face_ms >= UNSEEN_AFTER_MS:
        return UNSEEN_EVERY_MS
    return math.inf


def _is_slow(track: Track) -> bool:
    return abs(track.x.velocity) + abs(track.y.velocity) < SLOW * track.head.size
