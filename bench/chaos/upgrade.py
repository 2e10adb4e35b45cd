"""A release of an earlier commit, upgraded as the guide says, while cameras, sessions and accepted jobs go on."""

import argparse
import os
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.chaos.camera_run import CameraRun
from bench.chaos.devices import JobSender, SessionCaller
from bench.chaos.upgraded_accounts import EarlierAccounts
from bench.lib.camera import Reel, plan_takes
from bench.lib.product import ROOT, conclude, concluding, say
from bench.lib.scenes import find_scenes
from bench.lib.testdata import find_testdata
from deploy.release.source_tree import unpack_commit
from testkit import Stack, fresh_database, running_stack
from testkit.stack import Launch, await_ready

EARLIER = "42d1191"
"""The commit on which releases began."""
PACKAGES = ("pipeline", "server")
CAMERAS, SESSIONS = 3, 6
SECONDS = 90
UPGRADED_AFTER = 0.4
"""Of the time."""
REFUSED_TARGET_S = 30.0
RESULTS_LIMIT_S = 60.0
VISITS_LIMIT_S = 120.0
SETTINGS = {
    "workers": 2,
    "session_idle_s": 20,
    "rate_limit_per_second": 1e5,
    "rate_limit_burst": 10**5,
    "log_level": "info",
}


def install_release(commit: str | None, folder: Path) -> Path:
    """The program of a commit, or of the working tree: wheels and pinned packages in an environment of its own.

    Compiled, as pip leaves what it installs: confined processes write no bytecode, and would compile at each start.
    """
    sources = ROOT if commit is None else unpack_commit(commit, folder / "sources")
    wheels, environment = folder / "wheels", folder / "venv"
    for package in PACKAGES:
        _run("uv", "build", "--quiet", "--wheel", "--out-dir", str(wheels), str(sources / package))
    python = environment / "bin" / "python"
    _run("uv", "venv", "--quiet", "--python", "3.11", str(environment))
    pins = str(sources / "requirements" / "server.txt")
    install = ("--quiet", "--compile-bytecode", "--python", str(python))
    _run("uv", "pip", "sync", "--require-hashes", *install, pins)
    ours = [*map(str, wheels.glob("*.whl")), *map(str, (ROOT / "models" / "dist").glob("*.whl"))]
    _run("uv", "pip", "install", "--no-deps", *install, *ours)
    return environment / "bin" / "onlooker"


def _run(*command: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")


def upgrade(stack: Stack, program: Path) -> float:
    """Stop the old release, start the new one; for how many seconds neither ran."""
    began = time.monotonic()
    stack.process.terminate()
    stack.process.wait(60)
    with stack.output.open("wb") as log:
        stack.process = Launch((str(program), "up")).start(stack.environment, log, stack.home)
    await_ready(stack)
    return time.monotonic() - began


def measure(old: Path, new: Path, *, seconds: int) -> dict[str, Any]:
    reels = [Reel.of(scene) for scene in find_scenes(find_testdata() / "synth" / "out")]
    takes = [plan_takes(reels, seconds=seconds, first=camera) for camera in range(CAMERAS)]
    stop = threading.Event()
    with fresh_database() as url, running_stack(url, Launch((str(old), "up")), **SETTINGS) as stack:
        accounts = EarlierAccounts(stack)
        accounts.create()
        accounts.take_tokens()
        cameras = CameraRun(stack, takes, begins_at=datetime.now(UTC).replace(microsecond=0))
        sessions = [SessionCaller(stack, stack.create_stream(), stop) for _ in range(SESSIONS)]
        jobs = JobSender(stack, stack.create_stream(), stop)
        say(f"{CAMERAS} cameras, {SESSIONS} sessions and accepted jobs for {seconds} s ...")
        for device in (*sessions, jobs):
            device.start()
        with ThreadPoolExecutor(1) as thread:
            filming = thread.submit(cameras.film)
            time.sleep(UPGRADED_AFTER * seconds)
            away_s = upgrade(stack, new)
            say(f"upgraded; away for {away_s:.1f} s")
            filmed = filming.result()
        stop.set()
        for device in (*sessions, jobs):
            device.join(60)
        lost = jobs.lost(RESULTS_LIMIT_S)
        visits = cameras.compare(filmed, limit_s=VISITS_LIMIT_S, answered_only=True)
        say("asking with every Password and token of before ...")
        people = accounts.check()
    refused = [*(one.refused for one in sessions), jobs.refused, *(one.refused for one in filmed)]
    refused_s = max(one.longest_s(0.0, float("inf")) for one in refused)
    steps_back = sum(one.steps_back() for one in sessions)
    ok = visits["ok"] and people["ok"] and jobs.accepted and not lost and not steps_back
    ok = ok and refused_s <= REFUSED_TARGET_S
    return {
        "ok": bool(ok),
        "from": EARLIER,
        "seconds": seconds,
        "away_s": round(away_s, 1),
        "refused_longest_s": round(refused_s, 1),
        "refused_target_s": REFUSED_TARGET_S,
        "accepted_jobs": len(jobs.accepted),
        "accepted_jobs_lost": lost,
        "accepted_jobs_lost_target": 0,
        "session_calls": sum(len(one.numbers) for one in sessions),
        "session_steps_back": steps_back,
        "session_steps_back_target": 0,
        "visits": visits,
        "accounts": people,
    }


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", nargs="?", type=int, default=SECONDS)
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory(prefix="onlooker-upgrade-") as folder:
        say(f"packing {EARLIER} and the working tree ...")
        old, new = install_release(EARLIER, Path(folder) / "old"), install_release(None, Path(folder) / "new")
        figures = measure(old, new, seconds=seconds)
    conclude(figures)


if __name__ == "__main__":
    main()
