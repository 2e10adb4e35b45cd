"""Synchronous calls in sessions while workers are killed: none fails, and each session counts on exactly."""

import threading
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

import httpx2

from bench.https import open_client
from bench.killing import Killer
from onlooker.testing import Stack, TestStream

SESSIONS = 10
SLOWEST_TARGET_S = 3.0
CALL_S = 0.03


@dataclass
class Calls:
    """What one session's client saw."""

    service: str
    numbers: list[int] = field(default_factory=list)
    times_s: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def is_exact(self) -> bool:
        return self.numbers == list(range(1, len(self.numbers) + 1))


def run_session_calls(stack: Stack, killer: Killer, count: int) -> dict[str, Any]:
    """Half the sessions call `dummy`, half a service that takes a while, so that kills hit calls under way."""
    stream = stack.create_stream()
    sessions = [Calls("dummy" if number % 2 else "trouble") for number in range(SESSIONS)]
    threads = [
        threading.Thread(target=_call, args=(stack, stream, calls, count // SESSIONS, killer)) for calls in sessions
    ]
    killer.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    killer.wait()
    return _judge(sessions, killer, count)


def _call(stack: Stack, stream: TestStream, calls: Calls, least: int, killer: Killer) -> None:
    """Call at least so often, and on until the last kill."""
    session_id = str(uuid.uuid4())
    body: dict[str, Any] = {"async": False, "state": {"session_id": session_id}}
    if calls.service == "trouble":
        body["sleep_s"] = CALL_S
    with open_client(stack, stream) as client:
        while len(calls.times_s) < least or not killer.done:
            started = time.monotonic()
            try:
                answer = client.post(f"/services/{calls.service}/1/jobs", json=body)
            except httpx2.TransportError as error:
                calls.failures.append(repr(error))
                continue
            finally:
                calls.times_s.append(time.monotonic() - started)
            if answer.status_code != 201 or "error" in answer.json():
                calls.failures.append(answer.text)
            else:
                calls.numbers.append(answer.json()["calls"])
            time.sleep(killer.target * 1.0 / least)


def _judge(sessions: list[Calls], killer: Killer, target: int) -> dict[str, Any]:
    requests = sum(len(calls.times_s) for calls in sessions)
    failures = [failure for calls in sessions for failure in calls.failures]
    inexact = sum(not calls.is_exact() for calls in sessions)
    times_s = sorted(time_s for calls in sessions for time_s in calls.times_s)
    kills = killer.killed.total()
    ok = not failures and not inexact and requests >= target and kills >= killer.target
    return {
        "ok": ok and times_s[-1] <= SLOWEST_TARGET_S,
        "requests": requests,
        "requests_target": target,
        "failed": len(failures),
        "first_failure": failures[0] if failures else None,
        "sessions_with_a_skip_or_step_back": inexact,
        "slowest_s": round(times_s[-1], 3),
        "slowest_target_s": SLOWEST_TARGET_S,
        "median_s": round(times_s[len(times_s) // 2], 4),
        "worker_kills": kills,
        "worker_kills_target": killer.target,
    }
