"""People found by their bodies, in clips; no service reports them yet."""

from pathlib import Path

from bench.accuracy.figures import Figure
from bench.accuracy.pictures import as_frame
from bench.accuracy.scenes import read_clips
from bench.product import say
from onlooker.compute.vision.decoding import decode_picture
from onlooker.compute.vision.persons import find_persons

EVERY = 3
"""Of a clip's pictures: people move little in a third of a second."""


def measure(data: Path) -> list[Figure]:
    """Counts only: the labels say how many are there, not where."""
    pictures = present = found = extra = 0
    for clip in read_clips(data):
        for number, picture in clip.pictures(range(0, len_of(clip.truth["duration"], clip.fps), EVERY)):
            seconds = number / clip.fps
            there = sum(person["enter"] <= seconds < person["leave"] for person in clip.persons)
            counted = len(find_persons(decode_picture(as_frame(picture))))
            pictures, present = pictures + 1, present + there
            found, extra = found + min(counted, there), extra + max(counted - there, 0)
        say(f"  {clip.name}: {found} of {present} persons, {extra} too many so far")
    if not present:
        return []
    return [
        Figure("persons_found", found / present, note=f"{found} of {present}, in every third picture of the clips"),
        Figure("persons_too_many_per_100_frames", 100 * extra / pictures, note=f"{extra} in {pictures} pictures"),
    ]


def len_of(duration_s: float, fps: float) -> int:
    return round(duration_s * fps) + 1
