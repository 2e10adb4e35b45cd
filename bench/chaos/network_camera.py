"""Two who watch a network camera: the agent's source in this process, and the whole agent in one of its own."""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from bench.chaos.rtsp_server import RtspServer, age_ms, missing, running_rtsp_server
from onlooker_client.sources.reconnection import ReconnectingSource, SourceEvent
from testkit.ports import free_ports

NOWHERE = "http://127.0.0.1:9"
"""No server: what becomes of the frames does not matter here, they are counted all the same."""


class SourceWatcher:
    """Reads ten times a second, as the agent does, and remembers when its pictures were made."""

    def __init__(self, address: str) -> None:
        self.events: list[SourceEvent] = []
        self.age_ms = 0
        self._came: deque[tuple[float, float]] = deque(maxlen=1000)
        """When each was made, and when it was here."""
        self._source = ReconnectingSource(address, on_change=self.events.append)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def wait_for_picture(self, made_after: float, timeout_s: float) -> float | None:
        """When the first one that was made after this moment was here; None where none came in time."""
        give_up_at = time.monotonic() + timeout_s
        while time.monotonic() < give_up_at:
            for made_at, came_at in list(self._came):
                if made_at >= made_after:
                    return came_at
            time.sleep(0.02)
        return None

    def close(self) -> None:
        self._source.close()
        self._thread.join(7)

    def _run(self) -> None:
        due_s = time.monotonic()
        while (picture := self._source.read(due_s)) is not None:
            self.age_ms = age_ms(picture.pixels)
            self._came.append((time.time() - self.age_ms / 1000, time.time()))
            due_s = max(due_s + 0.1, time.monotonic())


class AgentWatcher:
    """`onlooker-agent run` with the camera; asks its health report how many frames it has grabbed."""

    def __init__(self, address: str) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._log = Path(self._folder.name) / "agent.log"
        port = free_ports(1)[0]
        self._health = f"http://127.0.0.1:{port}/healthz"
        command = [str(Path(sys.executable).with_name("onlooker-agent")), "run", "--json", "--health-port", str(port)]
        environment = os.environ | {
            "XDG_CONFIG_HOME": self._folder.name,
            "ONLOOKER_URL": NOWHERE,
            "ONLOOKER_CLIENT_ID": "00000000-0000-0000-0000-000000000000",
            "ONLOOKER_ACCESS_TOKEN": "none",
            "ONLOOKER_SOURCE": address,
        }
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)

    def grabbed(self) -> int:
        """Frames so far; 0 while it does not answer."""
        try:
            with urllib.request.urlopen(self._health, timeout=2) as answer:
                return int(json.load(answer)["counts"]["grabbed"])
        except urllib.error.HTTPError as unwell:
            return int(json.load(unwell)["counts"]["grabbed"])
        except OSError:
            return 0

    def wait_for_more(self, than: int, timeout_s: float) -> float | None:
        give_up_at = time.monotonic() + timeout_s
        while time.monotonic() < give_up_at:
            if self.grabbed() > than:
                return time.time()
            time.sleep(0.02)
        return None

    def memory_mb(self) -> float:
        return float(psutil.Process(self._process.pid).memory_info().rss / 1e6)

    def close(self) -> tuple[int, str]:
        """Its exit code and all that it logged."""
        self._process.terminate()
        try:
            code = self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        logged = self._log.read_text(encoding="utf-8")
        self._folder.cleanup()
        return code, logged


BACK_WITHIN_S = 10.0
GIVE_UP_S = 3 * BACK_WITHIN_S
DOWN_S = (0.5, 8.0)
UP_S = (2.0, 4.0)
PASSWORD = "watch-me"
MEMORY_LIMIT_MB = 20.0


@dataclass
class Seen:
    """What was measured at each kill."""

    source_s: list[float] = field(default_factory=list)
    agent_s: list[float] = field(default_factory=list)
    ages_ms: list[float] = field(default_factory=list)
    memory_mb: list[float] = field(default_factory=list)


def run(kills: int = 20, *, seed: int = 8) -> dict[str, Any]:
    """The figures; `ok` says whether all targets were met."""
    chance = random.Random(seed)
    seen = Seen()
    with running_rtsp_server() as server:
        source, agent = SourceWatcher(server.address), AgentWatcher(server.address)
        try:
            source.wait_for_picture(0.001, GIVE_UP_S)
            agent.wait_for_more(0, GIVE_UP_S)
            for count in range(1, kills + 1):
                _kill_once(server, source, agent, chance=chance, seen=seen)
                told = f"killed {count} of {kills}: agent back after {seen.agent_s[-1]} s, source {seen.source_s[-1]} s"
                print(told, file=sys.stderr, flush=True)
        finally:
            source.close()
            code, logged = agent.close()
    tells_password = PASSWORD in logged or any(PASSWORD in event.reason for event in source.events)
    return _figures(seen, kills=kills, exit_code=code, tells_password=tells_password)


def _kill_once(
    server: RtspServer, source: SourceWatcher, agent: AgentWatcher, *, chance: random.Random, seen: Seen
) -> None:
    time.sleep(chance.uniform(*UP_S))
    seen.ages_ms.append(source.age_ms)
    seen.memory_mb.append(round(agent.memory_mb(), 1))
    server.kill()
    time.sleep(chance.uniform(*DOWN_S))
    grabbed = agent.grabbed()
    server.start()
    accepts_at = time.time()
    seen.agent_s.append(_since(accepts_at, agent.wait_for_more(grabbed, GIVE_UP_S)))
    seen.source_s.append(_since(accepts_at, source.wait_for_picture(accepts_at, GIVE_UP_S)))


def _since(began: float, at: float | None) -> float:
    return round(at - began, 2) if at else GIVE_UP_S


def _figures(seen: Seen, *, kills: int, exit_code: int, tells_password: bool) -> dict[str, Any]:
    grown_mb = round(max(seen.memory_mb) - seen.memory_mb[0], 1)
    back = [*seen.agent_s, *seen.source_s]
    is_fast = max(back) <= BACK_WITHIN_S
    return {
        "kills": kills,
        "agent_back_s": {"median": statistics.median(seen.agent_s), "worst": max(seen.agent_s)},
        "source_back_s": {"median": statistics.median(seen.source_s), "worst": max(seen.source_s)},
        "age_ms": {"median": statistics.median(seen.ages_ms), "worst": max(seen.ages_ms)},
        "agent_memory_mb": {"first": seen.memory_mb[0], "grown": grown_mb},
        "agent_exit_code": exit_code,
        "tells_password": tells_password,
        "ok": is_fast and exit_code == 0 and grown_mb <= MEMORY_LIMIT_MB and not tells_password,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    kills = parser.parse_args().kills
    reason = missing()
    if reason:
        sys.exit(reason)
    figures = run(kills)
    print(json.dumps(figures))
    sys.exit(not figures["ok"])


if __name__ == "__main__":
    main()
