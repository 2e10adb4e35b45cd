"""What a frame of `scene_analysis` costs without anything around it, in bare inferences, by people in view."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import msgspec

from bench.cost.bare_inference import bare_inference
from bench.cost.drawn_scene import FPS
from bench.lib.product import say
from onlooker_pipeline.service_call import Call, SessionMemory
from onlooker_pipeline.services.scene_analysis import compute

FRAMES_A_ROUND = 50
"""Five seconds of video: what is done every few seconds is in every round."""
WARM_UP_FRAMES = 100
TARGETS = {0: 1.35, 1: 2.2, 5: 5.5}
"""Bare inferences a frame, by people in view."""
NAMES = {0: "nobody", 1: "one_person", 5: "five_people"}


@dataclass
class Pipeline:
    """One camera's frames computed in a loop, without anything around: from a frame's bytes to the result's."""

    frames: list[bytes]
    begins_at: datetime
    numbers: Iterator[int] = field(default_factory=count)
    memory: SessionMemory = field(default_factory=SessionMemory)
    state: Any = None
    entities: int = 0

    def step(self) -> None:
        number = next(self.numbers)
        taken_at = self.begins_at + timedelta(seconds=number / FPS)
        params = {"timestamp": taken_at.isoformat(timespec="milliseconds"), "store": True}
        image = {"image": self.frames[number % len(self.frames)]}
        call = Call(params, image, in_session=True, memory=self.memory, arrived_at=taken_at.timestamp())
        result, self.state = compute(call, self.state)
        self.entities = len(result["entities"])
        msgspec.json.encode(result)

    def run(self, frames: int) -> float:
        """Milliseconds of CPU a frame."""
        started = time.process_time()
        for _ in range(frames):
            self.step()
        return (time.process_time() - started) / frames * 1000


def measure_ratios(scenes: dict[int, list[bytes]], *, rounds: int) -> dict[int, list[float]]:
    """Bare inferences a frame in each round, by people in view; in turns, so that the machine's mood hits all."""
    bare = bare_inference(scenes[1][0])
    pipelines = {people: Pipeline(frames, hours_ago()) for people, frames in scenes.items()}
    for people, pipeline in pipelines.items():
        pipeline.run(WARM_UP_FRAMES)
        assert pipeline.entities == people, f"{pipeline.entities} people followed, {people} are there"
        bare()
    ratios: dict[int, list[float]] = {people: [] for people in scenes}
    for number in range(rounds):
        for people, pipeline in pipelines.items():
            before = _time_bare(bare)
            cost_ms = pipeline.run(FRAMES_A_ROUND)
            ratios[people].append(cost_ms / ((before + _time_bare(bare)) / 2))
        say(f"  round {number + 1} of {rounds}: {', '.join(f'{NAMES[k]} {r[-1]:.2f}' for k, r in ratios.items())}")
    return ratios


def _time_bare(bare: Any) -> float:
    started = time.process_time()
    for _ in range(FRAMES_A_ROUND // 2):
        bare()
    return (time.process_time() - started) / (FRAMES_A_ROUND // 2) * 1000


def hours_ago() -> datetime:
    """Frames may come faster than real time without being ahead of the server's clock."""
    return datetime.now(UTC).replace(microsecond=0) - timedelta(hours=6)
