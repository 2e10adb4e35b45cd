"""What confinement costs a frame: the same frames through computing processes with it and without, by turns."""

import argparse
import asyncio
import os
import signal
import statistics
import time
from dataclasses import dataclass
from itertools import count, cycle, islice

import psutil

from bench.cost.drawn_scene import draw_standing
from bench.lib.processes import cpu_seconds
from bench.lib.product import conclude, concluding, say
from onlooker.compute.call_messages import CallMessage
from onlooker.compute.service_process import ServiceProcess
from onlooker.settings import Settings
from onlooker_pipeline.frame_time import time_frame
from onlooker_pipeline.service_call import Sender

ROUNDS, FRAMES = 15, 30
PEOPLE = 1
RATIO_TARGET = 1.03
RESTARTS, RESTART_TARGET_S = 5, 1.0


@dataclass
class ConfinedCamera:
    """One session in one computing process, confined or not."""

    process: ServiceProcess
    state: object = None
    sent: int = 0

    async def send(self, frames: list[bytes]) -> float:
        """CPU milliseconds a frame, of the computing process and of this one."""
        own = [os.getpid(), pid_of(self.process)]
        before_s = cpu_seconds(own)
        for frame in frames:
            await self._send(frame)
        return (cpu_seconds(own) - before_s) / len(frames) * 1000

    async def _send(self, frame: bytes) -> None:
        self.sent += 1
        at_s = 1_700_000_000 + self.sent / 10
        timed = time_frame(None, round(at_s * 1e6), None)

        fields, at_ms = {"image": frame}, timed.at_ms
        call = CallMessage(0, "scene_analysis", 1, {}, fields, True, 1, at_s, Sender(), timed, at_ms, self.state)
        answer = await self.process.compute(call, time.time() + 30)
        assert answer.error_code is None, answer.result
        self.state = answer.state


def pid_of(process: ServiceProcess) -> int:
    assert process._process
    return process._process.pid


async def measure(rounds: int) -> dict[str, float]:
    frames = cycle(draw_standing(PEOPLE))
    cameras = {name: ConfinedCamera(ServiceProcess(Settings(confinement=name))) for name in ("on", "off")}
    costs: dict[str, list[float]] = {name: [] for name in cameras}
    try:
        for camera in cameras.values():
            await camera.process.start()
            await camera.send(list(islice(frames, FRAMES)))
        for number in range(rounds):
            batch = list(islice(frames, FRAMES))
            for name in sorted(cameras, reverse=number % 2 == 0):
                costs[name].append(await cameras[name].send(batch))
            say(f"  round {number + 1} of {rounds}: on {costs['on'][-1]:.2f} ms, off {costs['off'][-1]:.2f} ms")
        memory_mb = psutil.Process(pid_of(cameras["on"].process)).memory_info().rss / 1024**2
        restarts = [await restart(cameras["on"].process) for _ in range(RESTARTS)]
    finally:
        for camera in cameras.values():
            await camera.process.stop()
    ratios = [on / off for on, off in zip(costs["on"], costs["off"], strict=True)]
    return {
        "ratio": round(statistics.median(ratios), 4),
        "on_ms": round(statistics.median(costs["on"]), 2),
        "off_ms": round(statistics.median(costs["off"]), 2),
        "restart_s": round(min(restarts), 2),
        "restart_median_s": round(statistics.median(restarts), 2),
        "memory_mb": round(memory_mb),
    }


async def restart(process: ServiceProcess) -> float:
    """Seconds from its end until the next one is ready."""
    began, before = time.monotonic(), pid_of(process)
    os.kill(before, signal.SIGKILL)
    for _ in count():
        if pid_of(process) != before and process.is_ready:
            return time.monotonic() - began
        await asyncio.sleep(0.005)
    raise AssertionError("unreachable")


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rounds", nargs="?", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    figures = asyncio.run(measure(rounds))
    ok = figures["ratio"] <= RATIO_TARGET and figures["restart_s"] <= RESTART_TARGET_S
    targets = {"ratio_target": RATIO_TARGET, "restart_target_s": RESTART_TARGET_S}
    conclude({"ok": ok, "rounds": rounds} | figures | targets)


if __name__ == "__main__":
    main()
