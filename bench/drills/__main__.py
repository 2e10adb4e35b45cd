"""`just drills` and `just ci`: runs checks and drills; one table at the end, the last line is one JSON object."""

import argparse
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack

from bench.drills.execution import DrillVerdict
from bench.drills.recipes import (
    BY_HAND,
    CHECKS,
    NIGHTLY,
    SHORT,
    DeclarationError,
    DrillForm,
    choose,
    read_drills,
    read_recipes,
)
from bench.drills.schedule import SIDE_BY_SIDE, Schedule, seconds_since
from bench.drills.table import summarise, write_logs, write_table
from bench.lib.product import conclude, say
from testkit.postgresql import own_cluster

TUNING = ("max_connections=400", "fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_wal_size=4GB")
"""Of the PostgreSQL that all drills share, as that of the tests."""


def main() -> None:
    chosen = parse_arguments()
    began = time.monotonic()
    try:
        checks, drills = plan(chosen)
    except DeclarationError as error:
        sys.exit(str(error))
    schedule = Schedule(side_by_side=chosen.side_by_side, tell=tell)
    with ExitStack() as opened:
        if "TEST_DATABASE_URL" not in os.environ:
            os.environ["TEST_DATABASE_URL"] = opened.enter_context(own_cluster(*TUNING)).url
        stop_on_signals(schedule)
        schedule.run_in_order(checks)
        schedule.run(drills)
    verdicts = [schedule.verdicts[one.name] for one in (*checks, *drills)]
    print("\n".join(["", *write_logs(verdicts), "", *write_table(verdicts), ""]), flush=True)
    conclude(summarise(verdicts, seconds=seconds_since(began)))


def plan(chosen: argparse.Namespace) -> tuple[list[DrillForm], list[DrillForm]]:
    """Checks, the fastest first, and drills."""
    every = read_drills(read_recipes(), nightly=chosen.nightly)
    if chosen.names:
        return [], choose(every, chosen.names)
    groups = {SHORT, *([NIGHTLY] if chosen.nightly or chosen.all else []), *([BY_HAND] if chosen.all else [])}
    checks = sorted((one for one in every if chosen.ci and one.group == CHECKS), key=lambda one: one.limit_s)
    return checks, [one for one in every if one.group in groups]


def stop_on_signals(schedule: Schedule) -> None:
    """In a thread of its own, since the signal may come while the schedule holds its lock."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: threading.Thread(target=schedule.stop).start())


def tell(verdict: DrillVerdict) -> None:
    say(f"{'ok' if verdict.ok else 'FAILED'}  {verdict.name}  {verdict.seconds:.0f} s  {verdict.words}")


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="just drills", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="recipes, or forms such as 'prove-broken telemetry'")
    parser.add_argument("--nightly", action="store_true", help="at full size, and those that are only run at night")
    parser.add_argument("--all", action="store_true", help="those also that are only run by hand")
    parser.add_argument("--ci", action="store_true", help="lint, committed files and all tests first")
    parser.add_argument("--side-by-side", type=int, default=SIDE_BY_SIDE, metavar="N", help="how many at a time")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
