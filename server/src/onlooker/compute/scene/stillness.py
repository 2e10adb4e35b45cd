"""Whether a person stands still at a moment: stays in one place, measured in sizes of their own head."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter
from statistics import median

from onlooker.compute.scene.samples import Sample

DWELL_MS = 800
"""Who stays in one place for so long, before or after the moment or around it, stands still."""
ROOM = 0.6
"""How wide a place is, in sizes of the head: swaying and turning on the spot stay within."""
ROOM_OF_BODY = 0.6
"""The same where only the body was seen, whose box is less steady."""
NEAR = 0.2
"""How near its middle a moment must be: a place also takes in the last step of who walks up to it."""
GROWTH_A_SECOND = 0.16
"""How fast the size may change, as a logarithm: who walks up to the camera grows."""

_AT_MS = attrgetter("at_ms")


def find_dwell(samples: Sequence[Sample]) -> tuple[int, int, int]:
    """Since when the person has been in one place that the newest sample is in, and its middle; zeros: in none."""
    newest = samples[-1]
    window = [newest]
    for sample in reversed(samples[:-1]):
        window.append(sample)
        if newest.at_ms - sample.at_ms >= DWELL_MS:
            break
    if newest.at_ms - window[-1].at_ms < DWELL_MS or not _is_one_place(window):
        return 0, 0, 0
    middle = round(median([sample.x for sample in window])), round(median([sample.y for sample in window]))
    return window[-1].at_ms, *middle


def is_still(samples: Sequence[Sample], at_ms: int) -> bool:
    """By samples in order of time, about a second before and after the moment."""
    later = bisect_left(samples, at_ms, key=_AT_MS)
    near = samples[max(later - 1, 0) : later + 1]
    own = min(near, key=lambda sample: abs(sample.at_ms - at_ms))
    return any(dwell.dwell_ms and dwell.dwell_ms <= at_ms and _is_near(own, dwell) for dwell in samples[later:])


def _is_near(own: Sample, dwell: Sample) -> bool:
    room = NEAR if own.by_face else ROOM_OF_BODY / 2
    return math.hypot(own.x - dwell.dwell_x, own.y - dwell.dwell_y) <= room * own.size


def _is_one_place(window: Sequence[Sample]) -> bool:
    xs, ys = [sample.x for sample in window], [sample.y for sample in window]
    room = ROOM if all(sample.by_face for sample in window) else ROOM_OF_BODY
    room *= median([sample.size for sample in window])
    return max(xs) - min(xs) <= room and max(ys) - min(ys) <= room and abs(_growth(window)) <= GROWTH_A_SECOND


def _growth(window: Sequence[Sample]) -> float:
    """Of the logarithm of the size a second: the slope of the line that fits best."""
    times = [sample.at_ms / 1000 - window[0].at_ms / 1000 for sample in window]
    sizes = [math.log(sample.size) for sample in window]
    mean_time = sum(times) / len(times)
    spread = sum((time - mean_time) ** 2 for time in times)
    return sum((time - mean_time) * size for time, size in zip(times, sizes, strict=True)) / spread
