"""Jobs while processes are killed: no accepted one is lost, no session forgets or repeats a call."""

import contextlib
import json
import os
import secrets
import sys
from pathlib import Path

from bench.accepted_jobs import run_accepted_jobs
from bench.killing import Killer
from bench.session_calls import run_session_calls
from onlooker.testing import fresh_database, own_cluster, running_stack

ROOT = Path(__file__).parent.parent
FULL_SIZE = 1000
KILLS_FOR_FULL_SIZE = 20
WORKER_KILLS = 5
ROOMY = {"rate_limit_per_second": 1e6, "rate_limit_burst": 10**6, "extra_services": "extra.measure,extra.trouble"}


def main(jobs: int, seed: int) -> int:
    os.environ["PYTHONPATH"] = str(ROOT / "server" / "tests")
    kills = max(1, KILLS_FOR_FULL_SIZE * jobs // FULL_SIZE)
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(own_cluster())
        database_url = stack.enter_context(fresh_database(cluster.url))
        product = stack.enter_context(running_stack(database_url, workers=2, log_level="info", **ROOMY))
        names = ["gateway", "dispatcher", "worker-1", "worker-2", "nats"]
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
