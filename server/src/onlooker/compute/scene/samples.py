"""The last two seconds of a person: what later verdicts about a moment are made of."""

from collections.abc import Sequence

import msgspec

from onlooker.compute.tracking.boxes import HeadPlace

PARTS = 8
"""Places are kept as whole eighths of a pixel: small on the bus, exact enough."""
DENSEST_MS = 25
"""Samples are at least so far apart, whatever the timestamps say: so many are judged, and no more."""
UNKNOWN, AWAY, AT_CAMERA = -1, 0, 1


class Sample(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """One person in one frame, before it is judged."""

    at_ms: int
    x: int
    y: int
    size: int
    look: int = UNKNOWN
    by_face: bool = True
    """Whether the head was seen itself; else its body told where it is."""
    dwell_ms: int = 0
    """Since when the person has been in the place that this sample is in; 0: in none."""
    dwell_x: int = 0
    dwell_y: int = 0


def sample_of(head: HeadPlace, at_ms: int, *, look: int, by_face: bool) -> Sample:
    x, y, size = (round(value * PARTS) for value in head)
    return Sample(at_ms, x, y, max(size, 1), look, by_face)


def around(samples: Sequence[Sample], at_ms: int) -> tuple[Sample | None, Sample | None]:
    """The last sample not after a moment and the first one not before it."""
    before = next((sample for sample in reversed(samples) if sample.at_ms <= at_ms), None)
    after = next((sample for sample in samples if sample.at_ms >= at_ms), None)
    return before, after
