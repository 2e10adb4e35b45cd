"""Jobs and sessions while processes are killed: no accepted job is lost, no session forgets or repeats a call."""

import contextlib
import hashlib
import itertools
import json
import os
import secrets
import sys
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx2

from bench.lib.clients import open_client
from bench.lib.processes import Killer
from bench.lib.product import EXTRA_SERVICES
from testkit import Stack, TestStream, fresh_database, own_cluster, running_stack

FULL_SIZE = 1000
KILLS_FOR_FULL_SIZE = 20
WORKER_KILLS = 5
ROOMY = {"rate_limit_per_second": 1e6, "rate_limit_burst": 10**6, "extra_services": "extra.measure,extra.trouble"}
SENDERS = 4
END_LIMIT_S = 180.0


@dataclass
class Accepted:
    """A job the server said it accepted, and what its result must be."""

    url: str
    expected: dict[str, Any]
    session: str | None
    result: dict[str, Any] | None = None


@dataclass
class Ledger:
    """Everything that was accepted, in order of acceptance for each sender."""

    target: int
    jobs: list[Accepted] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    tried: int = 0

    def is_full(self) -> bool:
        return len(self.jobs) >= self.target

    def enter(self, job: Accepted) -> None:
        with self.lock:
            self.jobs.append(job)


def run_accepted_jobs(stack: Stack, killer: Killer, count: int, *, restart: Callable[[], None]) -> dict[str, Any]:
    stream, ledger = stack.create_stream(), Ledger(count)
    senders = [threading.Thread(target=_send, args=(stack, stream, ledger, killer, n)) for n in range(SENDERS)]
    killer.start()
    for sender in senders:
        sender.start()
    restarts = 0
    while any(sender.is_alive() for sender in senders):
        if not restarts and len(ledger.jobs) > count // 2:
            restart()
            restarts += 1
            print("PostgreSQL restarted", file=sys.stderr, flush=True)
        time.sleep(0.2)
    killer.wait()
    _collect(stack, stream, ledger)
    return _judge_jobs(ledger, killer, restarts)


def _send(stack: Stack, stream: TestStream, ledger: Ledger, killer: Killer, number: int) -> None:
    """Send until enough is accepted and killed; a refusal or a broken connection is tried again."""
    session = str(uuid.uuid4())
    pause_s = SENDERS * killer.target * 1.6 / ledger.target
    with open_client(stack, stream, timeout_s=15) as client:
        while not (ledger.is_full() and killer.done):
            ledger.tried += 1
            try:
                job = _send_one(client, session, kind=ledger.tried % 3)
            except httpx2.TransportError:
                time.sleep(0.1)
                continue
            if job:
                ledger.enter(job)
            time.sleep(pause_s)


def _send_one(client: httpx2.Client, session: str, *, kind: int) -> Accepted | None:
    if kind == 0:
        image = os.urandom(5000)
        meta = {"image": "attachment://a"}
        files: dict[str, tuple[str | None, bytes, str]] = {
            "attachment://a": ("a", image, "image/jpeg"),
            "meta": (None, json.dumps(meta).encode(), "application/json"),
        }
        answer = client.post("/services/measure/1/jobs", files=files)
        expected: dict[str, Any] = {"size": 5000, "sha256": hashlib.sha256(image).hexdigest()}
    else:
        expected = {"echo": str(uuid.uuid4())}
        state = {"state": {"session_id": session}} if kind == 1 else {}
        answer = client.post("/services/dummy/1/jobs", json=expected | state)
    if answer.status_code == 202:
        return Accepted(answer.json()["url"], expected, session if kind == 1 else None)
    assert answer.status_code == 503, answer.text
    time.sleep(0.2)
    return None


def _collect(stack: Stack, stream: TestStream, ledger: Ledger) -> None:
    """Read every accepted job until it has ended."""
    give_up_at = time.monotonic() + END_LIMIT_S
    with open_client(stack, stream) as client:
        for number, job in enumerate(ledger.jobs):
            while time.monotonic() < give_up_at:
                try:
                    answer = client.get(job.url)
                except httpx2.TransportError:
                    time.sleep(0.2)
                    continue
                if answer.status_code in (200, 404):
                    job.result = answer.json() if answer.status_code == 200 else None
                    break
                time.sleep(0.1)
            print(f"read {number + 1} of {len(ledger.jobs)}", end="\r", file=sys.stderr, flush=True)


def _judge_jobs(ledger: Ledger, killer: Killer, restarts: int) -> dict[str, Any]:
    lost = sum(job.result is None for job in ledger.jobs)
    results = [(job, job.result) for job in ledger.jobs if job.result is not None]
    wrong = [result for job, result in results if not job.expected.items() <= result.items()]
    for result in wrong[:5]:
        print(f"wrong: {result}", file=sys.stderr)
    calls: dict[str, list[int]] = defaultdict(list)
    for job, result in results:
        if job.session:
            calls[job.session].append(result.get("calls", -1))
    # An acceptance whose answer was lost has a call too, so numbers may skip; they never repeat or turn back.
    disordered = sum(a >= b for series in calls.values() for a, b in itertools.pairwise(series))
    kills = killer.killed.total()
    ok = not (lost or wrong or disordered) and len(ledger.jobs) >= ledger.target and kills >= killer.target and restarts
    return {
        "ok": bool(ok),
        "accepted": len(ledger.jobs),
        "accepted_target": ledger.target,
        "lost": lost,
        "wrong": len(wrong),
        "out_of_order": disordered,
        "kills": kills,
        "kills_target": killer.target,
        "killed": dict(killer.killed),
        "postgresql_restarts": restarts,
    }


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
    """Half the sessions call `dummy`, half a service that takes a while, so that kills hit running calls."""
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
    return _judge_calls(sessions, killer, count)


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


def _judge_calls(sessions: list[Calls], killer: Killer, target: int) -> dict[str, Any]:
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


def main(jobs: int, seed: int) -> int:
    os.environ["PYTHONPATH"] = str(EXTRA_SERVICES)
    kills = max(1, KILLS_FOR_FULL_SIZE * jobs // FULL_SIZE)
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(own_cluster())
        database_url = stack.enter_context(fresh_database(cluster.url))
        product = stack.enter_context(running_stack(database_url, gateways=2, workers=2, log_level="info", **ROOMY))
        names = ["gateway", "gateway-2", "dispatcher", "worker-1", "worker-2", "nats"]
        accepted = run_accepted_jobs(
            product, Killer(product, names, kills=kills, seed=seed), jobs, restart=cluster.restart
        )
        sessions = run_session_calls(
            product, Killer(product, ["worker-1", "worker-2"], kills=WORKER_KILLS, seed=seed), jobs
        )
        if not (accepted["ok"] and sessions["ok"]):
            print(product.output.read_text()[-20_000:], file=sys.stderr)
    ok = bool(accepted["ok"] and sessions["ok"])
    figures = {"ok": ok, "seed": seed, "accepted_jobs": accepted, "session_calls": sessions}
    print(json.dumps(figures))
    return 0 if figures["ok"] else 1


if __name__ == "__main__":
    size = int(sys.argv[1]) if len(sys.argv) > 1 else FULL_SIZE
    sys.exit(main(size, int(sys.argv[2]) if len(sys.argv) > 2 else secrets.randbelow(10**6)))
