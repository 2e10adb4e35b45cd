"""CPU of the agent at ten frames a second, beside bare OpenCV: capture, grey, small, JPEG, and nothing else."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.lib.allowance import add_allowance
from bench.lib.processes import cpu_seconds
from bench.lib.product import ROOT, conclude, running_product, say
from testkit import Stack
from testkit.ports import free_ports

RATIO_TARGET = 1.3
ENOUGH_ROUNDS = 3
"""Fewer are no verdict: single rounds differ by a tenth."""
WARM_UP_S = 4.0
"""Not measured: imports, the first handshake, OpenCV's first picture."""
CLIPS = {"640x480": ("640:480", "1M"), "1920x1080": ("1920:1080", "4M")}
"""Size and bits a second, as network cameras send them."""
LOOPS = 11
"""Of ten seconds each: a measurement never meets the end of the clip."""


@contextmanager
def running(command: list[str], environment: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process on the last CPU, where the product is not."""
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.STDOUT)
    if (count := os.cpu_count() or 1) > 1:
        os.sched_setaffinity(process.pid, {count - 1})
    try:
        yield process
    finally:
        process.terminate()
        process.wait(20)


def cost_ms(process: subprocess.Popen[bytes], frames: Callable[[], int], seconds: float) -> float:
    """CPU milliseconds a frame, of all threads, once it runs evenly."""
    time.sleep(WARM_UP_S)
    frames_before, cpu_before = frames(), cpu_seconds([process.pid])
    time.sleep(seconds)
    made, used_s = frames() - frames_before, cpu_seconds([process.pid]) - cpu_before
    if process.poll() is not None or made < 0.9 * 10 * seconds:
        raise RuntimeError(f"{process.args!r} made {made} frames in {seconds:g} s")
    return 1000 * used_s / made


def measure_bare(clip: Path, folder: Path, seconds: float) -> float:
    log = folder / "bare.log"
    command = [sys.executable, str(ROOT / "bench" / "cost" / "bare_camera.py"), str(clip)]
    with running(command, dict(os.environ), log) as process:
        return cost_ms(process, lambda: len(log.read_bytes().split()), seconds)


def measure_agent(clip: Path, folder: Path, seconds: float, environment: dict[str, str]) -> float:
    (port,) = free_ports(1)
    command = [str(Path(sys.executable).with_name("onlooker-agent")), "run", str(clip), "--loop", "--quiet"]
    command += ["--idle-fps", "10", "--max-kbytes", "0", "--health-port", str(port)]
    with running(command, environment, folder / "agent.log") as process:
        return cost_ms(process, lambda: _answered(port), seconds)


def _answered(port: int) -> int:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as answer:
        said: dict[str, Any] = json.load(answer)
    return int(said["counts"]["answered"])


def measure_size(stack: Stack, clip: Path, folder: Path, *, rounds: int, seconds: float) -> dict[str, Any]:
    stream = stack.create_stream()
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ONLOOKER_")}
    environment |= {
        "ONLOOKER_URL": stack.url,
        "ONLOOKER_CLIENT_ID": stream.client_id,
        "ONLOOKER_ACCESS_TOKEN": stream.access_token,
        "ONLOOKER_CA_FILE": stack.ca_file,
        "XDG_CONFIG_HOME": str(folder),
    }
    bare, agent = [], []
    for turn in range(rounds):
        bare.append(measure_bare(clip, folder, seconds))
        agent.append(measure_agent(clip, folder, seconds, environment))
        say(f"  round {turn + 1}: bare {bare[-1]:.2f} ms, agent {agent[-1]:.2f} ms a frame")
    # Each round by itself: what else the machine does changes slowly, and costs both alike.
    ratio = statistics.median(after / before for before, after in zip(bare, agent, strict=True))
    return {
        "bare_ms": round(statistics.median(bare), 2),
        "agent_ms": round(statistics.median(agent), 2),
        "ratio": round(ratio, 3),
    }


def make_clips(folder: Path) -> dict[str, Path]:
    """Somebody who passes by, again and again, before a sensor with a little noise."""
    drawn = folder / "drawn.mp4"
    subprocess.run([sys.executable, str(ROOT / "docs" / "make_passing.py"), str(drawn)], check=True)
    for name, (size, bit_rate) in CLIPS.items():
        clip = ["-vf", f"scale={size},noise=alls=3:allf=t", "-t", "20", "-b:v", bit_rate, "-preset", "veryfast"]
        once = folder / f"{name}-once.mp4"
        _ffmpeg(["-stream_loop", "1", "-i", str(drawn), *clip, "-c:v", "libx264", str(once)])
        _ffmpeg(["-stream_loop", str(LOOPS), "-i", str(once), "-c", "copy", str(folder / f"{name}.mp4")])
    return {name: folder / f"{name}.mp4" for name in CLIPS}


def _ffmpeg(arguments: list[str]) -> None:
    subprocess.run(["ffmpeg", "-loglevel", "error", *arguments], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rounds", type=int, nargs="?", default=5)
    parser.add_argument("--seconds", type=float, default=15.0, help="of each measurement")
    add_allowance(parser)
    arguments = parser.parse_args()
    if (os.cpu_count() or 1) > 1:
        os.sched_setaffinity(0, range((os.cpu_count() or 1) - 1))
    with tempfile.TemporaryDirectory(prefix="agent-cost-") as name, running_product(log_level="warning") as stack:
        folder = Path(name)
        figures: dict[str, Any] = {}
        for size, clip in make_clips(folder).items():
            say(f"{size}, {arguments.rounds} rounds, bare and agent in turns")
            figures[size] = measure_size(stack, clip, folder, rounds=arguments.rounds, seconds=arguments.seconds)
    ratios = [figures[size]["ratio"] for size in CLIPS]
    ok = max(ratios) <= RATIO_TARGET * arguments.allow
    conclude(
        {"ok": ok, "ratio_target": RATIO_TARGET, "allowed_factor": arguments.allow, **figures},
        verdict=arguments.rounds >= ENOUGH_ROUNDS or arguments.allow > 1,
    )


if __name__ == "__main__":
    main()
