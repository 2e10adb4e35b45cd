"""How many frames a second this machine computes: copies of one photograph on a wall, through the real process."""

from __future__ import annotations

import time
from dataclasses import dataclass
from queue import Queue
from typing import Any

from onlooker_client.device.computation import Computation, require_packages
from onlooker_client.device.compute_options import ComputeOptions
from onlooker_client.device.computed_frame import ComputedFrame
from onlooker_client.scene import count_people
from onlooker_client.sources.opencv import load_opencv

PEOPLE = (0, 1, 5)
WARM_UP_FRAMES, FRAMES = 5, 15
"""Three seconds of a scene: what is done every second is in it."""
LONGEST_S = 6.0
STEP_S = 0.2
WIDTH_PX, HEIGHT_PX, WALL = 640, 480, 120
PERSON = (110, 480, 367, 495)
"""Rows and columns of the photograph that show her; five fit side by side."""
ANSWER_S = 60.0
APART_S = 3600.0
"""Between two scenes: the next one begins with nobody."""


@dataclass(frozen=True)
class ComputeSpeed:
    """With so many people on the wall."""

    people: int
    found: int
    frames_per_second: float


def measure_speed(options: ComputeOptions) -> list[ComputeSpeed]:
    """Takes some seconds; raises ConfigError where this machine can't compute."""
    require_packages()
    answers: Queue[ComputedFrame] = Queue()
    computation = Computation(options, on_frame=answers.put)
    computation.start()
    try:
        return [_measure(computation, answers, people) for people in PEOPLE]
    finally:
        computation.close()


def _measure(computation: Computation, answers: Queue[ComputedFrame], people: int) -> ComputeSpeed:
    pictures = [draw_wall(people, shift_px) for shift_px in (0, 2)]
    begins_at = time.time() + people * APART_S
    took_s, counted, found = 0.0, 0, 0
    for number in range(WARM_UP_FRAMES + FRAMES):
        began = time.monotonic()
        computation.compute(pictures[number % 2], begins_at + number * STEP_S)
        frame = answers.get(timeout=ANSWER_S)
        if number >= WARM_UP_FRAMES:
            took_s, counted = took_s + time.monotonic() - began, counted + 1
            found = max(found, count_people(frame.result))
        if took_s > LONGEST_S:
            break
    return ComputeSpeed(people, found, counted / max(took_s, 1e-9))


def draw_wall(people: int, shift_px: int = 0) -> Any:
    """Grey; the photograph comes with the pipeline."""
    import numpy
    from onlooker_pipeline.warm_up import read_reference_picture

    cv2 = load_opencv()
    wall = numpy.full((HEIGHT_PX, WIDTH_PX), WALL, numpy.uint8)
    if not people:
        return wall
    photograph = cv2.imdecode(numpy.frombuffer(read_reference_picture(), numpy.uint8), cv2.IMREAD_GRAYSCALE)
    top, bottom, left, right = PERSON
    person = photograph[top:bottom, left:right]
    for number in range(people):
        at = int((number + 0.5) * WIDTH_PX / people) - person.shape[1] // 2 + shift_px
        at = min(at, WIDTH_PX - person.shape[1])
        wall[top:bottom, at : at + person.shape[1]] = person
    return wall
