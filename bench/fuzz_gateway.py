"""The gateway under abuse: no server error, no hang, no restart, and no memory that stays."""

import argparse
import itertools
import random
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx2
import psutil
from onlooker.testing import Stack, TestStream

from bench import abuse_feeds, abuse_http, abuse_json, abuse_multipart, abuse_weight
from bench.attacker import Attacker, new_attacker
from bench.product import conclude, running_product, say
from bench.schema_fuzz import SchemaFuzz
from bench.tally import Tally

REQUESTS_TARGET = 5000
MEMORY_GROWTH_TARGET_MB = 50
SENDERS = 6
SETTLE_S = 4.0
SETTINGS = {
    "rate_limit_per_second": 100_000,
    "rate_limit_burst": 100_000,
    "body_time_limit_s": 3,
    "feed_idle_s": 2,
    "async_jobs_per_stream": 1_000_000,
}
LIGHT = (*abuse_json.SCENARIOS, *abuse_multipart.SCENARIOS, *abuse_http.SCENARIOS, *abuse_feeds.SCENARIOS)
Scenario = Callable[[random.Random, Attacker], None]


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
        self.schema.run(requests_count=200, round_number=0)
        self._abuse(itertools.islice(itertools.cycle(LIGHT), 4 * len(LIGHT)), first_seed=0)
        self._abuse(abuse_weight.SCENARIOS, first_seed=10_000)

    def run(self, *, requests_count: int) -> None:
        """Two thirds from the document, the rest by hand."""
        before = self.tally.requests
        self.schema.run(requests_count=requests_count * 2 // 3, round_number=1)
        self._abuse(abuse_weight.SCENARIOS, first_seed=20_000)
        rounds = 0
        while self.tally.requests - before < requests_count:
            self._abuse(LIGHT, first_seed=30_000 + 1000 * rounds)
            rounds += 1
            say(f"  abuse: {self.tally.requests - before} of {requests_count} requests")

    def _abuse(self, scenarios: Iterable[Scenario], *, first_seed: int) -> None:
        with ThreadPoolExecutor(SENDERS) as senders:
            list(senders.map(lambda numbered: self._play(*numbered, first_seed), enumerate(scenarios)))

    def _play(self, number: int, scenario: Scenario, first_seed: int) -> None:
        scenario(random.Random(first_seed + number), self.attacker)

    def memory_mb(self) -> float:
        """What the gateway process holds, once it is at rest."""
        time.sleep(SETTLE_S)
        return float(psutil.Process(self.stack.children()["gateway"]).memory_info().rss) / 1024**2

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
        "restarts": sum(fuzz.stack.children().get(name) != pid for name, pid in children.items()),
        "answers_a_right_job": fuzz.answers_rightly(),
        "statuses": {str(status): count for status, count in sorted(tally.statuses.items())},
        "families": dict(tally.families),
    }
    return {"ok": is_ok(figures)} | figures


def is_ok(figures: dict[str, Any]) -> bool:
    return (
        figures["requests"] >= figures["requests_target"]
        and not any(figures[name] for name in ("server_errors", "hung", "unexpected_answers", "restarts"))
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
    for sample in fuzz.tally.samples:
        say(sample)
    conclude(figures)


if __name__ == "__main__":
    main()
