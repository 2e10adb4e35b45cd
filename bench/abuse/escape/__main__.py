"""A hostile service in a computing process tries to get out; bystanders notice nothing."""

import argparse
import os
import re
import signal
import threading
import time
import uuid
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx2

from bench.abuse.escape.attempts import EAVESDROP, Surroundings, attempts
from bench.lib.clients import open_client
from bench.lib.product import EXTRA_SERVICES, ROOT, conclude, concluding, say
from testkit import Stack, fresh_database, running_stack

ATTEMPTS_TARGET = 30
BYSTANDERS, BYSTANDER_THREADS = 80, 8
PAUSE_S = 0.05
EAVESDROP_S = 3
WORKER = "worker-1"
ROOMY = {"rate_limit_per_second": 1e6, "rate_limit_burst": 10**6, "compute_time_limit_s": 3}
ENDS = re.compile(r'^onlooker_worker_processes_(?:ended|killed)_total\{reason="(\w+)"\} (\d+)', re.MULTILINE)
REFUSALS = ("violation", "untrue", "overdue")
"""Why a computing process ended that tried what it may not."""


@dataclass
class Bystanders:
    """Sessions of other streams that go on all the time; a call that is lost or forgotten shows in its count."""

    stack: Stack
    calls: int = 0
    faults: list[str] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        share = BYSTANDERS // BYSTANDER_THREADS
        self._threads = [threading.Thread(target=self._go_on, args=[share]) for _ in range(BYSTANDER_THREADS)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _go_on(self, count: int) -> None:
        sessions = [str(uuid.uuid4()) for _ in range(count)]
        made = dict.fromkeys(sessions, 0)
        with open_client(self.stack, self.stack.create_stream()) as client:
            while not self._stop.wait(PAUSE_S):
                session = min(made, key=lambda one: made[one])
                made[session] += 1
                self._call(client, session, made[session])

    def _call(self, client: httpx2.Client, session: str, number: int) -> None:
        body = {"async": False, "state": {"session_id": session}}
        answer = client.post("/services/dummy/1/jobs", json=body)
        self.calls += 1
        said = answer.json()
        if answer.status_code != 201 or said.get("calls") != number:
            told = {name: said.get(name) for name in ("calls", "error_code", "error_msg", "code")}
            self.faults.append(f"call {number}: {answer.status_code} {told}")


@dataclass
class Attack:
    """One attacker at a running product."""

    stack: Stack
    client: httpx2.Client
    is_confined: bool
    outcomes: dict[str, str] = field(default_factory=dict)
    escaped: list[str] = field(default_factory=list)

    def make_all(self) -> None:
        for name in attempts(self._surroundings()):
            before = self._ends()
            body = self._make(name)
            if not self.is_confined:
                self._clean_up()
            ends = [reason for reason, count in self._ends().items() if count > before.get(reason, 0)]
            self._judge(name, body, ends)

    def overhear(self, seconds: float) -> int:
        """How many other streams' calls the attacker's process is given meanwhile."""
        self._make(EAVESDROP)
        time.sleep(seconds)
        overheard = self._make(EAVESDROP)["got"]
        say(f"  streams whose calls the attacker's process was given, its own included: {len(overheard)}")
        return len(overheard) - 1

    def _clean_up(self) -> None:
        """What succeeded must not be in the way of the next attempt: a worker that is stopped or traced, say."""
        self.stack.kill(f"{WORKER}-computing")
        if worker := self.stack.children().get(WORKER):
            os.kill(worker, signal.SIGCONT)
        give_up_at = time.monotonic() + 20
        while f"{WORKER}-computing" not in self.stack.children() and time.monotonic() < give_up_at:
            time.sleep(0.1)

    def _make(self, name: str) -> dict[str, Any]:
        around = self._surroundings()
        told = [around.home, around.worker, ",".join(map(str, around.others))]
        told += [around.database_port, around.bus_port]
        fields = {"attempt": name, "around": "|".join(map(str, told)), "async": False}
        answer = self.client.post("/services/hostile/1/jobs", json=fields)
        body: dict[str, Any] = answer.json()
        return body | ({} if answer.status_code == 201 else {"refused": answer.status_code})

    def _judge(self, name: str, body: dict[str, Any], ends: list[str]) -> None:
        by = [reason for reason in ends if reason in REFUSALS]
        if "got" in body or not ("error_code" in body and (by or body["error_code"] == "internal_error")):
            self.escaped.append(name)
            self.outcomes[name] = f"succeeded: {body.get('got', body)}"[:160]
        elif by:
            self.outcomes[name] = f"its process was ended: {', '.join(by)}"
        else:
            self.outcomes[name] = "an error"
        say(f"  {name}: {self.outcomes[name]}")

    def _surroundings(self) -> Surroundings:
        """Where everything is: the attacker knows it all."""
        children = self.stack.children()
        others = [pid for name, pid in children.items() if not name.startswith("worker")]
        database, bus = (urlsplit(self.stack.setting(name)).port or 5432 for name in ("database_url", "nats_url"))
        return Surroundings(self.stack.home, children[WORKER], others, database, bus)

    def _metrics(self) -> str:
        """Once the worker answers: without confinement it may just have been ended."""
        give_up_at = time.monotonic() + 30
        while True:
            try:
                return self.stack.metrics(WORKER)
            except OSError:
                if time.monotonic() > give_up_at:
                    raise
                time.sleep(0.2)

    def _ends(self) -> dict[str, int]:
        """How many computing processes ended so far, by reason."""
        found = ENDS.findall(self._metrics())
        return {reason: int(count) for reason, count in found}


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--confinement", choices=("on", "off"), default="on", help="off: to see what succeeds")
    parser.add_argument("--processes", choices=("shared", "stream"), default="shared", help="computing processes")
    arguments = parser.parse_args()
    os.environ["PYTHONPATH"] = f"{EXTRA_SERVICES}{os.pathsep}{ROOT}"
    hostile = {"extra_services": "bench.abuse.escape.hostile_service", "confinement": arguments.confinement}
    hostile |= {"compute_processes": arguments.processes, "compute_processes_limit": BYSTANDER_THREADS + 1}
    with fresh_database() as url, running_stack(url, **(ROOMY | hostile)) as stack:
        bystanders = Bystanders(stack)
        with open_client(stack, stack.create_stream()) as client:
            attack = Attack(stack, client, is_confined=arguments.confinement == "on")
            bystanders.start()
            began = time.monotonic()
            try:
                overheard = attack.overhear(EAVESDROP_S)
                attack.make_all()
            finally:
                bystanders.stop()
        seconds = time.monotonic() - began
    for fault in bystanders.faults[:10]:
        say(f"  bystander: {fault}")
    figures = {
        "confinement": arguments.confinement,
        "attempts": len(attack.outcomes),
        "attempts_target": ATTEMPTS_TARGET,
        "succeeded": attack.escaped,
        "succeeded_target": 0,
        "processes": arguments.processes,
        "streams_overheard": overheard,
        **({"streams_overheard_target": 0} if arguments.processes == "stream" else {}),
        "bystanders": BYSTANDERS,
        "bystander_calls": bystanders.calls,
        "bystander_faults": len(bystanders.faults),
        "bystander_faults_target": 0,
        "seconds": round(seconds, 1),
        "outcomes": attack.outcomes,
    }
    ok = len(attack.outcomes) >= ATTEMPTS_TARGET and not attack.escaped and not bystanders.faults
    ok &= arguments.processes == "shared" or not overheard
    conclude({"ok": ok} | figures)


if __name__ == "__main__":
    main()
