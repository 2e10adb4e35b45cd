"""The gateway under abuse: no server error, no hang, no restart, and no memory that stays."""

import argparse
import itertools
import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import psutil

from bench import abuse_feeds, abuse_http, abuse_json, abuse_multipart, abuse_weight
from bench.attacker import Attacker, new_attacker
from bench.product import conclude, running_product, say
from bench.schema_fuzz import SchemaFuzz
from bench.tally import Tally
from onlooker.testing import Stack, TestStream

REQUESTS_TARGET = 5000
MEMORY_GROWTH_TARGET_MB = 50
SENDERS = 6
SETTLE_S = 4.0
UNFINISHED_LIMIT_S = 30.0
FAILURES = ("server_errors", "hung", "unexpected_answers", "restarts", "unfinished_jobs")
SETTINGS = {
    "rate_limit_per_second": 100_000,
    "rate_limit_burst": 100_000,
    "body_time_limit_s": 3,
    "feed_idle_s": 2,
    "async_jobs_per_stream": 1_000_000,
}
LIGHT = (*abuse_json.SCENARIOS, *abuse_multipart.SCENARIOS, *abuse_http.SCENARIOS, *abuse_feeds.SCENARIOS)
Scenario = Callable[[random.Random, Attacker], None]


class Source(random.Random):
    """Chance that can be repeated; a scenario's first choice goes through all there is, turn by turn."""

    def __init__(self, name: str, turn: int) -> None:
        super().__init__(f"{name} {turn}")
        self._turn: int | None = turn

    def choice(self, options: Any) -> Any:
        if self._turn is None:
            return super().choice(options)
        chosen = options[self._turn % len(options)]
        self._turn = None
        return chosen


@dataclass(frozen=True)
class Fuzz:
    """One run against one running product."""

    stack: Stack
    stream: TestStream
    tally: Tally
    attacker: Attacker
    schema: SchemaFuzz

    def warm_up(self) -> None:
        """Everything once or twice, so that what is loaded and allocated for good is there."""
        self._abuse(abuse_weight.SCENARIOS, turn=0)
        self.schema.run(requests_count=200, round_number=0)
        for turn in range(4):
            self._abuse(LIGHT, turn=turn)

    def run(self, *, requests_count: int) -> None:
        """Half from the document, half by hand."""
        before = self.tally.requests
        self._abuse(abuse_weight.SCENARIOS, turn=1)
        self.schema.run(requests_count=requests_count // 2, round_number=1)
        for turn in itertools.count(4):
            self._abuse(LIGHT, turn=turn)
            say(f"  abuse: {self.tally.requests - before} of {requests_count} requests")
            if self.tally.requests - before >= requests_count:
                break

    def _abuse(self, scenarios: Iterable[Scenario], *, turn: int) -> None:
        with ThreadPoolExecutor(SENDERS) as senders:
            list(senders.map(lambda scenario: scenario(Source(scenario.__name__, turn), self.attacker), scenarios))

    def memory_mb(self) -> float:
        """What the gateway process holds, once it is at rest."""
        time.sleep(SETTLE_S)
        return float(psutil.Process(self.stack.children()["gateway"]).memory_info().rss) / 1024**2

    def peak_mb(self) -> float:
        status = Path(f"/proc/{self.stack.children()['gateway']}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024

    def unfinished_jobs(self) -> int:
        """Accepted jobs of hosted services that do not come to an end."""
        give_up_at = time.monotonic() + UNFINISHED_LIMIT_S
        query = "SELECT count(*) FROM gateway_job WHERE finished_at IS NULL AND service <> ALL(%s)"
        while (left := self.stack.execute(query, list(self.tally.unhosted))[0][0]) and time.monotonic() < give_up_at:
            time.sleep(0.5)
        return int(left)

    def answers_rightly(self) -> bool:
        with _client(self.stack, self.stream) as client:
            answer = client.post("/services/dummy/1/jobs", json={"async": False, "echo": "still here"})
        return bool(answer.status_code == 201 and answer.json()["echo"] == "still here")


def _client(stack: Stack, stream: TestStream) -> httpx2.Client:
    return httpx2.Client(base_url=stack.plain_url, auth=stream.auth, timeout=30, trust_env=False)


def _unhosted(stack: Stack, stream: TestStream) -> frozenset[str]:
    """Services that the directory lists and no live worker hosts."""
    with _client(stack, stream) as client:
        names = client.get("/services").json()["services"]
        return frozenset(name for name in names if not client.get(f"/services/{name}/1").json()["live"])


def prepare(stack: Stack) -> Fuzz:
    stream = stack.create_stream()
    tally = Tally(_unhosted(stack, stream))
    attacker = new_attacker(stack, tally, stream, stack.create_stream())
    return Fuzz(stack, stream, tally, attacker, SchemaFuzz(stack, stream, tally))


def measure(fuzz: Fuzz, *, requests_count: int) -> dict[str, Any]:
    """Every figure with its target; `ok` is computed from them."""
    children = fuzz.stack.children()
    say("warming up")
    fuzz.warm_up()
    warm_up_requests, before_mb = fuzz.tally.requests, fuzz.memory_mb()
    say(f"warm: {warm_up_requests} requests, {before_mb:.1f} MB")
    fuzz.run(requests_count=requests_count)
    after_mb = fuzz.memory_mb()
    tally = fuzz.tally
    figures: dict[str, Any] = {
        "requests": tally.requests - warm_up_requests,
        "requests_target": requests_count,
        "warm_up_requests": warm_up_requests,
        "server_errors": tally.server_errors,
        "hung": tally.hung,
        "unexpected_answers": tally.unexpected,
        "refused_unhosted": tally.refused_unhosted,
        "refused_unhosted_means": "503 overloaded to a job of a catalogue service that no worker hosts here",
        "memory_growth_mb": round(after_mb - before_mb, 1),
        "memory_growth_target_mb": MEMORY_GROWTH_TARGET_MB,
        "memory_mb": round(after_mb, 1),
        "memory_peak_mb": round(fuzz.peak_mb(), 1),
        "restarts": sum(fuzz.stack.children().get(name) != pid for name, pid in children.items()),
        "unfinished_jobs": fuzz.unfinished_jobs(),
        "answers_a_right_job": fuzz.answers_rightly(),
        "statuses": {str(status): count for status, count in sorted(tally.statuses.items())},
        "families": dict(tally.families),
    }
    return {"ok": is_ok(figures)} | figures


def failure_reasons(stack: Stack) -> list[str]:
    """The last line of each kind of traceback in the product's log, with how often it came."""
    traces = re.findall(r'"exception":("(?:[^"\\]|\\.)*")', stack.output.read_text(errors="replace"))
    last_lines = Counter(" <- ".join(json.loads(trace).strip().splitlines()[:-4:-1]) for trace in traces)
    return [f"{count} x {line}" for line, count in last_lines.most_common()]


def is_ok(figures: dict[str, Any]) -> bool:
    return (
        figures["requests"] >= figures["requests_target"]
        and not any(figures[name] for name in FAILURES)
        and figures["memory_growth_mb"] < figures["memory_growth_target_mb"]
        and figures["answers_a_right_job"]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("requests", nargs="?", type=int, default=REQUESTS_TARGET, help="how many, after the warm-up")
    arguments = parser.parse_args()
    with running_product(**SETTINGS) as stack:
        fuzz = prepare(stack)
        figures = measure(fuzz, requests_count=arguments.requests)
        reasons = failure_reasons(stack)
    for line in (*fuzz.tally.samples, *reasons):
        say(line)
    conclude(figures)


if __name__ == "__main__":
    main()
