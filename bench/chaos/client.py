"""An agent on a bad link: a proxy cuts, delays, throttles and resets while the agent must stay up, small and fresh.

Then a network camera is killed and started again (`bench/chaos/network_camera.py`).
"""

import argparse
import random
import secrets
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.chaos import network_camera
from bench.chaos.agent_observation import Observed, Sample, computed_frames, observed_agent
from bench.chaos.proxy import Proxy, Weather, running_proxy
from bench.lib.product import ROOT, conclude, running_product, say
from testkit import Stack

STALE_TARGET_S = 2.0
"""How old the newest answered frame may be, from so long after each recovery on."""
MEMORY_TARGET_MB = 20.0
WARM_UP_S = 15.0
PHASE_S = (5.0, 15.0)
CALM_S = (5.0, 9.0)
AMBIGUOUS = ("connection_lost", "timed_out", "overtaken", "stopped", "computation_failed")
"""Ways in which a frame may have reached the server without an answer."""
FPS = 10.0
CLOCK_SHARES = [0.95, 1.02]
STORMS = [weather for weather in Weather if weather is not Weather.CALM]


@dataclass(frozen=True)
class Phase:
    """Bad weather, and the calm after it; moments of the monotonic clock."""

    weather: Weather
    began_s: float
    ended_s: float
    calm_until_s: float


def storm(proxy: Proxy, observed: Observed, *, seconds: float, chance: random.Random) -> list[Phase]:
    """Every kind in turn, shuffled again each time."""
    phases: list[Phase] = []
    coming: list[Weather] = []
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at and observed.process.poll() is None:
        coming = coming or chance.sample(STORMS, len(STORMS))
        weather = coming.pop()
        began_s = time.monotonic()
        proxy.set_weather(weather)
        time.sleep(chance.uniform(*PHASE_S))
        proxy.set_weather(Weather.CALM)
        ended_s = time.monotonic()
        time.sleep(chance.uniform(*CALM_S))
        phases.append(Phase(weather, began_s, ended_s, time.monotonic()))
        back_s = recovered_s(phases[-1], observed.samples)
        say(f"  {weather.value} for {ended_s - began_s:.0f} s: fresh again {_shown(back_s)} after it")
    return phases


def recovered_s(phase: Phase, samples: list[Sample]) -> float | None:
    """How long after the phase the newest answered frame was fresh, and stayed so until the calm ended."""
    calm = [sample for sample in samples if phase.ended_s <= sample.at_s < phase.calm_until_s]
    stale = [sample.at_s for sample in calm if sample.age_s > STALE_TARGET_S]
    if not calm or (stale and stale[-1] == calm[-1].at_s):
        return None
    return stale[-1] - phase.ended_s if stale else 0.0


def _shown(seconds: float | None) -> str:
    return "never" if seconds is None else f"{seconds:.1f} s"


def measure(stack: Stack, folder: Path, *, seconds: float, seed: int) -> dict[str, Any]:
    clip = folder / "passing.mp4"
    subprocess.run([sys.executable, str(ROOT / "docs" / "make_passing.py"), str(clip)], check=True)
    chance = random.Random(seed)
    stream = stack.create_stream()
    with running_proxy(int(stack.setting("https_port")), seed=seed) as proxy:
        url = f"https://localhost:{proxy.port}"
        arguments = [str(clip), "--loop"]
        with observed_agent(arguments, stream, url=url, ca_file=stack.ca_file, folder=folder) as observed:
            time.sleep(WARM_UP_S)
            phases = storm(proxy, observed, seconds=seconds, chance=chance)
            has_exited = observed.process.poll() is not None
            last = {} if has_exited else observed.finish()
        connections = proxy.connections
    computed = computed_frames(stack.metrics("worker-1"))
    figures = judge(phases, observed, last, computed=computed)
    return figures | {"has_exited": has_exited, "connections": connections, "log_lines": _lines(observed.log)}


