"""Asking the expensive nets about those who have waited longest."""

from collections.abc import Mapping

from onlooker.compute.scene.cadence import ASKED_AT_ONCE, mood_overdue_ms, profile_overdue_ms
from onlooker.compute.scene.mood import Mood, add_expression
from onlooker.compute.scene.options import Options
from onlooker.compute.scene.person import Person
from onlooker.compute.scene.profile import Profile, add_reading
from onlooker.compute.scene.sight import Sight
from onlooker.compute.scene.views import View

Viewed = Mapping[bytes, tuple[Person, View]]


def read_profiles(sight: Sight, viewed: Viewed, *, at_ms: int, options: Options) -> None:
    """Age and gender, of those whose turn it is and whose view tells something; forgotten where switched off."""
    if not (options.reads_age or options.reads_gender):
        for person, _ in viewed.values():
            person.profile = Profile()
        return
    waiting = [
        (overdue_ms, id)
        for id, (person, view) in viewed.items()
        if view.rating > 0 and (overdue_ms := profile_overdue_ms(person.profile, view=view.rating, at_ms=at_ms)) >= 0
    ]
    chosen = [viewed[id] for _, id in sorted(waiting, reverse=True)[:ASKED_AT_ONCE]]
    if not chosen:
        return
    faces = [view.face for _, view in chosen]
    readings = sight.profiles(faces, age=options.reads_age, gender=options.reads_gender)
    for (person, view), reading in zip(chosen, readings, strict=True):
        person.profile = add_reading(person.profile, reading, view=view.rating, at_ms=at_ms)


def read_moods(sight: Sight, viewed: Viewed, *, at_ms: int, options: Options) -> None:
    """Expressions, of those who look first; forgotten where switched off."""
    if not options.reads_expression:
        for person, _ in viewed.values():
            person.mood = Mood()
        return
    waiting = [
        (view.at_camera, overdue_ms, id)
        for id, (person, view) in viewed.items()
        if view.rating > 0 and (overdue_ms := mood_overdue_ms(person.mood, looking=view.at_camera, at_ms=at_ms)) >= 0
    ]
    chosen = [viewed[id] for _, _, id in sorted(waiting, reverse=True)[:ASKED_AT_ONCE]]
    if not chosen:
        return
    readings = sight.expressions([view.face for _, view in chosen])
    for (person, view), reading in zip(chosen, readings, strict=True):
        person.mood = add_expression(person.mood, reading, view=view.rating, at_ms=at_ms)
