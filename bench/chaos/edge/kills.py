"""Devices that are killed at random moments while they record and upload, and a server that is killed meanwhile."""

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.chaos.edge.month import await_written
from bench.lib.processes import Killer
from bench.lib.product import say
from onlooker_client.device.journal import Journal
from testkit import Stack, TestStream
from testkit.device_simulation import PERSON_HEX, plan_people

LIFE_S = (0.6, 3.2)
"""How long a device lives before it is killed."""
LOST_TARGET_S = 2.0
FRAME_S = 0.25
"""By how much a visit's ends may differ from the frames all the same."""
SHORTEST_S = 1.0
MOST_STARTS = 5
STOOD_S = 3.0
"""On a busy machine a process may have stood still for so long when it was killed."""
SERVER_KILLED = ["gateway", "recorder", "nats"]


@dataclass
class DeviceRun:
    """One device over many lives of its process."""

    folder: Path
    stack: Stack
    stream: TestStream
    kills: list[float] = field(default_factory=list)
    """When it was killed, in Unix time."""
    seen_by: str = "seen.jsonl"
    """The file to which it says what it saw."""

    def plan(self, *, seconds: float, people: int, seed: int, full_bytes: int = 0) -> None:
        began_ms = round(time.time() * 1000)
        self.people = plan_people(people, begins_ms=began_ms, ends_ms=began_ms + round(seconds * 1000), seed=seed)
        said = {
            "people": [[one.id, one.arrives_ms, one.leaves_ms] for one in self.people],
            "folder": str(self.folder / "journal"),
            "url": self.stack.url,
            "auth": self.stream.auth,
            "ca_file": self.stack.ca_file,
            "full_bytes": full_bytes,
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "plan.json").write_text(json.dumps(said))

    def start(self, until: float, *options: str) -> "subprocess.Popen[bytes]":
        program = [sys.executable, "-m", "bench.chaos.edge.device_program"]
        files = [str(self.folder / "plan.json"), str(self.folder / self.seen_by)]
        with (self.folder / "device.log").open("ab") as log:
            return subprocess.Popen(
                [*program, *files, "--until", str(until), *options], stdout=log, stderr=subprocess.STDOUT
            )

    def live(self, lasts_s: float) -> None:
        """From its first frame on; then SIGKILL."""
        before = self._frames()
        process = self.start(time.time() + 3600)
        give_up_at = time.monotonic() + 60
        while self._frames() == before and time.monotonic() < give_up_at:
            if process.poll() is not None:
                raise RuntimeError(f"the device ended by itself: {self.log()[-2000:]}")
            time.sleep(0.02)
        time.sleep(lasts_s)
        process.kill()
        self.kills.append(time.time())
        process.wait()

    def finish(self, until: float, *options: str) -> None:
        """Until all people have left, and everything is uploaded."""
        if self.start(until, *options).wait(max(0.0, until - time.time()) + 120):
            raise RuntimeError(f"the device failed: {self.log()[-2000:]}")

    def waiting(self) -> int:
        """Visits that the server has not acknowledged."""
        journal = Journal(self.folder / "journal")
        try:
            return journal.sizes()["visits"]
        finally:
            journal.close()

    def log(self) -> str:
        return (self.folder / "device.log").read_text()

    def _frames(self) -> int:
        path = self.folder / "seen.jsonl"
        return path.stat().st_size if path.exists() else 0

    def seen(self) -> dict[str, list[float]]:
        """When each person was in a frame. The last line of a killed process may be torn."""
        found: dict[str, list[float]] = defaultdict(list)
        for line in (self.folder / "seen.jsonl").read_text().splitlines():
            try:
                at_s, ids = json.loads(line)
            except ValueError:
                continue
            for visit_id in ids:
                found[visit_id].append(at_s)
        return found


