"""When a frame is searched for bodies: where something moved that no face explains, and for who went unseen."""

import math
from collections.abc import Sequence

from onlooker.compute.tracking.boxes import Box
from onlooker.compute.tracking.tracks import Track

MOVED_EVERY_MS = 400
BODY_EVERY_MS, WALKING_BODY_EVERY_MS = 500, 250
"""Of people whose face was never in view: their bodies are all there is to follow."""
SLOW = 0.5
"""Sizes of the head a second."""
UNSEEN_AFTER_MS, UNSEEN_EVERY_MS = 300, 700


def should_search(tracks: Sequence[Track], moved: Sequence[Box], *, searched_ms: int, at_ms: int) -> bool:
    """Whether the person net is asked about this frame; `searched_ms` is when it was last asked."""
    since_ms = at_ms - searched_ms
    if moved and since_ms >= MOVED_EVERY_MS:
        return True
    return any(since_ms >= _interval_ms(track, at_ms) for track in tracks)


def _interval_ms(track: Track, at_ms: int) -> float:
    """How often the picture is searched for one person's sake."""
    if not track.had_face:
        settled = track.confirmed and _is_slow(track)
        return BODY_EVERY_MS if settled else WALKING_BODY_EVERY_MS
    if track.confirmed and at_ms - track.face_ms >= UNSEEN_AFTER_MS:
        return UNSEEN_EVERY_MS
    return math.inf


def _is_slow(track: Track) -> bool:
    return abs(track.x.velocity) + abs(track.y.velocity) < SLOW * track.head.size
