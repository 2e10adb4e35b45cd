"""How large a machine must be: one camera and ten measured live, more of them computed; and devices that compute."""

import argparse
import os
import platform
import statistics
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import psutil

from bench.cost.capacity_page import CAMERA_COUNTS, FPS, Load, ScenePart, load_of, write_page
from bench.cost.device_capacity import DeviceCost, RequestCosts, measure_devices, measure_requests, this_core
from bench.cost.device_capacity_page import DEVICE_COUNTS, device_loads, device_section
from bench.cost.drawn_scene import draw_standing
from bench.cost.state_bytes import measure_states
from bench.cost.visit_writes import measure_visits
from bench.lib.camera import Camera
from bench.lib.processes import product_cpu_seconds
from bench.lib.product import conclude, concluding, running_product, say
from testkit import Stack

SECONDS = 20.0
WARM_UP_S = 4.0
VISITS = 20_000
PEOPLE = {"quiet": 0, "busy": 1, "crowded": 5}
ROOM = 0.7
"""Of the machine's cores that a row may need to be measured here; the cameras themselves need some."""
MISSED_TARGET = 0.01


@dataclass(frozen=True)
class Lived:
    """What some cameras took while they sent."""

    cores: float
    """That were busy."""
    memory_mb: float
    missed: float
    """Share of frames that were refused, or sent late because the one before had no answer yet."""


def play(stack: Stack, frames: list[bytes], *, cameras: int, seconds: float) -> Lived:
    """Cameras at a steady rate; what they took after the first seconds."""
    begins_at, began = datetime.now(UTC), time.monotonic()
    streams = [stack.create_stream() for _ in range(cameras)]
    sent: Counter[str] = Counter()

    def film(number: int) -> None:
        camera = Camera(stack, streams[number], begins_at=begins_at)
        for shot in range(round((WARM_UP_S + seconds) * FPS)):
            due = began + (shot + number / cameras) / FPS
            late_s = time.monotonic() - due
            time.sleep(max(0.0, -late_s))
            answer = camera.send(frames[2 * shot % len(frames)], (shot + number / cameras) / FPS)
            sent["missed" if answer.status_code != 201 or late_s > 1 / FPS else "kept"] += 1
        camera.end()
        camera.close()

    with ThreadPoolExecutor(cameras) as threads:
        playing = [threads.submit(film, number) for number in range(cameras)]
        time.sleep(max(0.0, began + WARM_UP_S - time.monotonic()))
        before, measured_at = product_cpu_seconds(stack), time.monotonic()
        time.sleep(max(0.0, began + WARM_UP_S + seconds - 0.5 - time.monotonic()))
        after, took_s = product_cpu_seconds(stack), time.monotonic() - measured_at
        for one in playing:
            one.result()
    spent_s = sum(seconds - before.get(pid, 0.0) for pid, seconds in after.items())
    return Lived(spent_s / took_s, memory_mb(stack), sent["missed"] / sent.total())


def memory_mb(stack: Stack) -> float:
    """Of all processes of the product, what they share counted once."""
    family = [stack.process.pid, *(child.pid for child in psutil.Process(stack.process.pid).children(recursive=True))]
    return sum(psutil.Process(pid).memory_full_info().pss for pid in family) / 1e6


@dataclass(frozen=True)
class Measured:
    """All that the page has."""

    loads: list[Load]
    parts: list[ScenePart]
    devices: list[DeviceCost]
    requests: RequestCosts


def measure(seconds: float) -> Measured:
    scenes = {name: draw_standing(people) for name, people in PEOPLE.items()}
    say("bytes of a visit and of a session's state ...")
    visit_bytes = measure_visits(VISITS)["after"].table_bytes
    states = measure_states()["after"]
    loads: list[Load] = []
    parts: list[ScenePart] = []
    with running_product(rate_limit_per_second=1e5, rate_limit_burst=10**5, log_level="info") as stack:
        idle_mb = memory_mb(stack)
        for name, frames in scenes.items():
            say(f"{name}: one camera ...")
            one = play(stack, frames, cameras=1, seconds=seconds)
            part = ScenePart(
                name,
                people=PEOPLE[name],
                cores=one.cores,
                frame_bytes=statistics.fmean(map(len, frames)),
                state_bytes=states[PEOPLE[name]].kept_bytes,
                visit_bytes=visit_bytes,
                idle_mb=idle_mb,
            )
            parts.append(part)
            for cameras in CAMERA_COUNTS:
                fits = cameras == 1 or (cameras == 10 and part.cores * cameras < ROOM * (os.cpu_count() or 1))
                if fits and cameras > 1:
                    say(f"{name}: {cameras} cameras ...")
                lived = one if cameras == 1 else play(stack, frames, cameras=cameras, seconds=seconds) if fits else None
                loads.append(load_of(part, cameras, lived=lived))
        return Measured(loads, parts, measure_devices(stack, seconds), measure_requests(stack))


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="that cameras send in each measured row")
    parser.add_argument("--write", action="store_true", help="write the table into the documentation")
    arguments = parser.parse_args()
    found = measure(arguments.seconds)
    loads, devices = found.loads, device_loads(found.parts, found.requests)
    machine = f"{os.cpu_count()} cores, {round(psutil.virtual_memory().total / 2**30)} GiB, {platform.machine()}"
    if arguments.write:
        section = device_section(found.devices, devices, found.requests, here=this_core())
        write_page(loads, section, machine=machine, on=datetime.now(UTC).date())
    measured = [load for load in loads if load.is_measured]
    missed = max(load.missed for load in measured)
    figures: dict[str, Any] = {
        "ok": missed <= MISSED_TARGET
        and len(loads) == len(PEOPLE) * len(CAMERA_COUNTS)
        and len(devices) == len(PEOPLE) * len(DEVICE_COUNTS)
        and all(one.frame_ms > 0 for one in found.devices),
        "rows": len(loads) + len(devices),
        "rows_measured": len(measured),
        "frames_missed_worst": round(missed, 4),
        "frames_missed_target": MISSED_TARGET,
        "device_frame_ms": {one.view: round(one.frame_ms, 1) for one in found.devices},
        "cores_of_100000_devices": {load.scene: round(load.cores, 1) for load in devices if load.cameras == 100_000},
        "cores_of_one_camera": {load.scene: round(load.cores, 3) for load in loads if load.cameras == 1},
        "machine": machine,
    }
    conclude(figures)


if __name__ == "__main__":
    main()
