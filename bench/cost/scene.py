"""What following people costs: CPU of a frame in bare YuNet inferences, and of the whole service around it."""

import argparse
import statistics
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from multiprocessing import get_context
from typing import Any

import msgspec

from bench.cost.drawn_scene import FPS, draw_standing
from bench.cost.scene_frames import (
    FRAMES_A_ROUND,
    NAMES,
    TARGETS,
    WARM_UP_FRAMES,
    Pipeline,
    hours_ago,
    measure_ratios,
)
from bench.lib.allowance import add_allowance
from bench.lib.camera import Camera
from bench.lib.processes import product_cpu_seconds
from bench.lib.product import conclude, running_product, say
from onlooker_pipeline.face_size import bin_of
from onlooker_pipeline.scene.body_search import shrink_picture
from onlooker_pipeline.scene.condition import ConditionState, SceneMemory, judge_picture
from onlooker_pipeline.scene.picture_fault import measure_picture, trace_picture
from onlooker_pipeline.service_call import FrameQuality
from onlooker_pipeline.vision.picture import decode_picture

ROUNDS = 12
CONDITIONS_A_ROUND = 500
CAMERAS = 8
WORKERS = 2
CAMERA_FRAMES_A_ROUND = 40
WHOLE_TARGET = 0.85
CONDITION_TARGET = 0.02
"""Share of a frame without people, the cheapest there is, that judging the camera's condition and quality may cost."""
COUNTED_FACES_PX = (35.0, 60.0, 90.0)
"""Sizes are counted as if these were there: quality costs more with people, and is compared with a frame without."""
encode_quality = msgspec.msgpack.Encoder().encode
ROOMY = {"rate_limit_per_second": 1e5, "rate_limit_burst": 10**5}


def measure_condition(frames: list[bytes], *, rounds: int) -> float:
    """CPU of judging the camera's condition and quality, as a share of the whole frame's; in turns, the median."""
    pipeline, pictures = Pipeline(frames, hours_ago()), [decode_picture(frame) for frame in frames]
    smalls = [shrink_picture(picture) for picture in pictures]
    state, memory, numbers = ConditionState(), SceneMemory(smalls[0]), count()
    pipeline.run(WARM_UP_FRAMES)
    shares = []
    for _ in range(rounds):
        whole_ms = pipeline.run(FRAMES_A_ROUND)
        started = time.process_time()
        for _ in range(CONDITIONS_A_ROUND):
            number = next(numbers)
            memory.previous = smalls[number % len(smalls)]
            trace = trace_picture(pictures[number % len(pictures)])
            picture = measure_picture(memory.previous)
            encode_quality(FrameQuality(picture.is_dim, [bin_of(face_px) for face_px in COUNTED_FACES_PX]))
            judge_picture(state, memory, picture, trace=trace, at_ms=int(1000 * number / FPS) + 1, shows_face=False)
        shares.append((time.process_time() - started) / CONDITIONS_A_ROUND * 1000 / whole_ms)
    return statistics.median(shares)


@dataclass
class Filming:
    """A camera of the whole service, and which frame comes next."""

    camera: Camera
    frames: list[bytes]
    number: int

    def send(self, frames: int) -> None:
        for _ in range(frames):
            answer = self.camera.send(self.frames[self.number % len(self.frames)], self.number / FPS)
            assert answer.status_code == 201, answer.text
            assert "error" not in answer.json(), answer.text
            self.number += 1


_alone: list[Pipeline] = []


