"""The real agent computing at a camera, killed again and again, beside one that nobody disturbs."""

import json
import random
import subprocess
import sys
import threading
import time
import urllib.request
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.chaos.edge.film_camera import ROUND_S, filming
from bench.chaos.edge.kills import LOST_TARGET_S, SHORTEST_S
from bench.chaos.edge.month import await_written
from bench.lib.clients import agent_environment
from bench.lib.product import say
from testkit import Stack, TestStream
from testkit.ports import free_ports

AGENT = str(Path(sys.executable).with_name("onlooker-agent"))
FPS = 5
LIFE_S = (1.0, 11.0)
"""From an agent's first frame to its end."""
START_LIMIT_S = 90.0
AWAY_S = 4.0
"""Where an agent saw nothing for longer, the person may be counted a second time."""
SLACK_S = 3.0
"""How far a sighting may lie outside of the undisturbed visit that it belongs to."""
KILLS_A_ROUND = 3


@dataclass
class WatchedAgent:
    """`onlooker-agent run --compute device` over several lives, and what its local feed said meanwhile."""

    folder: Path
    stack: Stack
    stream: TestStream
    camera: str
    seen: list[tuple[float, bool]] = field(default_factory=list)
    """When each frame was taken, and whether somebody was in it."""
    starts_s: list[float] = field(default_factory=list)
    """From each start of the program to its first frame."""
    _process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        """Until its first frame was computed."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (port,) = free_ports(1)
        options = ["--compute", "device", "--fps", str(FPS), "--idle-fps", str(FPS), "--quiet"]
        kept = ["--journal", str(self.folder / "journal"), "--feed-port", str(port)]
        began, known = time.monotonic(), len(self.seen)
        with (self.folder / "agent.log").open("ab") as log:
            self._process = subprocess.Popen(
                [AGENT, "run", self.camera, *options, *kept],
                env=agent_environment(self.stack, self.stream, self.folder),
                stdout=log,
                stderr=log,
            )
        threading.Thread(target=self._read_feed, args=(port, self._process), daemon=True).start()
        while len(self.seen) == known:
            if self._process.poll() is not None or time.monotonic() - began > START_LIMIT_S:
                raise RuntimeError(f"the agent computes nothing: {(self.folder / 'agent.log').read_text()[-2000:]}")
            time.sleep(0.05)
        self.starts_s.append(time.monotonic() - began)

    def kill(self) -> None:
        assert self._process
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        assert self._process
        self._process.terminate()
        if self._process.wait(30):
            raise RuntimeError(f"the agent failed: {(self.folder / 'agent.log').read_text()[-2000:]}")

    def _read_feed(self, port: int, process: "subprocess.Popen[bytes]") -> None:
        while process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/events", timeout=30) as events:
                    for line in events:
                        self._take(line)
            except OSError:
                time.sleep(0.05)

    def _take(self, line: bytes) -> None:
        if not line.startswith(b"data:"):
            return
        said = json.loads(line[5:])
        at_ms = said["at_ms"]
        if at_ms is not None and said["watching"] and not (self.seen and self.seen[-1][0] == at_ms / 1000):
            self.seen.append((at_ms / 1000, bool(said["people"])))


Written = list[tuple[str, float, float, bool]]


def compare(killed: WatchedAgent, visits: Written, undisturbed: Written) -> dict[str, Any]:
    """Each visit of the undisturbed agent once, with all that the killed one had computed of it."""
    lost = doubled = split = 0
    losses_s, matched = [0.0], set()
    for _, began_at, ended_at, _ in undisturbed:
        moments = [at for at, people in killed.seen if people and began_at - SLACK_S <= at <= ended_at + SLACK_S]
        found = [one for one in visits if one[1] < ended_at + SLACK_S and one[2] > began_at - SLACK_S]
        matched |= {one[0] for one in found}
        if not found:
            lost += bool(moments) and moments[-1] - moments[0] > SHORTEST_S + LOST_TARGET_S
            continue
        is_away = max((later - earlier for earlier, later in pairwise(moments)), default=0.0) >= AWAY_S
        split += len(found) > 1 and is_away
        doubled += len(found) > 1 and not is_away
        if moments:
            losses_s.append(min(one[1] for one in found) - moments[0])
            losses_s.append(moments[-1] - max(one[2] for one in found))
    return {
        "people": len(undisturbed),
        "visits": len(visits),
        "lost": lost,
        "doubled": doubled,
        "split_by_a_long_start": split,
        "unseen": len({one[0] for one in visits} - matched),
        "open": sum(not ended for *_, ended in visits),
        "loss_of_an_open_visit_worst_s": round(max(losses_s), 2),
        "loss_of_an_open_visit_target_s": LOST_TARGET_S,
    }


def measure_agent_kills(stack: Stack, folder: Path, *, kills: int, seed: int) -> dict[str, Any]:
    chance = random.Random(seed)
    rounds = max(2, -(-kills // KILLS_A_ROUND))
    folder.mkdir(parents=True, exist_ok=True)
    with filming(folder) as (camera, address):
        killed, quiet = (
            WatchedAgent(folder / name, stack, stack.create_stream(), address) for name in ("killed", "undisturbed")
        )
        quiet.start()
        killed.start()
        camera.begin()
        ends_at = time.monotonic() + rounds * ROUND_S
        for number in range(kills):
            time.sleep(chance.uniform(*LIFE_S))
            killed.kill()
            killed.start()
            say(f"  {number + 1} of {kills} killed; back after {killed.starts_s[-1]:.1f} s")
        while time.monotonic() > ends_at:  # starts took longer than planned: the round goes on to its end
            ends_at += ROUND_S
        time.sleep(max(0.0, ends_at + 8.0 - time.monotonic()))  # nobody is there, and all visits have ended
        for one in (killed, quiet):
            one.stop()
    undisturbed = await_written(stack, quiet.stream, rounds)
    figures = compare(killed, await_written(stack, killed.stream, len(undisturbed)), undisturbed)
    ok = not any(figures[name] for name in ("lost", "doubled", "unseen", "open"))
    ok = ok and len(undisturbed) >= rounds and figures["loss_of_an_open_visit_worst_s"] <= LOST_TARGET_S
    return {"ok": ok, "kills": kills, **figures, "start_worst_s": round(max(killed.starts_s), 1)}
