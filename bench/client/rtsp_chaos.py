"""Kills and restarts a network camera, and measures how soon the agent shows it again.

The server is GStreamer's (`rtsp_server.py` says why). It is killed with SIGKILL and stays away for 0.5 to 8 seconds;
what counts is the time from its first accepted connection to the first new frame: of the whole agent, as its health
report counts them, and of its source alone, where each picture also tells its age.
"""

import argparse
import json
import random
import statistics
import sys
import time
from dataclasses import dataclass, field
from typing import Any

from bench.client.rtsp_server import RtspServer, missing, running_rtsp_server
from bench.client.rtsp_watching import AgentWatcher, SourceWatcher

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
