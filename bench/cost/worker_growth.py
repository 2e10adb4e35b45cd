"""Frames a second with one worker and with two, each on a core of its own, by turns."""

import itertools
import os
import statistics
import threading
import time
from datetime import UTC, datetime
from typing import Any

import psutil

from bench.cost.drawn_scene import FPS, draw_standing
from bench.lib.camera import Camera
from bench.lib.product import running_product, say
from testkit import Stack

CAMERAS = 4
ROUND_S = 8.0
SETTINGS = {"gateways": 1, "rate_limit_per_second": 1e5, "rate_limit_burst": 10**5, "log_level": "info"}


def pin(pid: int, cores: set[int]) -> None:
    """A process, its threads and its children."""
    for process in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
        for thread in process.threads():
            os.sched_setaffinity(thread.id, cores)


def measure_workers(rounds: int) -> dict[str, Any]:
    """Cameras with one person in view send one frame after the other."""
    frames = draw_standing(1)
    with running_product(workers=1, **SETTINGS) as one, running_product(workers=2, **SETTINGS) as two:
        pin(one.children()["worker-1"], {0})
        for number in (1, 2):
            pin(two.children()[f"worker-{number}"], {number - 1})
        rates: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(rounds):
            for workers, stack in ((1, one), (2, two)):
                rates[workers].append(_frames_a_second(stack, frames))
                say(f"  {workers} workers: {rates[workers][-1]:.1f} frames a second")
    medians = {workers: round(statistics.median(found), 1) for workers, found in rates.items()}
    return {"frames_a_second": medians, "growth": round(medians[2] / medians[1], 2)}


def _frames_a_second(stack: Stack, frames: list[bytes]) -> float:
    counts = [0] * CAMERAS
    streams = [stack.create_stream() for _ in counts]
    ends_at = time.monotonic() + ROUND_S

    def film(place: int) -> None:
        camera = Camera(stack, streams[place], begins_at=datetime.now(UTC))
        for number in itertools.count():
            if time.monotonic() > ends_at:
                break
            answer = camera.send(frames[number % len(frames)], number / FPS)
            assert answer.status_code == 201, answer.text
            counts[place] += 1
        camera.close()

    threads = [threading.Thread(target=film, args=[place]) for place in range(CAMERAS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / ROUND_S
