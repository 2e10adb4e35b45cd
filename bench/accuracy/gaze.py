"""Looking at the camera or not, judged from what `gaze_analysis` reports of each face."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.accuracy.diagrams import draw_confusion
from bench.accuracy.services import ask, faces_of
from bench.lib.figures import Figure
from bench.lib.frames import FRAME_HEIGHT, FRAME_WIDTH, as_frame
from bench.lib.product import say
from bench.lib.testdata import DrawnScene, LabelledClip, match_faces, read_clips, read_scenes, within
from onlooker_pipeline.vision.eye_contact import judge_eye_contact
from onlooker_pipeline.vision.head_pose import Camera, Direction

REALLY_TURNED = "woman1"
"""The one person of the drawn scenes whose turned heads were photographed; the others' are warped portraits."""
SAME_FACE_OVERLAP = 0.3
CAMERA = Camera.of_picture(FRAME_WIDTH, FRAME_HEIGHT)


NOT_FOUND = {"rule": False, "gaze_alone": False, "head_alone": False}


@dataclass(frozen=True)
class Verdict:
    """One face, as labelled, and as judged by our rule and by two simpler ones."""

    looks: bool
    by: dict[str, bool]

    @property
    def judged(self) -> bool:
        return self.by["rule"]


def measure_looking(data: Path, pictures: Path | None = None) -> list[Figure]:
    judged = {scene.name: list(_of_scene(scene)) for scene in read_scenes(data)}
    judged |= {clip.name: list(_of_clip(clip)) for clip in read_clips(data)}
    for name, found in judged.items():
        say(f"  {name}: {sum(v.looks == v.judged for v in found)} of {len(found)} faces right")
    verdicts = [verdict for found in judged.values() for verdict in found]
    counts = Counter((v.looks, v.judged) for v in verdicts)
    if pictures:
        rows = [[counts[looks, seen] for seen in (True, False)] for looks in (True, False)]
        draw_confusion(pictures / "looking.svg", "Looking or not", ["looks", "looks away"], rows)
    right, wrong, missed = counts[True, True], counts[False, True], counts[True, False]
    away = wrong + counts[False, False]
    note = f"{len(verdicts)} faces: {right} looks seen, {missed} missed, {wrong} wrongly seen"
    return [
        Figure("looking_precision", right / (right + wrong) if right else 0.0, at_least=0.9, note=note),
        Figure("looking_recall", right / (right + missed) if right else 0.0, at_least=0.9, note=note),
        # Where nearly everybody looks, precision says little of those who do not.
        Figure(
            "looking_away_right", 1 - wrong / away if away else float("nan"), note=f"of {away} faces that look away"
        ),
        *_simpler_rules(verdicts),
    ]


def _simpler_rules(verdicts: list[Verdict]) -> list[Figure]:
    """What head or gaze alone would give: told, so that nobody takes the gaze for more than it is."""
    figures = []
    for rule in ("head_alone", "gaze_alone"):
        counts = Counter((v.looks, v.by[rule]) for v in verdicts)
        right, wrong, missed = counts[True, True], counts[False, True], counts[True, False]
        figures.append(Figure(f"looking_by_{rule}_precision", right / max(right + wrong, 1)))
        figures.append(Figure(f"looking_by_{rule}_recall", right / max(right + missed, 1)))
    return figures


def judge_by_rules(face: dict[str, Any]) -> dict[str, bool]:
    """The verdicts on a face of `gaze_analysis`."""
    left, top, width, height = face["roi"]
    head, gaze = Direction(face["head_yaw"], face["head_pitch"]), Direction(face["gaze_yaw"], face["gaze_pitch"])
    towards_camera = Direction.of_vector(-CAMERA.ray(left + width / 2, top + height / 2))
    rules = {"rule": (head, gaze), "head_alone": (head, head), "gaze_alone": (gaze, gaze)}
    return {
        name: judge_eye_contact(*used, towards_camera=towards_camera, face_px=max(width, height)).at_camera
        for name, used in rules.items()
    }


def _of_scene(scene: DrawnScene) -> Iterator[Verdict]:
    """A face that looks and was not found is a look that was missed."""
    wanted = [i for i, faces in enumerate(scene.labels) if any(x.person == REALLY_TURNED for x in faces)]
    for number, picture in scene.pictures(wanted):
        faces = faces_of("gaze_analysis", as_frame(picture))
        labels = scene.labels[number]
        for label, face in zip(labels, match_faces(labels, faces, at_least=SAME_FACE_OVERLAP), strict=True):
            if label.person == REALLY_TURNED and label.is_visible and (face or label.is_front):
                yield Verdict(label.is_front, judge_by_rules(face) if face else NOT_FOUND)


def _of_clip(clip: LabelledClip) -> Iterator[Verdict]:
    """People are labelled from left to right, so a frame counts only if as many faces were found as are there."""
    nobody_looks = not any(person["looking"] for person in clip.persons)
    for number, picture in clip.pictures():
        faces = faces_of("gaze_analysis", as_frame(picture))
        seconds = number / clip.fps
        present = [person for person in clip.persons if person["enter"] <= seconds < person["leave"]]
        if nobody_looks:
            yield from (Verdict(False, judge_by_rules(face)) for face in faces)
        elif len(present) == len(faces):
            for person, face in zip(present, faces, strict=True):
                if is_certain(person, seconds, precision=clip.truth["precision_s"]):
                    yield Verdict(within(seconds, person["looking"]), judge_by_rules(face))


def is_certain(person: dict[str, Any], seconds: float, *, precision: float) -> bool:
    """Not so near to the edge of an interval that the reviewer may have put it on the other side."""
    edges = {edge for interval in person["looking"] for edge in interval} - {person["enter"], person["leave"]}
    uncertain = within(seconds, person.get("looking_uncertain", []))
    return not uncertain and all(abs(seconds - edge) >= precision for edge in edges)


YAW = "yaw_by_gif_frame_12_5fps"
YAW_FPS = 12.5


def measure_yaw(data: Path) -> list[Figure]:
    clips = [clip for clip in read_clips(data) if YAW in clip.truth]
    errors = [error for clip in clips for error in _errors(clip)]
    mean = float(np.mean(np.abs(errors))) if errors else float("nan")
    missed = sum(math.isinf(error) for error in errors)
    note = f"degrees, {len(errors)} frames, {missed} without a face"
    return [Figure("head_yaw_mean_absolute_error", mean, at_most=8.0, note=note)]


def _errors(clip: LabelledClip) -> list[float]:
    """In degrees; a frame in which no face was found is endlessly wrong."""
    labels = clip.truth[YAW]
    times = np.arange(len(labels)) / YAW_FPS
    errors = []
    for number, picture in clip.pictures():
        seconds = number / clip.fps
        if seconds > times[-1]:
            break
        faces = ask("gaze_analysis", as_frame(picture))["faces"]
        yaw = math.degrees(faces[0]["head_yaw"]) if faces else math.inf
        errors.append(yaw - float(np.interp(seconds, times, labels)))
    return errors
