"""Cameras, sessions and jobs at a cell while every kind of process, each host and its network fail in turn."""

import argparse
import shutil
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.chaos.camera_run import CameraRun
from bench.chaos.cell.events import UPGRADE, Event, Happened, events_in_order
from bench.chaos.devices import JobSender, SessionCaller
from bench.lib.camera import Filmed, Reel, plan_takes
from bench.lib.cell_hosts import Cell, running_cell
from bench.lib.earlier_release import unpack_earlier
from bench.lib.product import conclude, concluding, say
from bench.lib.refused_times import NEVER, RefusedTimes
from bench.lib.scenes import find_scenes
from bench.lib.testdata import find_testdata

CAMERAS, SESSIONS = 6, 14
FULL_S = 1260
"""At least 15 minutes; on two cores, the events take this long."""
HEAL_LIMIT_S = 60.0
REST_S = 3.0
"""Between two events, once all is well."""
SETTINGS = "ONLOOKER_STATE_COMPRESSION=off"
"""As the guide has it for as long as the release before runs beside this one."""
RESULTS_LIMIT_S = 120.0
VISITS_LIMIT_S = 240.0


class ChaosRun:
    """The devices of a run, and what happened to the cell."""

    def __init__(self, cell: Cell, *, seconds: int, cameras: int) -> None:
        self.cell, self.stack, self.seconds = cell, cell.as_stack(), seconds
        self._stop = threading.Event()
        self.sessions = [SessionCaller(self.stack, self.stack.create_stream(), self._stop) for _ in range(SESSIONS)]
        self.jobs = JobSender(self.stack, self.stack.create_stream(), self._stop)
        scenes = find_scenes(find_testdata() / "synth" / "out") if cameras else []
        reels = [Reel.of(scene) for scene in scenes]
        takes = [plan_takes(reels, seconds=seconds, first=camera) for camera in range(cameras)]
        self.cameras = CameraRun(self.stack, takes, begins_at=datetime.now(UTC).replace(microsecond=0))
        self.happened: list[Happened] = []

    def disturb(self, events: list[Event]) -> list[Filmed]:
        """Everything sends while the events happen, and until the time is over."""
        give_up_at = time.monotonic() + self.seconds
        for device in (*self.sessions, self.jobs):
            device.start()
        with ThreadPoolExecutor(1) as thread:
            filming = thread.submit(self.cameras.film)
            time.sleep(REST_S)
            for event in events:
                if time.monotonic() > give_up_at:
                    say(f"no time left for: {event.name}")
                    break
                self._happen(event)
            filmed = filming.result()
        time.sleep(max(0.0, give_up_at - time.monotonic()))
        self._stop.set()
        for device in (*self.sessions, self.jobs):
            device.join(60)
        return filmed

    def _happen(self, event: Event) -> None:
        say(f"{event.name} ...")
        began, primary = time.monotonic(), self.cell.primary()
        event.act(self.cell)
        healed = self.cell.await_health(HEAL_LIMIT_S)
        failed_over = self.cell.primary() != primary
        self.happened.append(Happened(event, began, time.monotonic() + REST_S, healed, failed_over))
        refused = max((one.refused.longest_s(began, time.monotonic()) for one in self.sessions), default=0.0)
        state = "all was well" if healed else "it was given up, not well"
        say(f"  {time.monotonic() - began:.1f} s until {state}, {refused:.1f} s refused")
        time.sleep(REST_S)


def figures_of_events(happened: list[Happened], devices: dict[str, list[RefusedTimes]]) -> list[dict[str, Any]]:
    """`devices` by their kind."""
    everyone = [device for of_kind in devices.values() for device in of_kind]
    found = []
    for number, one in enumerate(happened):
        until = happened[number + 1].began if number + 1 < len(happened) else float("inf")
        longest = {
            kind: max(
                (device.longest(one.began, until) for device in of_kind), key=lambda span: span.length_s, default=NEVER
            )
            for kind, of_kind in devices.items()
        }
        refused_s = max(span.length_s for span in longest.values())
        found.append(
            {
                "event": one.event.name,
                "ok": one.is_healed and refused_s <= one.target_s,
                "refused_longest_s": round(refused_s, 1),
                "target_s": one.target_s,
                "devices_refused": sum(device.longest_s(one.began, until) > 0 for device in everyone),
                "by_device": {
                    kind: {"longest_s": round(span.length_s, 1), "reasons": span.reasons}
                    for kind, span in longest.items()
                    if span.length_s
                },
                "healed_after_s": round(one.ended - REST_S - one.began, 1) if one.is_healed else None,
            }
        )
    return found


def count_reasons(devices: dict[str, list[RefusedTimes]]) -> Counter[str]:
    return sum((device.reasons for of_kind in devices.values() for device in of_kind), start=Counter())


def measure(cell: Cell, events: list[Event], *, seconds: int, cameras: int) -> dict[str, Any]:
    run = ChaosRun(cell, seconds=seconds, cameras=cameras)
    if not cell.await_health(120):
        raise RuntimeError("the cell is not healthy")
    say(f"{cameras} cameras, {SESSIONS} sessions and accepted jobs for {seconds} s, {len(events)} events")
    disturbed = run.disturb(events)
    say("results of accepted jobs ...")
    lost = run.jobs.lost(RESULTS_LIMIT_S)
    visits: dict[str, Any] = {"ok": True}
    if cameras:
        visits = run.cameras.compare(disturbed, limit_s=VISITS_LIMIT_S, answered_only=True)
    by_kind = {
        "session": [one.refused for one in run.sessions],
        "accepted job": [run.jobs.refused],
        "camera": [one.refused for one in disturbed],
    }
    by_event = figures_of_events(run.happened, by_kind)
    steps_back = sum(one.steps_back() for one in run.sessions)
    calls = sum(len(one.numbers) for one in run.sessions)
    ok = all(one["ok"] for one in by_event) and len(by_event) == len(events) and not lost and not steps_back
    return {
        "ok": bool(ok and calls and run.jobs.accepted and visits["ok"]),
        "seconds": seconds,
        "events": by_event,
        "events_target": len(events),
        "accepted_jobs": len(run.jobs.accepted),
        "accepted_jobs_lost": lost,
        "accepted_jobs_lost_target": 0,
        "session_calls": calls,
        "session_steps_back": steps_back,
        "session_steps_back_target": 0,
        "slowest_call_s": round(max(one.slowest_s for one in run.sessions), 2),
        "visits": visits,
        "reasons": dict(count_reasons(by_kind).most_common(12)),
    }


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", nargs="?", type=int, default=FULL_S)
    parser.add_argument("--cameras", type=int, default=CAMERAS)
    parser.add_argument("--only", default="", help="events whose name has this in it")
    parser.add_argument("--folder", type=Path, help="where the cell's files go, and stay; otherwise they are removed")
    arguments = parser.parse_args()
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="onlooker-cell-"))
    events = [event for event in events_in_order() if arguments.only in event.name]
    try:
        begins_with = unpack_earlier(folder / "earlier") if events[0].name == UPGRADE else None
        with running_cell(folder, settings=SETTINGS, program=begins_with, with_clocks=True) as cell:
            figures = measure(cell, events, seconds=arguments.seconds, cameras=arguments.cameras)
    finally:
        if not arguments.folder:
            shutil.rmtree(folder, ignore_errors=True)
    conclude(figures)


if __name__ == "__main__":
    main()
