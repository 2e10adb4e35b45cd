"""The historic public client, angus-sdk-python 0.0.15, against a running gateway over HTTPS."""

import json
import os
import subprocess
import sys

from bench.product import ROOT, conclude, running_product, say
from onlooker.testing import Stack

PYTHON = ROOT / ".conformance-venv" / "bin" / "python"
CHECKS_TARGET = 13
TIME_LIMIT_S = 180
NO_PROXY = {"NO_PROXY": "localhost,127.0.0.1"}
FOREIGN_TRUST = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""`requests` prefers these to the authority that a session was told to trust."""


def run_client(stack: Stack) -> dict[str, bool]:
    """What the client could do, by check; nothing when it did not come to its end."""
    stream = stack.create_stream()
    script = str(ROOT / "bench" / "historic_client.py")
    finished = subprocess.run(
        [str(PYTHON), script, stack.url, *stream.auth, stack.ca_file],
        env={name: value for name, value in os.environ.items() if name not in FOREIGN_TRUST} | NO_PROXY,
        stdout=subprocess.PIPE,
        timeout=TIME_LIMIT_S,
        check=False,
    )
    return dict(json.loads(finished.stdout)) if finished.returncode == 0 else {}


def main() -> None:
    if not PYTHON.exists():
        sys.exit("The historic client's environment is missing. Make it and run this with: just conformance")
    with running_product(rate_limit_per_second=1000, rate_limit_burst=1000) as stack:
        say("the product runs; the historic client starts")
        checks = run_client(stack)
    passed = sum(checks.values())
    ok = passed == len(checks) == CHECKS_TARGET
    conclude(
        {"ok": ok, "client": "angus-sdk-python 0.0.15", "checks": checks, "passed": passed, "target": CHECKS_TARGET}
    )


if __name__ == "__main__":
    main()
