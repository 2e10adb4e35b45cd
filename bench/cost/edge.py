"""What a device that computes takes: CPU beside the bare pipeline and beside server mode, memory, bytes, time.

All at five frames a second, in turns: the bare pipeline on a film, the agent that computes, the agent that sends to a
server, for nobody, one and five people.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import psutil

from bench.cost.drawn_scene import draw_standing
from bench.cost.edge_bytes import find_visits, measure_visit_bytes
from bench.lib.clients import agent_environment
from bench.lib.figures import Figure
from bench.lib.processes import cpu_seconds, product_cpu_seconds
from bench.lib.product import ROOT, conclude, concluding, running_product, say
from testkit import Stack, TestStream
from testkit.ports import free_ports

SCENES = {"nobody": 0, "one_person": 1, "five_people": 5}
FPS = 5
LOOPS = 30
"""Of a film of twenty seconds: a measurement never meets its end."""
WARM_UP_S = 8.0
"""Not measured: imports, nets, the first handshake."""
RATIO_TARGET = 1.10
MEMORY_TARGET_MB = 350.0
BYTES_TARGET = 400.0
FEED_TARGET_S = 0.150
ENOUGH_ROUNDS = 3
TRIES, LEAST_SHARE = 6, 0.9
"""Of the frames: where some are dropped, the others each cost more, as some work is done once a second."""


@dataclass
class Costs:
    """Milliseconds of CPU a frame, one figure a round."""

    bare: list[float] = field(default_factory=list)
    device: list[float] = field(default_factory=list)
    server: list[float] = field(default_factory=list)
    """Of the agent that sends and of all of the product that computes."""
    memory_mb: list[float] = field(default_factory=list)
    feed_s: list[float] = field(default_factory=list)


def make_film(people: int, folder: Path) -> Path:
    """Lightly compressed, five frames a second: opening and decoding it is a part of both sides."""
    path, once = folder / f"{people}.mp4", folder / f"{people}-once.mp4"
    pictures = folder / f"pictures-{people}"
    pictures.mkdir()
    for number, image in enumerate(draw_standing(people)):
        grey: Any = cv2.imdecode(np.frombuffer(image, np.uint8), cv2.IMREAD_GRAYSCALE)
        cv2.imwrite(str(pictures / f"{number:03}.png"), grey)
    coded = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "18", "-pix_fmt", "yuv420p"]
    _ffmpeg(["-framerate", str(FPS), "-i", str(pictures / "%03d.png"), *coded, str(once)])
    _ffmpeg(["-stream_loop", str(LOOPS), "-i", str(once), "-c", "copy", str(path)])
    return path


def _ffmpeg(arguments: list[str]) -> None:
    subprocess.run(["ffmpeg", "-loglevel", "error", *arguments], check=True)


@contextmanager
def running(command: list[str], environment: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.STDOUT)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(20)


def family(process: subprocess.Popen[bytes]) -> list[int]:
    return [process.pid, *(child.pid for child in psutil.Process(process.pid).children(recursive=True))]


def cost_ms(
    process: subprocess.Popen[bytes], frames: Callable[[], int], seconds: float, others: Callable[[], float] = float
) -> float:
    """CPU a frame of a process, its children and what else is named, once it runs evenly."""
    give_up_at = time.monotonic() + 60
    while not frames():
        if process.poll() is not None or time.monotonic() > give_up_at:
            raise RuntimeError(f"{process.args!r} makes no frames")
        time.sleep(0.2)
    time.sleep(WARM_UP_S)
    pids = family(process)
    for _ in range(TRIES):
        made, used_s = frames(), cpu_seconds(pids) + others()
        time.sleep(seconds)
        made, used_s = frames() - made, cpu_seconds(pids) + others() - used_s
        if made >= LEAST_SHARE * FPS * seconds:
            return 1000 * used_s / made
        if process.poll() is not None:
            break
    raise RuntimeError(f"{process.args!r} made {made} frames in {seconds:g} s: is the machine busy?")


def memory_mb(process: subprocess.Popen[bytes]) -> float:
    """Of the agent and its computing process; what they share is counted once."""
    return sum(psutil.Process(pid).memory_full_info().pss for pid in family(process)) / 1e6


@dataclass
class Bench:
    """One product, one folder of films, and what each part costs in turn."""

    stack: Stack
    folder: Path
    seconds: float
    stream: TestStream
    costs: dict[str, Costs] = field(default_factory=lambda: {name: Costs() for name in SCENES})

    def measure_bare(self, name: str, film: Path) -> None:
        log = self.folder / "bare.log"
        command = [sys.executable, str(ROOT / "bench" / "cost" / "bare_pipeline.py"), str(film)]
        with running(command, dict(os.environ), log) as process:
            self.costs[name].bare.append(cost_ms(process, lambda: len(log.read_bytes().split()), self.seconds))

    def measure_device(self, name: str, film: Path) -> None:
        health, feed = free_ports(2)
        costs = self.costs[name]
        command = [*self._agent(film, health), "--compute", "device", "--feed-port", str(feed)]
        with running(
            [*command, "--journal", str(self.folder / "journal")],
            agent_environment(self.stack, self.stream, self.folder),
            self._log,
        ) as process:
            costs.device.append(cost_ms(process, lambda: _answered(health), self.seconds))
            costs.memory_mb.append(memory_mb(process))
            # Beside the measurement of CPU, as a reader costs some.
            costs.feed_s += read_feed(feed, self.seconds / 2)

    def measure_server(self, name: str, film: Path) -> None:
        (health,) = free_ports(1)
        command = [*self._agent(film, health), "--compute", "server", "--max-kbytes", "0"]
        with running(command, agent_environment(self.stack, self.stream, self.folder), self._log) as process:
            cost = cost_ms(process, lambda: _answered(health), self.seconds, self._product_seconds)
            self.costs[name].server.append(cost)

    def _product_seconds(self) -> float:
        return sum(product_cpu_seconds(self.stack).values())

    def _agent(self, film: Path, health: int) -> list[str]:
        program = str(Path(sys.executable).with_name("onlooker-agent"))
        paced = ["--fps", str(FPS), "--idle-fps", str(FPS), "--loop", "--quiet", "--health-port", str(health)]
        return [program, "run", str(film), *paced]

    @property
    def _log(self) -> Path:
        return self.folder / "agent.log"


def _answered(port: int) -> int:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as answer:
            said: dict[str, Any] = json.load(answer)
    except OSError:
        return 0
    return int(said["counts"]["answered"])


def read_feed(port: int, seconds: float) -> list[float]:
    """How old each frame is when its people reach a reader of server-sent events."""
    ages: list[float] = []

    def read() -> None:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/events", timeout=seconds + 5) as events:
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                line = events.readline()
                if line.startswith(b"data:"):
                    ages.append(time.time() - json.loads(line[5:])["at_ms"] / 1000)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(seconds + 10)
    return ages[1:]  # the first one is what was so when the reader came


def summarise(costs: dict[str, Costs]) -> list[Figure]:
    figures: list[Figure] = []
    for name, one in costs.items():
        # Each round by itself: what else the machine does changes slowly, and costs all alike.
        to_bare = statistics.median(ours / bare for ours, bare in zip(one.device, one.bare, strict=True))
        to_server = statistics.median(ours / theirs for ours, theirs in zip(one.device, one.server, strict=True))
        ages = sorted(one.feed_s)
        p95_s = ages[round(0.95 * (len(ages) - 1))] if ages else float("nan")
        figures += [
            Figure(f"{name}_bare_ms", statistics.median(one.bare), note="CPU of a frame, captured and computed"),
            Figure(f"{name}_device_ms", statistics.median(one.device), note="CPU of a frame, agent and its process"),
            Figure(f"{name}_server_ms", statistics.median(one.server), note="the same of agent and server together"),
            Figure(f"{name}_ratio_to_bare", to_bare, at_most=RATIO_TARGET),
            Figure(f"{name}_ratio_to_server_mode", to_server),
            Figure(f"{name}_memory_mb", max(one.memory_mb), at_most=MEMORY_TARGET_MB),
            Figure(f"{name}_feed_p95_s", p95_s, at_most=FEED_TARGET_S, note=f"{len(ages)} frames"),
        ]
    return figures


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rounds", type=int, nargs="?", default=5)
    parser.add_argument("--seconds", type=float, default=12.0, help="of each measurement")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="edge-cost-") as name, running_product(log_level="warning") as stack:
        folder = Path(name)
        films = {scene: make_film(people, folder) for scene, people in SCENES.items()}
        bench = Bench(stack, folder, arguments.seconds, stack.create_stream())
        for turn in range(arguments.rounds):
            for scene, film in films.items():
                bench.measure_bare(scene, film)
                bench.measure_device(scene, film)
                bench.measure_server(scene, film)
                one = bench.costs[scene]
                told = f"bare {one.bare[-1]:.1f}, device {one.device[-1]:.1f}, server mode {one.server[-1]:.1f} ms"
                say(f"  round {turn + 1}, {scene}: {told}, {one.memory_mb[-1]:.0f} MB")
    figures = summarise(bench.costs)
    visits = find_visits()
    figures += [
        Figure("bytes_a_visit", measure_visit_bytes(visits), at_most=BYTES_TARGET, note="request of 20, with its head"),
        Figure("bytes_of_a_lone_visit", measure_visit_bytes(visits, batch=1), note="its head included"),
    ]
    print_figures(figures)
    said = {figure.name: round(figure.value, 3) for figure in figures}
    targets = {"ratio": RATIO_TARGET, "memory_mb": MEMORY_TARGET_MB, "bytes": BYTES_TARGET, "feed_s": FEED_TARGET_S}
    ok = all(figure.met for figure in figures)
    conclude({"ok": ok, **said, "targets": targets}, verdict=arguments.rounds >= ENOUGH_ROUNDS)


def print_figures(figures: list[Figure]) -> None:
    for figure in figures:
        print(f"{figure.name:34} {figure.value:9.3f}  {figure.target:16} {figure.verdict:9} {figure.note}")


if __name__ == "__main__":
    main()
