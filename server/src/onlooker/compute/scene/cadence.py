"""When the expensive nets are asked about a person: not in every frame, and at once when a better view appears."""

import math

from onlooker.compute.scene.mood import Mood
from onlooker.compute.scene.profile import Profile
from onlooker.compute.vision.faces import Face
from onlooker.compute.vision.head import Direction

READABLE_FROM_PX = 20
WELL_SEEN_PX = 80
TURNED_RADIANS = math.radians(50)
"""A head that is turned further away is not read."""
PROFILE_EVERY_MS = ((4, 300), (10, 1_000), (30, 4_000))
PROFILE_AT_LAST_MS = 15_000
BETTER_VIEW, BETTER_AFTER_MS = 1.3, 200
MOOD_EVERY_MS, MOOD_UNSEEN_EVERY_MS = 700, 3_000
EYES_EVERY_MS = 500
ASKED_AT_ONCE = 2
"""Faces a frame that age and gender, and as many that the expression is read of."""


def rate_view(face: Face, off_camera_radians: float, *, whole: bool) -> float:
    """How much a view of a face tells, from 0 to 1; nothing where the face is cut, tiny or turned away."""
    if not whole or face.size_px < READABLE_FROM_PX or off_camera_radians > TURNED_RADIANS:
        return 0.0
    frontal = math.cos(off_camera_radians / TURNED_RADIANS * math.pi / 2)
    return max(min(face.size_px / WELL_SEEN_PX, 1.0) * frontal**2 * face.confidence, 0.01)


def off_camera(head: Direction, towards_camera: Direction) -> float:
    """How far a head is turned away from the camera."""
    return math.hypot(
        math.remainder(head.yaw_radians - towards_camera.yaw_radians, math.tau),
        head.pitch_radians - towards_camera.pitch_radians,
    )


def profile_overdue_ms(profile: Profile, *, view: float, at_ms: int) -> int:
    """How long ago this person's age and gender should have been read; negative: not yet."""
    if not profile.readings:
        return at_ms
    since_ms = at_ms - profile.read_ms
    if view > BETTER_VIEW * profile.best_view:
        return since_ms - BETTER_AFTER_MS
    wait_ms = next((wait for count, wait in PROFILE_EVERY_MS if profile.readings < count), PROFILE_AT_LAST_MS)
    # A view much worse than the best so far would tell little that is new.
    return since_ms - (wait_ms if view > 0.5 * profile.best_view else 3 * wait_ms)


def mood_overdue_ms(mood: Mood, *, looking: bool, at_ms: int) -> int:
    if not mood.readings:
        return at_ms
    return at_ms - mood.read_ms - (MOOD_EVERY_MS if looking else MOOD_UNSEEN_EVERY_MS)