def _open_alone(scenes: dict[int, list[bytes]], numbers: Any) -> None:
    """In a process of its own: as many cameras as a worker has, each with its scene."""
    first = numbers.get() * CAMERAS // WORKERS
    _alone.extend(
        Pipeline(_scene_of(camera, scenes), hours_ago()) for camera in range(first, first + CAMERAS // WORKERS)
    )
    for pipeline in _alone:
        pipeline.run(WARM_UP_FRAMES // 2)


def _scene_of(camera: int, scenes: dict[int, list[bytes]]) -> list[bytes]:
    """Nobody, one and five people in turn."""
    return list(scenes.values())[camera % len(scenes)]


def _run_alone(frames: int) -> float:
    """Milliseconds of CPU a frame, one camera after the other, as their frames reach a worker."""
    started = time.process_time()
    for _ in range(frames):
        for pipeline in _alone:
            pipeline.step()
    return (time.process_time() - started) / (frames * len(_alone)) * 1000


def measure_whole(scenes: dict[int, list[bytes]], *, rounds: int) -> dict[str, float]:
    """CPU a frame of the bare pipeline and of all server processes, in turns, on the same frames.

    The bare one runs in as many processes as there are workers, at the same time: two cores that both compute are
    slower each than one alone, and that is not the service's doing.
    """
    costs: dict[str, list[float]] = {"bare": [], "whole": []}
    spawning = get_context("spawn")
    numbers = spawning.Queue()
    for number in range(WORKERS):
        numbers.put(number)
    with (
        running_product(workers=WORKERS, log_level="info", **ROOMY) as stack,
        ThreadPoolExecutor(CAMERAS) as threads,
        ProcessPoolExecutor(WORKERS, spawning, _open_alone, (scenes, numbers)) as alone,
    ):
        cameras = [
            Filming(Camera(stack, stack.create_stream(), begins_at=hours_ago()), _scene_of(number, scenes), 7 * number)
            for number in range(CAMERAS)
        ]
        list(threads.map(lambda filming: filming.send(WARM_UP_FRAMES // 2), cameras))
        list(alone.map(_run_alone, [1] * WORKERS))
        for number in range(rounds):
            before = product_cpu_seconds(stack)
            list(threads.map(lambda filming: filming.send(CAMERA_FRAMES_A_ROUND), cameras))
            used_s = sum(seconds - before.get(pid, 0.0) for pid, seconds in product_cpu_seconds(stack).items())
            costs["whole"].append(used_s / (CAMERAS * CAMERA_FRAMES_A_ROUND) * 1000)
            costs["bare"].append(statistics.fmean(alone.map(_run_alone, [CAMERA_FRAMES_A_ROUND] * WORKERS)))
            ratio = costs["bare"][-1] / costs["whole"][-1]
            say(f"  round {number + 1} of {rounds}: bare {costs['bare'][-1]:.1f} ms, {ratio:.3f} of the whole")
    ratio = statistics.median(bare / whole for bare, whole in zip(costs["bare"], costs["whole"], strict=True))
    return {"ratio": ratio} | {f"{name}_ms": statistics.median(values) for name, values in costs.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rounds", nargs="?", type=int, default=ROUNDS)
    add_allowance(parser)
    asked = parser.parse_args()
    rounds, allow = asked.rounds, asked.allow
    scenes = {people: draw_standing(people) for people in TARGETS}
    say(f"CPU a frame over {rounds} rounds")
    ratios = {people: statistics.median(found) for people, found in measure_ratios(scenes, rounds=rounds).items()}
    condition = measure_condition(scenes[0], rounds=rounds)
    say(f"  the camera's condition: {condition:.2%} of a frame without people")
    say(f"the whole service with {CAMERAS} cameras")
    whole = measure_whole(scenes, rounds=rounds)
    ok = all(ratios[people] <= target * allow for people, target in TARGETS.items())
    ok = ok and whole["ratio"] >= WHOLE_TARGET / allow and condition <= CONDITION_TARGET * allow
    figures: dict[str, Any] = {"ok": ok, "rounds": rounds, "allowed_factor": allow}
    figures |= {"condition_share": round(condition, 4), "condition_share_target": CONDITION_TARGET}
    for people, name in NAMES.items():
        figures |= {f"{name}_ratio": round(ratios[people], 2), f"{name}_ratio_target": TARGETS[people]}
    figures |= {"bare_to_whole": round(whole["ratio"], 3), "bare_to_whole_target": WHOLE_TARGET}
    figures |= {"cpu_ms": {name: round(whole[f"{name}_ms"], 2) for name in ("bare", "whole")}}
    conclude(figures, verdict=rounds >= ROUNDS or allow > 1)


if __name__ == "__main__":
    main()
