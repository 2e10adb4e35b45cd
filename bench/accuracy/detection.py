"""Faces found, missed and made up, by `face_detection`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2

from bench.accuracy.services import ask, faces_of
from bench.lib.figures import Figure
from bench.lib.frames import as_frame, as_sent
from bench.lib.product import say
from bench.lib.testdata import LabelledFace, match_faces, overlap, read_clips, read_labels, read_scenes
from onlooker_pipeline.vision.persons import find_persons
from onlooker_pipeline.vision.picture import decode_picture

FRONT_AT_LEAST_PX = 30
FOUND_OVERLAP = 0.3
FALSE_OVERLAP = 0.1
CROWD_FACES, CROWD_SHARE = 10, 38 / 43
"""Of a crowd, counted by eye, not every face must be found."""


@dataclass
class Count:
    """What was seen in scenes, over all their frames."""

    frames: int = 0
    front: int = 0
    front_found: int = 0
    false: int = 0

    def add(self, labels: Sequence[LabelledFace], faces: Sequence[dict[str, Any]]) -> None:
        self.frames += 1
        for label, face in zip(labels, match_faces(labels, faces, at_least=FOUND_OVERLAP), strict=True):
            if label.is_front and label.is_visible and label.roi[2] >= FRONT_AT_LEAST_PX:
                self.front += 1
                self.front_found += face is not None
        # A turned or half hidden face need not be found, but where it is, no report of it is false.
        self.false += sum(all(overlap(x.roi, face["roi"]) < FALSE_OVERLAP for x in labels) for face in faces)


def measure_faces(data: Path) -> list[Figure]:
    return [*_scenes(data), *_portraits(data / "images/congress_pd"), *_groups(data / "images/angus"), *_behind(data)]


def _scenes(data: Path) -> list[Figure]:
    count = Count()
    for scene in read_scenes(data):
        for number, picture in scene.pictures():
            count.add(scene.labels[number], faces_of("face_detection", as_frame(picture)))
        say(f"  {scene.name}: {count.front_found} of {count.front} found, {count.false} false so far")
    share = count.front_found / count.front if count.front else float("nan")
    false = 100 * count.false / count.frames if count.frames else float("nan")
    seen = f"{count.front_found} of {count.front} faces in {count.frames} frames"
    return [
        Figure("faces_found_front", share, at_least=0.99, note=seen),
        Figure("false_faces_per_100_frames", false, at_most=1.0, note=f"{count.false} in {count.frames} frames"),
    ]


def _portraits(folder: Path) -> list[Figure]:
    counts = [
        ask("face_detection", as_frame(cv2.imread(str(folder / row["file"]))))["nb_faces"]
        for row in read_labels(folder)
    ]
    found = sum(count > 0 for count in counts)
    extra = sum(max(count - 1, 0) for count in counts)
    note = f"{found} of {len(counts)}, {extra} extra faces"
    return [Figure("portraits_found", found / len(counts), at_least=1.0, note=note)]


def _groups(folder: Path) -> list[Figure]:
    """Pictures of several people, at full size."""
    figures = []
    for row in read_labels(folder):
        faces = int(row["faces"])
        if faces > 1:
            counted = ask("face_detection", as_sent(cv2.imread(str(folder / row["file"]))))["nb_faces"]
            at_least = faces if faces < CROWD_FACES else round(CROWD_SHARE * faces)
            note = f"{row['file']} at full size, {faces} by eye"
            figures.append(Figure(f"group_of_{faces}_found", counted, at_least=at_least, note=note))
    return figures


def _behind(data: Path) -> list[Figure]:
    """Clips in which nobody ever shows the face: what is reported there is a cheek, an ear or hair."""
    frames = faces = 0
    for clip in read_clips(data):
        if clip.persons and not any(person["looking"] for person in clip.persons):
            for _, picture in clip.pictures():
                frames += 1
                faces += ask("face_detection", as_frame(picture))["nb_faces"]
    if not frames:
        return []
    note = f"{faces} in {frames} frames of people seen from behind or in profile"
    return [Figure("faces_from_behind_per_100_frames", 100 * faces / frames, note=note)]


EVERY = 3
"""Of a clip's pictures: people move little in a third of a second."""


def measure_persons(data: Path) -> list[Figure]:
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
