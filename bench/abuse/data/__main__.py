"""The data endpoint under abuse: no server error, no memory that stays, and no number of another stream."""

import argparse
import itertools
import random
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

from bench.abuse.data.leaked_key import new_forger
from bench.abuse.data.long_table import hang_up
from bench.abuse.data.schema import DataSchema
from bench.abuse.run import (
    conclude_run,
    count_restarts,
    failure_reasons,
    is_unharmed,
    memory_figures,
    peak_mb,
    resting_mb,
    run_at_once,
    tally_figures,
)
from bench.lib.clients import fetch_token
from bench.lib.product import running_product, say
from onlooker.proof.questions.control import tells_apart
from onlooker.proof.questions.forged_tokens import forged_scenarios
from onlooker.proof.questions.marked_streams import FEW, GROUPS, MANY, begins_before, mark_stream
from onlooker.proof.questions.parameters import SCENARIOS, Scenario
from onlooker.proof.questions.rotation import RotatingRandom
from onlooker.proof.questions.sender import QuestionSender
from onlooker.proof.questions.tally import DataTally
from onlooker.proof.questions.wire import ServerAddress
from onlooker.settings import Settings
from testkit import Stack

REQUESTS_TARGET = 5000
WARM_UP_TURNS = 4
SETTINGS = {"data_rate_limit_per_second": 100_000, "data_rate_limit_burst": 100_000, "log_level": "info"}
FAILURES = (
    *("server_errors", "hung", "unexpected_answers", "nonconforming_answers", "foreign_numbers", "foreign_links"),
    *("restarts", "visits_lost"),
)


@dataclass(frozen=True)
class DataFuzz:
    """One run against one running product."""

    stack: Stack
    reader: QuestionSender
    schema: DataSchema
    scenarios: dict[str, Scenario]
    seed: int

    @property
    def tally(self) -> DataTally:
        return self.reader.tally

    def warm_up(self) -> None:
        """Everything a few times, so that what is loaded and allocated for good is there."""
        self.schema.run_rounds(requests_count=200, seed_number=self.seed - 1000)
        for turn in range(WARM_UP_TURNS):
            self._abuse(turn)

    def run(self, *, requests_count: int) -> None:
        """Half from the document, half by hand."""
        before = self.tally.requests
        self.schema.run_rounds(requests_count=requests_count // 2, seed_number=self.seed)
        for turn in itertools.count(WARM_UP_TURNS):
            self._abuse(turn)
            say(f"  abuse: {self.tally.requests - before} of {requests_count} requests")
            if self.tally.requests - before >= requests_count:
                return

    def _abuse(self, turn: int) -> None:
        run_at_once(
            partial(scenario, RotatingRandom(f"{self.seed} {name}", turn), self.reader)
            for name, scenario in self.scenarios.items()
        )

    def memory_mb(self) -> float:
        """What the process holds, once it is at rest."""
        return resting_mb([self.stack.children()["data"]])

    def visits_lost(self) -> int:
        """Whether anything that was asked changed anything that is kept."""
        found = self.stack.execute("SELECT count(*) FROM visits_visit")[0][0]
        return int(sum(GROUPS * one.signature.people for one in self.reader.streams) - found)


def prepare(stack: Stack, seed: int) -> DataFuzz:
    settings, begins_ms = Settings(database_url=stack.setting("database_url")), begins_before(time.time())
    streams = stack.create_stream(), stack.create_stream()
    few = mark_stream(settings, streams[0], FEW, begins_ms=begins_ms)
    many = mark_stream(settings, streams[1], MANY, begins_ms=begins_ms)
    tokens = fetch_token(stack, streams[0]), fetch_token(stack, streams[1])
    tally = DataTally(data_url=stack.data_url)
    reader = QuestionSender(
        ServerAddress("127.0.0.1", int(stack.setting("data_http_port"))), (few, many), tokens, tally
    )
    scenarios = SCENARIOS | {"hang_up": hang_up} | forged_scenarios(new_forger(stack, tokens))
    return DataFuzz(stack, reader, DataSchema(stack, reader), scenarios, seed)


def measure(fuzz: DataFuzz, *, requests_count: int) -> dict[str, Any]:
    """Every figure with its target; `ok` is computed from them."""
    children = fuzz.stack.children()
    say(f"warming up; seed {fuzz.seed}")
    told_apart = tells_apart(fuzz.reader)
    fuzz.warm_up()
    warm_up_requests, before_mb = fuzz.tally.requests, fuzz.memory_mb()
    say(f"warm: {warm_up_requests} requests, {before_mb:.1f} MB")
    fuzz.run(requests_count=requests_count)
    after_mb = fuzz.memory_mb()
    tally = fuzz.tally
    figures: dict[str, Any] = {
        **tally_figures(tally, target=requests_count, warm_up_requests=warm_up_requests),
        "seed": fuzz.seed,
        "warm_up_requests": warm_up_requests,
        "nonconforming_answers": dict(fuzz.schema.nonconforming),
        "foreign_numbers": len(tally.leaks),
        "foreign_links": tally.foreign_links,
        "telling_answers": dict(tally.telling),
        "streams_told_apart": told_apart and tells_apart(fuzz.reader),
        "slowest_answer_s": tally.slowest[0],
        "slowest_answer_to": tally.slowest[1],
        "busy": dict(tally.busy),
        "busy_means": "503 overloaded with Retry-After, by what it says; not a server error",
        **memory_figures(before_mb, after_mb),
        "memory_peak_mb": round(peak_mb([fuzz.stack.children()["data"]]), 1),
        "restarts": count_restarts(fuzz.stack, children),
        "visits_lost": fuzz.visits_lost(),
        "codes": dict(sorted(tally.codes.items())),
        "families": dict(tally.families),
    }
    return {"ok": is_ok(figures)} | figures


def is_ok(figures: dict[str, Any]) -> bool:
    return (
        is_unharmed(figures, FAILURES)
        and all(figures["telling_answers"].get(sign.name, 0) > 0 for sign in (FEW, MANY))
        and figures["streams_told_apart"]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("requests", nargs="?", type=int, default=REQUESTS_TARGET, help="how many, after the warm-up")
    parser.add_argument("seed", nargs="?", type=int, default=random.randrange(2**31))
    arguments = parser.parse_args()
    with running_product(**SETTINGS) as stack:
        fuzz = prepare(stack, arguments.seed)
        figures = measure(fuzz, requests_count=arguments.requests)
        reasons = failure_reasons(stack)
    conclude_run(figures, fuzz.tally.leaks[:20], fuzz.tally.samples, fuzz.schema.samples, reasons)


if __name__ == "__main__":
    main()
