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
from onlooker.compute.process_launch import Spares
from onlooker.compute.service_process import ServiceProcess
from onlooker.settings import Settings
from onlooker_pipeline.frame_time import time_frame
from onlooker_pipeline.service_call import Sender

ROUNDS, FRAMES = 15, 30
PEOPLE = 1
RATIO_TARGET = 1.03
RESTARTS, RESTART_TARGET_S = 4, 1.0
SPARE_RESTS_S = 1.0


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
        answer = await self.process.compute(call)
        assert answer.error_code is None, answer.result
        self.state = answer.state


def process_with(settings: Settings, *, spares: int) -> ServiceProcess:
    return ServiceProcess(settings, Spares(settings, spares))


def pid_of(process: ServiceProcess) -> int:
    assert process._started
    return process._started.process.pid


async def measure(rounds: int) -> dict[str, float]:
    frames = cycle(draw_standing(PEOPLE))
    cameras = {name: ConfinedCamera(process_with(Settings(confinement=name), spares=0)) for name in ("on", "off")}
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
        cold = [await restart(cameras["on"].process) for _ in range(RESTARTS)]
    finally:
        for camera in cameras.values():
            await camera.process.stop()
    spare_mb, restarts = await measure_spare()
    ratios = [on / off for on, off in zip(costs["on"], costs["off"], strict=True)]
    return {
        "ratio": round(statistics.median(ratios), 4),
        "on_ms": round(statistics.median(costs["on"]), 2),
        "off_ms": round(statistics.median(costs["off"]), 2),
        "restart_s": round(min(restarts), 2),
        "restart_median_s": round(statistics.median(restarts), 2),
        "restart_without_spare_s": round(min(cold), 2),
        "restart_without_spare_median_s": round(statistics.median(cold), 2),
        "memory_mb": round(memory_mb),
        "spare_own_memory_mb": round(spare_mb),
    }


async def measure_spare() -> tuple[float, list[float]]:
    """Megabytes that a spare has for itself, and seconds until it has replaced a process that ended."""
    settings = Settings()
    spares = Spares(settings, 1)
    process = ServiceProcess(settings, spares)
    await process.start()
    try:
        restarts = []
        for _ in range(RESTARTS):
            [spare] = await await_spare(pid_of(process))
            own_mb = spare.memory_full_info().uss / 1024**2
            restarts.append(await restart(process))
        return own_mb, restarts
    finally:
        await process.stop()
        await spares.stop()


async def await_spare(besides: int) -> list[psutil.Process]:
    """Until it is there and no longer busy with its start."""
    while True:
        found = [child for child in psutil.Process().children() if child.pid != besides]
        if found and (before_s := sum(found[0].cpu_times()[:2])):
            await asyncio.sleep(SPARE_RESTS_S)
            if sum(found[0].cpu_times()[:2]) - before_s < 0.1 * SPARE_RESTS_S:
                return found
        await asyncio.sleep(0.05)


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
