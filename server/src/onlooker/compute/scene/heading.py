"""In which direction of the picture a person walks."""

from onlooker.compute.tracking.tracks import Track

WALKING = 0.8
"""Sizes of the head a second; slower is no direction."""


def heading_of(track: Track) -> tuple[str, float]:
    """One of up, right, left, down or unknown, and how sure that is."""
    size = track.head.size
    across, down = track.x.velocity / size, track.y.velocity / size
    speed = max(abs(across), abs(down))
    if speed < WALKING:
        return "unknown", 0.0
    spread = (track.x.velocity_variance**0.5 if abs(across) >= abs(down) else track.y.velocity_variance**0.5) / size
    confidence = speed / (speed + spread + WALKING / 2)
    if abs(across) >= abs(down):
        return ("right" if across > 0 else "left"), confidence
    return ("down" if down > 0 else "up"), confidence