def judge(run: DeviceRun, written: list[tuple[str, float, float, bool]]) -> dict[str, Any]:
    """Against the frames that the device had computed: what is missing at the ends of visits, and whether any is."""
    seen = run.seen()
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for visit_id, began_at, ended_at, _ in written:
        found[visit_id].append((began_at, ended_at))
    lost, lost_s = [], [0.0]
    for visit_id, moments in seen.items():
        kills = sum(moments[0] <= at <= moments[-1] + STOOD_S for at in run.kills)
        if visit_id not in found:
            if moments[-1] - moments[0] > SHORTEST_S + LOST_TARGET_S * bool(kills):
                lost.append(visit_id)
            continue
        began_at, ended_at = found[visit_id][0]
        lost_s.append(max(began_at - moments[0], moments[-1] - ended_at))
    persons: dict[str, int] = defaultdict(int)
    for visit_id in found:
        persons[visit_id[:PERSON_HEX]] += 1
    return {
        "visits_seen": len(seen),
        "lost_spans_s": [round(seen[one][-1] - seen[one][0], 1) for one in lost],
        "visits_written": len(written),
        "lost": len(lost),
        "doubled": sum(len(times) > 1 for times in found.values()),
        "doubled_people": _doubled_people(run, persons),
        "open": sum(not ended for *_, ended in written),
        "unseen": sum(visit_id not in seen for visit_id in found),
        "loss_of_an_open_visit_worst_s": round(max(lost_s), 2),
        "loss_of_an_open_visit_target_s": LOST_TARGET_S,
    }


def _doubled_people(run: DeviceRun, persons: dict[str, int]) -> int:
    """People with two visits though the device was never away from them for long."""
    times: dict[str, list[float]] = defaultdict(list)
    for visit_id, moments in run.seen().items():
        times[visit_id[:PERSON_HEX]] += moments
    doubled = 0
    for person, count in persons.items():
        moments = sorted(times[person])
        gaps = [later - earlier for earlier, later in pairwise(moments)]
        doubled += count > 1 and max(gaps, default=0.0) < 4.0
    return doubled


def measure_kills(stack: Stack, folder: Path, *, kills: int, server_kills: int, seed: int) -> dict[str, Any]:
    run = DeviceRun(folder, stack, stack.create_stream())
    chance = random.Random(seed)
    lives = [chance.uniform(*LIFE_S) for _ in range(kills)]
    seconds = sum(lives) + kills * 1.5
    run.plan(seconds=seconds, people=round(seconds / 4), seed=seed)
    killer = Killer(
        stack, SERVER_KILLED, kills=server_kills, seed=seed, pause_s=(1.0, 1.6 * seconds / (server_kills or 1))
    )
    killer.start()
    say(f"{kills} lives of a device, {seconds:.0f} s and more; {server_kills} kills of the server's processes")
    for number, lasts_s in enumerate(lives, 1):
        run.live(lasts_s)
        if number % 20 == 0:
            say(f"  {number} of {kills} killed")
    killer.wait()
    run.finish(max(time.time() + 5, max(one.leaves_ms for one in run.people) / 1000 + 10))
    starts = 1
    while run.waiting() and starts < MOST_STARTS:  # the server may just have been away
        run.finish(time.time() + 10)
        starts += 1
    figures = {"waiting": run.waiting(), **judge(run, await_written(stack, run.stream, len(run.seen())))}
    ok = not any(figures[name] for name in ("lost", "doubled", "doubled_people", "open", "unseen", "waiting"))
    ok = ok and figures["loss_of_an_open_visit_worst_s"] <= LOST_TARGET_S and killer.done
    return {"ok": ok, "kills": len(run.kills), "server_kills": dict(killer.killed), **figures}


def _copy(folder: Path) -> None:
    with (folder / "seen.fifo").open() as source, (folder / "seen.jsonl").open("a") as sink:
        for line in source:
            sink.write(line)
            sink.flush()


def measure_full_disk(stack: Stack, folder: Path, *, seconds: float, seed: int) -> dict[str, Any]:
    """The disk takes nothing for the first half; the process goes on, and everything arrives."""
    run = DeviceRun(folder, stack, stack.create_stream())
    run.plan(seconds=seconds, people=round(seconds / 3), seed=seed, full_bytes=20_000)
    os.mkfifo(run.folder / "seen.fifo")  # what the device says it saw is not subject to the limit
    threading.Thread(target=_copy, args=(run.folder,), daemon=True).start()
    ends = time.time() + seconds + 45
    run.seen_by = "seen.fifo"
    run.finish(ends, "--full-until", str(time.time() + seconds / 2))
    figures = judge(run, await_written(stack, run.stream, len(run.seen())))
    said = [line.split()[0] for line in run.log().splitlines() if line.startswith("journal ")]
    ok = not any(figures[name] for name in ("lost", "doubled", "doubled_people", "open", "unseen"))
    return {"ok": ok and len(said) >= 2, "said": len(said), **figures}