def judge(phases: list[Phase], observed: Observed, last: dict[str, Any], *, computed: int) -> dict[str, Any]:
    """Every figure with its target."""
    samples = observed.samples
    began_s = phases[0].began_s if phases else 0.0
    memory = [sample.rss_bytes / 1e6 for sample in samples if sample.at_s >= began_s]
    judged = [
        sample.age_s
        for phase in phases
        for sample in samples
        if phase.ended_s + STALE_TARGET_S <= sample.at_s < phase.calm_until_s
    ]
    counts = last.get("counts", {})
    dropped = counts.get("dropped", {})
    ambiguous = sum(dropped.get(reason, 0) for reason in AMBIGUOUS)
    answered = counts.get("answered", 0)
    return {
        "phases": len(phases),
        "stale_worst_s": round(max(judged, default=0.0), 2),
        "stale_target_s": STALE_TARGET_S,
        "recovered_s": {weather.value: _worst(weather, phases, samples) for weather in STORMS},
        "memory_growth_mb": round(max(memory) - min(memory), 1) if memory else None,
        "memory_target_mb": MEMORY_TARGET_MB,
        "threads_most": max((sample.threads for sample in samples), default=0),
        "health_missed": observed.missed,
        "counts": counts,
        "adds_up": counts.get("adds_up", False),
        "frames_of_the_clock": _share_of_the_clock(counts, last),
        "frames_of_the_clock_target": CLOCK_SHARES,
        "frames_computed": computed,
        "frames_explained": answered <= computed <= answered + ambiguous,
        "exit_code": last.get("exit_code"),
        "stop_s": last.get("stop_s"),
    }


def _share_of_the_clock(counts: dict[str, Any], last: dict[str, Any]) -> float:
    """Frames that the agent counted, of those that the camera gave meanwhile by the clock: none goes uncounted."""
    looked_s = last.get("looked_s", 0.0) - last.get("stop_s", 0.0)
    return round(counts.get("grabbed", 0) / (looked_s * FPS), 3) if looked_s > 0 else 0.0


def _worst(weather: Weather, phases: list[Phase], samples: list[Sample]) -> float | None:
    times = [recovered_s(phase, samples) for phase in phases if phase.weather is weather]
    known = [one for one in times if one is not None]
    return None if len(known) < len(times) or not known else round(max(known), 2)


def is_ok(figures: dict[str, Any]) -> bool:
    return (
        figures["phases"] > 0
        and not figures["has_exited"]
        and figures["stale_worst_s"] <= STALE_TARGET_S
        and figures["memory_growth_mb"] is not None
        and figures["memory_growth_mb"] <= MEMORY_TARGET_MB
        and figures["adds_up"]
        and CLOCK_SHARES[0] <= figures["frames_of_the_clock"] <= CLOCK_SHARES[1]
        and figures["frames_explained"]
        and figures["exit_code"] == 0
    )


def _lines(log: Path) -> int:
    return len(log.read_text().splitlines())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=float, nargs="?", default=300.0)
    parser.add_argument("seed", type=int, nargs="?", default=secrets.randbelow(10**6))
    parser.add_argument("--kills", type=int, default=20, help="of the network camera; 0: none")
    parser.add_argument("--keep-log", type=Path, help="copy the agent's log there")
    arguments = parser.parse_args()
    say(f"bad link for {arguments.seconds:g} s, seed {arguments.seed}")
    with tempfile.TemporaryDirectory(prefix="chaos-client-") as name, running_product(log_level="warning") as stack:
        figures = measure(stack, Path(name), seconds=arguments.seconds, seed=arguments.seed)
        if arguments.keep_log:
            arguments.keep_log.write_bytes((Path(name) / "agent.log").read_bytes())
    ok = is_ok(figures)
    if arguments.kills:
        figures["rtsp"] = network_camera.run(arguments.kills)
        ok = ok and figures["rtsp"]["ok"]
    conclude({"ok": ok, "seconds": arguments.seconds, "seed": arguments.seed, **figures})


if __name__ == "__main__":
    main()
