"""Whether a person looks at the camera at a moment: by the picture of that moment and its neighbours."""

from collections.abc import Iterable, Sequence

from onlooker.compute.scene.samples import AT_CAMERA, UNKNOWN, Sample

NEIGHBOUR_MS = 250
"""One picture alone may be wrong: its neighbours, if they are this near and agree, outvote it."""


def is_looking(samples: Sequence[Sample], at_ms: int) -> bool:
    """By samples in order of time; a moment at which the face was not seen is judged by its neighbours."""
    own = next((sample.look for sample in samples if sample.at_ms == at_ms), UNKNOWN)
    before = _nearest(reversed(samples), at_ms, earlier=True)
    after = _nearest(samples, at_ms, earlier=False)
    if before == after != UNKNOWN:
        return before == AT_CAMERA
    return own == AT_CAMERA


def _nearest(samples: Iterable[Sample], at_ms: int, *, earlier: bool) -> int:
    """What the nearest sample on one side says."""
    for sample in samples:
        distance_ms = at_ms - sample.at_ms if earlier else sample.at_ms - at_ms
        if distance_ms > NEIGHBOUR_MS:
            break
        if distance_ms > 0 and sample.look != UNKNOWN:
            return sample.look
    return UNKNOWN
