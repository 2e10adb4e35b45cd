"""Devices that lie: no server error, nothing of another stream touched, and every number afterwards explained."""

import argparse
import math
import random
import time
from functools import partial
from typing import Any

from bench.abuse.gateway.attacker import JSON, Attacker, basic
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
from bench.abuse.visits.batches import PATH, TAKEN, LyingDevices, encode
from bench.abuse.visits.books import TakenItems, await_rest, await_rows, expected_rows
from bench.abuse.visits.items import HonestDevice
from bench.lib.product import concluding, running_product, say
from onlooker.proof.questions.tally import AnswerTally
from testkit import Stack, TestStream

BATCHES_TARGET = 1000
WARM_UP = 120
AT_ONCE = 60
NONSENSE_SHARE = 0.4
VICTIMS_VISITS, VICTIMS_SLOTS = 60, 30
SETTINGS = {
    "rate_limit_per_second": 100_000,
    "rate_limit_burst": 100_000,
    "device_batches_per_second": 100_000,
    "device_visits_per_second": 1_000_000,
    "log_level": "info",
}
FAILURES = (
    *("server_errors", "hung", "unexpected_answers", "wrong_verdicts", "rows_unexplained", "foreign_rows_changed"),
    *("restarts",),
)


def fill_victim(stack: Stack, stream: TestStream, tally: AnswerTally, now_s: int) -> tuple[TakenItems, list[str]]:
    """Another stream, whose device has the name that the lying ones use too."""
    device, accepted = HonestDevice(0, now_s), TakenItems()
    visits = [device.visit(place, 2) for place in range(VICTIMS_VISITS)]
    slots = [device.slot(place, 2) for place in range(VICTIMS_SLOTS)]
    accepted.add(device.id, visits, slots)
    sender = Attacker(int(stack.setting("http_port")), stack.url, basic(*stream.auth), basic(*stream.auth), tally)
    sender.post("victim", PATH, encode(device.id, visits, slots), JSON, expected=TAKEN)
    return accepted, [one["id"] for one in visits]


def lie(devices: LyingDevices, *, batches: int, seed: int, per_second: float = math.inf) -> None:
    """So many requests, several at a time."""
    tally, before, turn, began = devices.attacker.tally, devices.attacker.tally.requests, 0, time.monotonic()
    while tally.requests - before < batches:
        actions = []
        for _ in range(AT_ONCE):
            source = random.Random(f"{seed} {turn}")
            turn += 1
            act = devices.send_nonsense if source.random() < NONSENSE_SHARE else devices.tell
            actions.append(partial(act, source))
        run_at_once(actions)
        time.sleep(max(0.0, began + (tally.requests - before) / per_second - time.monotonic()))
        if turn % (10 * AT_ONCE) == 0:
            say(f"  {tally.requests - before} of {batches} batches")


def measure(stack: Stack, *, batches: int, seed: int, per_second: float) -> tuple[dict[str, Any], list[str]]:
    """Every figure with its target; `ok` is computed from them."""
    children, now_s, tally = stack.children(), int(time.time()), AnswerTally()
    victim, stream = stack.create_stream(), stack.create_stream()
    known, foreign_ids = fill_victim(stack, victim, tally, now_s)
    explained_before = await_rows(stack, victim, expected_rows(known))
    rest = await_rest(stack, victim)
    attacker = Attacker(int(stack.setting("http_port")), stack.url, basic(*stream.auth), basic(*victim.auth), tally)
    devices = LyingDevices(attacker, now_s, foreign_ids)
    say(f"warming up; seed {seed}")
    lie(devices, batches=WARM_UP, seed=seed - 1)
    warm_up, before_mb = tally.requests, resting_mb([stack.children()["gateway"]])
    lie(devices, batches=batches, seed=seed, per_second=per_second)
    after_mb = resting_mb([stack.children()["gateway"]])
    expected = expected_rows(devices.accepted)
    differences = await_rows(stack, stream, expected)
    changed = [table for table, rows in await_rest(stack, victim).items() if rows != rest[table]]
    figures: dict[str, Any] = {
        **tally_figures(tally, target=batches, warm_up_requests=warm_up),
        "wrong_verdicts": len(devices.wrong_verdicts),
        "rows_explained": sum(map(len, expected.values())),
        "rows_unexplained": sum(differences.values()) + sum(explained_before.values()),
        "visits": len(expected["visits"]),
        "slots": len(devices.accepted.slots),
        "foreign_rows": sum(map(len, rest.values())),
        "foreign_rows_changed": len(changed),
        **memory_figures(before_mb, after_mb),
        "memory_peak_mb": round(peak_mb([stack.children()["gateway"]]), 1),
        "restarts": count_restarts(stack, children),
        "statuses": statuses_of(tally),
        "families": dict(tally.families),
        "seed": seed,
    }
    said = [f"{table}: {count} rows differ" for table, count in differences.items() if count]
    said += [f"{table} of another stream changed" for table in changed]
    return {"ok": is_unharmed(figures, FAILURES)} | figures, [*tally.samples, *devices.wrong_verdicts[:20], *said]


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("batches", nargs="?", type=int, default=BATCHES_TARGET, help="how many, after the warm-up")
    parser.add_argument("seed", nargs="?", type=int, default=1)
    parser.add_argument("--per-second", type=float, default=math.inf, help="batches, to leave room for others")
    arguments = parser.parse_args()
    with running_product(**SETTINGS) as stack:
        figures, samples = measure(
            stack, batches=arguments.batches, seed=arguments.seed, per_second=arguments.per_second
        )
        reasons = failure_reasons(stack)
    conclude_run(figures, samples, reasons)


if __name__ == "__main__":
    main()
