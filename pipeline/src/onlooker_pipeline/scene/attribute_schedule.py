"""When the expensive nets read a person: not in every frame, and at once when a better view appears."""

from collections.abc import Mapping
from operator import itemgetter

from onlooker_pipeline.scene.face_attributes import Mood, Profile, add_expression, add_reading
from onlooker_pipeline.scene.face_views import ObservedFace
from onlooker_pipeline.scene.frame_vision import FrameVision
from onlooker_pipeline.scene.request_options import SceneOptions
from onlooker_pipeline.scene.state import TrackedPerson

PROFILE_EVERY_MS = ((4, 300), (10, 1_000), (30, 4_000))
PROFILE_AT_LAST_MS = 15_000
BETTER_VIEW, BETTER_AFTER_MS = 1.3, 200
MOOD_EVERY_MS, MOOD_UNSEEN_EVERY_MS = 700, 3_000
ASKED_AT_ONCE = 2
"""Faces per frame for age and gender, and again for the expression."""
Viewed = Mapping[bytes, tuple[TrackedPerson, ObservedFace]]


def profile_overdue_ms(profile: Profile, *, view: float, at_ms: int) -> int:
    """For how long the next reading of age and gender has been due; negative: not due yet."""
    if not profile.readings:
        return at_ms
    since_ms = at_ms - profile.read_ms
    if view > BETTER_VIEW * profile.best_view:
        return since_ms - BETTER_AFTER_MS
    wait_ms = next((wait for count, wait in PROFILE_EVERY_MS if profile.readings < count), PROFILE_AT_LAST_MS)
    # A view much worse than the best so far adds little.
    return since_ms - (wait_ms if view > 0.5 * profile.best_view else 3 * wait_ms)


def mood_overdue_ms(mood: Mood, *, looking: bool, at_ms: int) -> int:
    if not mood.readings:
        return at_ms
    return at_ms - mood.read_ms - (MOOD_EVERY_MS if looking else MOOD_UNSEEN_EVERY_MS)


def read_profiles(vision: FrameVision, viewed: Viewed, *, at_ms: int, options: SceneOptions) -> None:
    """Age and gender of those who have waited longest and are seen well enough; dropped if switched off."""
    if not (options.reads_age or options.reads_gender):
        for person, _ in viewed.values():
            person.profile = Profile()
        return
    waiting = [
        (overdue_ms, id)
        for id, (person, view) in viewed.items()
        if view.rating > 0 and (overdue_ms := profile_overdue_ms(person.profile, view=view.rating, at_ms=at_ms)) >= 0
    ]
    chosen = [viewed[id] for _, id in sorted(waiting, key=itemgetter(0), reverse=True)[:ASKED_AT_ONCE]]
    if not chosen:
        return
    faces = [view.face for _, view in chosen]
    readings = vision.profiles(faces, age=options.reads_age, gender=options.reads_gender)
    for (person, view), reading in zip(chosen, readings, strict=True):
        person.profile = add_reading(person.profile, reading, view=view.rating, at_ms=at_ms)


def read_moods(vision: FrameVision, viewed: Viewed, *, at_ms: int, options: SceneOptions) -> None:
    """Expressions, of people who look at the camera first; dropped if switched off."""
    if not options.reads_expression:
        for person, _ in viewed.values():
            person.mood = Mood()
        return
    waiting = [
        (view.at_camera, overdue_ms, id)
        for id, (person, view) in viewed.items()
        if view.rating > 0 and (overdue_ms := mood_overdue_ms(person.mood, looking=view.at_camera, at_ms=at_ms)) >= 0
    ]
    chosen = [viewed[id] for _, _, id in sorted(waiting, key=itemgetter(0, 1), reverse=True)[:ASKED_AT_ONCE]]
    if not chosen:
        return
    readings = vision.expressions([view.face for _, view in chosen])
    for (person, view), reading in zip(chosen, readings, strict=True):
        person.mood = add_expression(person.mood, reading, view=view.rating, at_ms=at_ms)
