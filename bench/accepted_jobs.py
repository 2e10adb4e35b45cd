"""Async jobs accepted while anything may be killed: each must end with its own right result."""

import hashlib
import itertools
import json
import os
import sys
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx2

from bench.https import open_client
from bench.killing import Killer
from onlooker.testing import Stack, TestStream

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
    return _judge(ledger, killer, restarts)


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
        files = {"attachment://a": ("a", image, "image/jpeg"), "meta": (None, json.dumps(meta), "application/json")}
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


def _judge(ledger: Ledger, killer: Killer, restarts: int) -> dict[str, Any]:
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
