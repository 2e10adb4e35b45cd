"""People in filmed clips who look at the camera or away from it, in some condition."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from bench.accuracy.gaze import is_certain
from bench.accuracy.portrait_readings import SEED, looks_at_camera
from bench.lib.degradation import Condition, degrade
from bench.lib.frames import fit
from bench.lib.testdata import LabelledClip, read_clips, within
from onlooker_pipeline.vision.faces import find_faces
from onlooker_pipeline.vision.picture import decode_picture

OF_A_CLIP = 6
"""Frames: those of one clip show the same people."""


@dataclass(frozen=True)
class ClipFrame:
    """A frame, and who looks in it, from left to right."""

    pixels: Any
    looks: tuple[bool, ...]


def read_frames(data: Path) -> list[ClipFrame]:
    return [frame for clip in read_clips(data) for frame in _frames_of(clip)]


def _frames_of(clip: LabelledClip) -> Iterator[ClipFrame]:
    """Spread over the clip, only where the reviewer was certain about everybody."""
    chosen: dict[int, tuple[bool, ...]] = {}
    for number in range(int(clip.truth["duration"] * clip.fps)):
        seconds = number / clip.fps
        present = [person for person in clip.persons if person["enter"] <= seconds < person["leave"]]
        if present and all(is_certain(p, seconds, precision=clip.truth["precision_s"]) for p in present):
            chosen[number] = tuple(within(seconds, person["looking"]) for person in present)
    wanted = list(chosen)[:: max(len(chosen) // OF_A_CLIP, 1)][:OF_A_CLIP]
    for number, picture in clip.pictures(wanted):
        yield ClipFrame(cv2.cvtColor(fit(picture), cv2.COLOR_BGR2GRAY), chosen[number])


def judge_looks(frames: Sequence[ClipFrame], condition: Condition) -> list[tuple[bool, bool]]:
    """Labelled and judged, of frames in which as many faces are found as people are there."""
    dice = np.random.default_rng(SEED)
    judged: list[tuple[bool, bool]] = []
    for frame in frames:
        picture = decode_picture(degrade(frame.pixels, condition, dice))
        faces = sorted(find_faces(picture), key=lambda face: face.left)
        if len(faces) == len(frame.looks):
            judged += zip(frame.looks, (looks_at_camera(picture, face) for face in faces), strict=True)
    return judged
