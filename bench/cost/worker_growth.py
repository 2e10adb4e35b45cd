"""Frames a second with one worker and with two, each with the same share of a core, by turns."""

import itertools
import statistics
import threading
import time
from datetime import UTC, datetime
from typing import Any

from bench.cost.drawn_scene import FPS, draw_standing
from bench.lib.camera import Camera
from bench.lib.cpu_share import at_most
from bench.lib.product import running_product, say
from testkit import Stack

CAMERAS = 4
ROUND_S = 8.0
WORKER_SHARE = 0.4
"""Of a core: the devices, the gateway and the bus are on the same two cores."""
SETTINGS = {"gateways": 1, "rate_limit_per_second": 1e5, "rate_limit_burst": 10**5, "log_level": "info"}


def measure_workers(rounds: int) -> dict[str, Any]:
    """Cameras with one person in view send one frame after the other."""
    frames = draw_standing(1)
    with running_product(workers=1, **SETTINGS) as one, running_product(workers=2, **SETTINGS) as two:
        rates: dict[int, list[float]] = {1: [], 2: []}
        with (
            at_most(WORKER_SHARE, one.children()["worker-1"]),
            at_most(WORKER_SHARE, two.children()["worker-1"]),
            at_most(WORKER_SHARE, two.children()["worker-2"]),
        ):
            for _ in range(rounds):
                for workers, stack in ((1, one), (2, two)):
                    rates[workers].append(_frames_a_second(stack, frames))
                    say(f"  {workers} workers: {rates[workers][-1]:.1f} frames a second")
    medians = {workers: round(statistics.median(found), 1) for workers, found in rates.items()}
    return {
        "frames_a_second": medians,
        "growth": round(medians[2] / medians[1], 2),
        "worker_share_of_a_core": WORKER_SHARE,
    }


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
