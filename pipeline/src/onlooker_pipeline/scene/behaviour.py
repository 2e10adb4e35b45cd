"""Whether a person stands still and looks at the camera at a moment, judged by the samples around it."""

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from operator import attrgetter
from statistics import median

import msgspec

from onlooker_pipeline.tracking.boxes import HeadPlace

PARTS = 8
"""Positions are stored in eighths of a pixel: small on the bus, exact enough."""
DENSEST_MS = 25
"""Minimum distance of samples, whatever the timestamps say: it bounds how many are judged."""
UNKNOWN, AWAY, AT_CAMERA = -1, 0, 1
DWELL_MS = 800
"""Staying in one place for this long, before, after or around a moment, is standing still."""
ROOM = 0.6
"""Width of a place in head sizes: swaying and turning on the spot stay within it."""
ROOM_OF_BODY = 0.6
"""The same if only the body was seen, whose box is less steady."""
NEAR = 0.2
"""Maximum distance from its centre: a place also covers the last step of somebody who walks up to it."""
GROWTH_A_SECOND = 0.16
"""Maximum change of the size's logarithm per second: somebody who approaches the camera grows."""
_AT_MS = attrgetter("at_ms")
NEIGHBOUR_MS = 250
"""A single picture may be wrong: neighbours this near that agree outvote it."""


class Sample(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """One person in one frame, before it is judged."""

    at_ms: int
    x: int
    y: int
    size: int
    look: int = UNKNOWN
    by_face: bool = True
    """Whether the head itself was seen, or only inferred from the body."""
    dwell_ms: int = 0
    """Since when the person has stayed in this place; 0: is not staying."""
    dwell_x: int = 0
    dwell_y: int = 0


def sample_of(head: HeadPlace, at_ms: int, *, look: int, by_face: bool) -> Sample:
    x, y, size = (round(value * PARTS) for value in head)
    return Sample(at_ms, x, y, max(size, 1), look, by_face)


def samples_around(samples: Sequence[Sample], at_ms: int) -> tuple[Sample | None, Sample | None]:
    """The last sample not after a moment and the first one not before it."""
    before = next((sample for sample in reversed(samples) if sample.at_ms <= at_ms), None)
    after = next((sample for sample in samples if sample.at_ms >= at_ms), None)
    return before, after


def find_dwell(samples: Sequence[Sample]) -> tuple[int, int, int]:
    """Since when the person has stayed where the newest sample is, and the centre of that place; zeros: not staying."""
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
    """From samples in order of time, about a second before and after the moment."""
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
    """Change of the size's logarithm per second: the slope of the best-fitting line."""
    times = [sample.at_ms / 1000 - window[0].at_ms / 1000 for sample in window]
    sizes = [math.log(sample.size) for sample in window]
    mean_time = sum(times) / len(times)
    spread = sum((time - mean_time) ** 2 for time in times)
    return sum((time - mean_time) * size for time, size in zip(times, sizes, strict=True)) / spread


def is_looking(samples: Sequence[Sample], at_ms: int) -> bool:
    """From samples in order of time; a moment without a visible face is judged by its neighbours."""
    own = next((sample.look for sample in samples if sample.at_ms == at_ms), UNKNOWN)
    before = _nearest(reversed(samples), at_ms, earlier=True)
    after = _nearest(samples, at_ms, earlier=False)
    if before == after != UNKNOWN:
        return before == AT_CAMERA
    return own == AT_CAMERA


def _nearest(samples: Iterable[Sample], at_ms: int, *, earlier: bool) -> int:
    """The verdict of the nearest sample on one side."""
    for sample in samples:
        distance_ms = at_ms - sample.at_ms if earlier else sample.at_ms - at_ms
        if distance_ms > NEIGHBOUR_MS:
            break
        if distance_ms > 0 and sample.look != UNKNOWN:
            return sample.look
    return UNKNOWN
