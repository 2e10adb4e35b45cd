"""Hundreds of real agents enrol, are moved, reconfigured, replaced and revoked; then all numbers are compared."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.fleet.box_processes import MOST, box_processes
from bench.fleet.drill import CHANGE, DrillPlan, FleetDrill
from bench.fleet.expectation import check_api, check_database
from bench.fleet.management import ManagementApi
from bench.fleet.oracle import StoredNumbers, compare_numbers, read_numbers
from bench.lib.product import conclude, concluding, running_product, say
from testkit import Stack

MEMORY = Path("/dev/shm")
"""Hundreds of journals that sync to one disk would measure the disk."""
OWNER = "integrator@example.org"
SCOPES = ("manage", "enrol", "numbers")
REPLACED_SHARE, REVOKED_SHARE = 10, 25
"""One in so many devices: 50 and 20 of 500."""
BOXES_PER_PROCESS = 50
WRITTEN_LIMIT_S, STILL_S = 120.0, 15.0
FAULTS_TOLD = 10


def run_product(stack: Stack, *words: str) -> str:
    """`onlooker` with the product's settings; what it prints."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ONLOOKER_")}
    ended = subprocess.run(
        [sys.executable, "-m", "onlooker", *words],
        env=environment | stack.environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if ended.returncode:
        raise RuntimeError(f"onlooker {words[0]} {words[1]}: {ended.stderr}")
    return ended.stdout


def open_api(stack: Stack) -> ManagementApi:
    """Of a new organisation, with a key of its own."""
    run_product(stack, "organisation", "create", "Shops", "--owner", OWNER)
    scopes = [word for scope in SCOPES for word in ("--scope", scope)]
    key = run_product(stack, "key", "create", "fleet", *scopes, "--owner", OWNER).split()[-1]
    return ManagementApi(stack, key)


def await_written(stack: Stack, visits: int) -> dict[str, StoredNumbers]:
    """What recorders and roll-ups have, once nothing more comes."""
    give_up_at, known, since = time.monotonic() + WRITTEN_LIMIT_S, -1, time.monotonic()
    while True:
        stored = read_numbers(stack)
        state = sum(one.visits.total() + one.passing_by + one.watched_ms for one in stored.values())
        if state != known:
            known, since = state, time.monotonic()
        if time.monotonic() - since > STILL_S or time.monotonic() > give_up_at:
            say(f"{sum(one.visits.total() for one in stored.values())} visits stored, {visits} made")
            return stored
        time.sleep(2.0)


def run_drill(stack: Stack, folder: Path, plan: DrillPlan, *, processes: int) -> dict[str, Any]:
    api = open_api(stack)
    with box_processes(stack, folder, count=processes, trial_s=plan.trial_s) as boxes:
        drill = FleetDrill(stack, api, boxes, plan)
        for step in (
            drill.enrol,
            drill.begin,
            drill.measure,
            drill.move,
            drill.break_configuration,
            drill.repair_configuration,
            drill.replace,
            drill.revoke,
        ):
            say(f"{step.__name__.replace('_', ' ')} ...")
            step()
        states = [check_database(stack, drill.streams, CHANGE), check_api(api, drill.streams)]
        made = drill.finish()
    stored = await_written(stack, sum(len(box["visits"]) for box in made.values()))
    numbers, counted = compare_numbers(made, stored, drill.streams)
    errors = [line for line in stack.output.read_text().splitlines() if '"level":"error"' in line]
    found = [*states, numbers]
    words = [*drill.faults, *(line for one in found for line in one.words), *errors]
    for line in words[:FAULTS_TOLD]:
        say(f"FAULT: {line}")
    wrong = {name: count for one in found for name, count in one.counts.items()}
    return {
        "ok": not words and not wrong and len(drill.streams) == plan.devices,
        "devices": plan.devices,
        "processes": processes,
        **drill.figures,
        "enrolled_target": plan.devices,
        "rolled_back_target": plan.devices,
        "replaced_target": plan.replaced,
        "revoked_target": plan.revoked,
        **counted,
        "visits_lost": wrong.get("visits_lost", 0),
        "visits_lost_target": 0,
        "visits_twice": wrong.get("visits_twice", 0),
        "visits_twice_target": 0,
        "wrong": wrong,
        "faults": len(words),
        "faults_target": 0,
        "errors_logged": len(errors),
        "api_requests": api.requests,
    } | ({"reason": words[0]} if words else {})


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", type=int, default=500)
    parser.add_argument("--processes", type=int, help="of simulated devices (one for each 50, at least 2, at most 10)")
    parser.add_argument("--steady", type=float, default=300.0, metavar="S", help="how long figures are measured")
    parser.add_argument("--trial", type=float, default=60.0, metavar="S", help="how long devices try a configuration")
    given = parser.parse_args()
    if not 4 <= given.devices <= MOST * BOXES_PER_PROCESS:
        parser.error(f"--devices: 4 to {MOST * BOXES_PER_PROCESS}; a process holds at most {BOXES_PER_PROCESS} agents")
    processes = given.processes or min(MOST, max(2, -(-given.devices // BOXES_PER_PROCESS)))
    if not 1 <= processes <= MOST or given.devices > processes * BOXES_PER_PROCESS:
        parser.error(f"--processes: at most {MOST}, and at most {BOXES_PER_PROCESS} devices in each")
    plan = DrillPlan(
        given.devices,
        replaced=max(2, given.devices // REPLACED_SHARE),
        revoked=max(1, given.devices // REVOKED_SHARE),
        steady_s=given.steady,
        trial_s=given.trial,
    )
    began = time.monotonic()
    memory = MEMORY if MEMORY.is_dir() else None
    with (
        tempfile.TemporaryDirectory(prefix="onlooker-fleet-", dir=memory) as folder,
        running_product(streams_per_account=plan.devices, log_level="info", database_pool_size=8) as stack,
    ):
        figures = run_drill(stack, Path(folder), plan, processes=processes)
    say(json.dumps(figures.get("per_1000_devices_and_hour", {}), indent=2))
    conclude({**figures, "took_s": round(time.monotonic() - began)})


if __name__ == "__main__":
    main()
