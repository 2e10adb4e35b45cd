"""The gateway under abuse: no server error, no hang, no restart, and no memory that stays."""

import argparse
import itertools
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx2

from bench.abuse.exchange import GatewayTally
from bench.abuse.gateway import feeds, http_syntax, json_bodies, load, multipart_bodies
from bench.abuse.gateway.attacker import Attacker, new_attacker
from bench.abuse.gateway.schema import GatewaySchema
from bench.abuse.run import (
    conclude_run,
    count_restarts,
    failure_reasons,
    is_unharmed,
    memory_figures,
    peak_mb,
    resting_mb,
    run_at_once,
    statuses_of,
    tally_figures,
)
from bench.lib.product import running_product, say
from onlooker.proof.questions.rotation import RotatingRandom
from testkit import Stack, TestStream

REQUESTS_TARGET = 5000
UNFINISHED_LIMIT_S = 30.0
FAILURES = ("server_errors", "hung", "unexpected_answers", "restarts", "unfinished_jobs")
SETTINGS = {
    "rate_limit_per_second": 100_000,
    "rate_limit_burst": 100_000,
    "body_time_limit_s": 3,
    "feed_idle_s": 2,
    "async_jobs_per_stream": 1_000_000,
}
LIGHT = (*json_bodies.SCENARIOS, *multipart_bodies.SCENARIOS, *http_syntax.SCENARIOS, *feeds.SCENARIOS)
Scenario = Callable[[random.Random, Attacker], None]


@dataclass(frozen=True)
class GatewayFuzz:
    """One run against one running product."""

    stack: Stack
    stream: TestStream
    tally: GatewayTally
    attacker: Attacker
    schema: GatewaySchema

    def warm_up(self) -> None:
        """Everything once or twice, so that what is loaded and allocated for good is there."""
        self._abuse(load.SCENARIOS, turn=0)
        self.schema.run(requests_count=200, round_number=0)
        for turn in range(4):
            self._abuse(LIGHT, turn=turn)

    def run(self, *, requests_count: int) -> None:
        """Half from the document, half by hand."""
        before = self.tally.requests
        self._abuse(load.SCENARIOS, turn=1)
        self.schema.run(requests_count=requests_count // 2, round_number=1)
        for turn in itertools.count(4):
            self._abuse(LIGHT, turn=turn)
            say(f"  abuse: {self.tally.requests - before} of {requests_count} requests")
            if self.tally.requests - before >= requests_count:
                break

    def _abuse(self, scenarios: Iterable[Scenario], *, turn: int) -> None:
        run_at_once(partial(one, RotatingRandom(one.__name__, turn), self.attacker) for one in scenarios)

    def memory_mb(self) -> float:
        """What the gateway process holds, once it is at rest."""
        return resting_mb([self.stack.children()["gateway"]])

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


def prepare(stack: Stack) -> GatewayFuzz:
    stream = stack.create_stream()
    tally = GatewayTally(unhosted=_unhosted(stack, stream))
    attacker = new_attacker(stack, tally, stream, stack.create_stream())
    return GatewayFuzz(stack, stream, tally, attacker, GatewaySchema(stack, stream, tally))


def measure(fuzz: GatewayFuzz, *, requests_count: int) -> dict[str, Any]:
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
        **tally_figures(tally, target=requests_count, warm_up_requests=warm_up_requests),
        "warm_up_requests": warm_up_requests,
        "refused_unhosted": tally.refused_unhosted,
        "refused_unhosted_means": "503 overloaded to a job of a catalogue service that no worker hosts here",
        **memory_figures(before_mb, after_mb),
        "memory_peak_mb": round(peak_mb([fuzz.stack.children()["gateway"]]), 1),
        "restarts": count_restarts(fuzz.stack, children),
        "unfinished_jobs": fuzz.unfinished_jobs(),
        "answers_a_right_job": fuzz.answers_rightly(),
        "statuses": statuses_of(tally),
        "families": dict(tally.families),
    }
    return {"ok": is_ok(figures)} | figures


def is_ok(figures: dict[str, Any]) -> bool:
    return is_unharmed(figures, FAILURES) and bool(figures["answers_a_right_job"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("requests", nargs="?", type=int, default=REQUESTS_TARGET, help="how many, after the warm-up")
    arguments = parser.parse_args()
    with running_product(**SETTINGS) as stack:
        fuzz = prepare(stack)
        figures = measure(fuzz, requests_count=arguments.requests)
        reasons = failure_reasons(stack)
    conclude_run(figures, fuzz.tally.samples, reasons)


if __name__ == "__main__":
    main()
