"""Visits while workers, recorder and NATS are killed: is every one there, once, as without?"""

import argparse
import secrets
import sys
from datetime import UTC, datetime
from typing import Any

from bench.chaos.camera_run import CameraRun
from bench.lib.camera import Reel, plan_takes
from bench.lib.processes import Killer
from bench.lib.product import conclude, running_product, say
from bench.lib.scenes import LabelledScene, find_scenes
from bench.lib.testdata import find_testdata
from bench.lib.visits import WRITE_LIMIT_S

CAMERAS = 4
FULL_S = 300
KILLS = 10
KILLED = ["worker-1", "worker-2", "recorder", "nats"]
IDLE_S = 20
"""After which a session that goes silent has ended; shorter than usual, to see it."""
SETTINGS = {
    "workers": 2,
    "session_idle_s": IDLE_S,
    "rate_limit_per_second": 1e5,
    "rate_limit_burst": 10**5,
    "log_level": "info",
}


def measure(scenes: list[LabelledScene], *, seconds: int, seed: int, answered_only: bool) -> dict[str, Any]:
    reels = [Reel.of(scene) for scene in scenes]
    takes = [plan_takes(reels, seconds=seconds, first=camera) for camera in range(CAMERAS)]
    kills = max(1, round(KILLS * seconds / FULL_S))
    with running_product(**SETTINGS) as stack:
        cameras = CameraRun(stack, takes, begins_at=datetime.now(UTC).replace(microsecond=0))
        killer = Killer(stack, KILLED, kills=kills, seed=seed, pause_s=_pause(seconds, kills))
        killer.start()
        say(f"{CAMERAS} cameras for {seconds} s, {kills} kills, seed {seed}")
        disturbed = cameras.film()
        killer.wait()
        figures = cameras.compare(disturbed, limit_s=WRITE_LIMIT_S, answered_only=answered_only)
        figures |= {"kills": dict(killer.killed), "kills_target": kills}
        ok = figures["ok"] and killer.done
        if not ok:
            print(stack.output.read_text()[-20_000:], file=sys.stderr)
    return figures | {"ok": bool(ok), "seconds": seconds, "seed": seed}


def _pause(seconds: float, kills: int) -> tuple[float, float]:
    """So that the kills are spread over the whole run."""
    return 0.2 * seconds / kills, 1.4 * seconds / kills


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", nargs="?", type=int, default=FULL_S)
    parser.add_argument("seed", nargs="?", type=int, default=secrets.randbelow(10**6))
    parser.add_argument(
        "--answered-only",
        action="store_true",
        help="compare with the frames that were answered: beside a load, where a machine can't compute them all",
    )
    arguments = parser.parse_args()
    scenes = find_scenes(find_testdata() / "synth" / "out")
    figures = measure(scenes, seconds=arguments.seconds, seed=arguments.seed, answered_only=arguments.answered_only)
    conclude(figures)


if __name__ == "__main__":
    main()
