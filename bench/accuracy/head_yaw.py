"""The head's yaw by `gaze_analysis`, against clips that have it frame by frame."""

import math
from pathlib import Path

import numpy as np

from bench.accuracy.figures import Figure
from bench.accuracy.pictures import as_frame
from bench.accuracy.scenes import Clip, read_clips
from bench.accuracy.services import ask

YAW = "yaw_by_gif_frame_12_5fps"
YAW_FPS = 12.5


def measure(data: Path) -> list[Figure]:
    clips = [clip for clip in read_clips(data) if YAW in clip.truth]
    errors = [error for clip in clips for error in _errors(clip)]
    mean = float(np.mean(np.abs(errors))) if errors else float("nan")
    missed = sum(math.isinf(error) for error in errors)
    note = f"degrees, {len(errors)} frames, {missed} without a face"
    return [Figure("head_yaw_mean_absolute_error", mean, at_most=8.0, note=note)]


def _errors(clip: Clip) -> list[float]:
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
