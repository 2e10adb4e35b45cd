"""`onlooker prove` on the whole product; with a promise broken on purpose, it must fail and name the row."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.lib.product import ROOT, conclude, concluding, say
from bench.privacy.namespace import inside, lead_out, require_programs
from testkit import fresh_database, running_stack
from testkit.postgresql import own_cluster

LIMIT_S = 600.0
EXAMPLE = ROOT / "docs" / "reference" / "proof.json"
PRIVACY = ROOT / "bench" / "privacy"
BROKEN = {
    "temp-file": (PRIVACY / "broken_temp_file", "frames-only-in-memory"),
    "telemetry": (PRIVACY / "switched_off", "dependencies-send-nothing"),
}
"""What is put in front of the product's code, and the promise that it breaks."""
ENOUGH = ("pictures-on-disk", "connections")
"""The checks that run where a promise is broken on purpose: they keep the product busy, and one of them fails."""


def run_product(server: str, report: Path, *, broken: str | None) -> dict[str, Any]:
    """Start the product, and run the command as an operator does."""
    if broken:
        os.environ["PYTHONPATH"] = str(BROKEN[broken][0])
    began = time.monotonic()
    with fresh_database(server) as database, running_stack(database, log_level="info") as stack:
        os.environ.pop("PYTHONPATH", None)
        environment = {name: value for name, value in stack.environment.items() if name != "PYTHONPATH"}
        options = ["--report", str(report), "--logs", str(stack.output)]
        options += [option for check in ENOUGH if broken for option in ("--only", check)]
        command = [sys.executable, "-m", "onlooker", "prove"]
        say(f"the product runs; onlooker prove {' '.join(options)}")
        code = subprocess.run(
            [*command, *options], env=environment, stdout=sys.stderr, timeout=LIMIT_S, check=False
        ).returncode
        verified = subprocess.run(
            [*command, "--verify", str(report)], env=environment, stdout=sys.stderr, check=False
        ).returncode
    return {"exit_status": code, "verified": verified == 0, "seconds": round(time.monotonic() - began, 1)}


def judge(ran: dict[str, Any], report: Path, *, broken: str | None) -> dict[str, Any]:
    said = json.loads(report.read_text())["report"]
    rows = [one["id"] for one in said["promises"] if one["state"] == "broken"]
    ok = BROKEN[broken][1] in rows and ran["exit_status"] == 1 if broken else ran["exit_status"] == 0
    return {
        "ok": ok and ran["verified"] and ran["seconds"] < LIMIT_S,
        **ran,
        "seconds_target": LIMIT_S,
        "broken_on_purpose": broken,
        "broken_rows": rows,
        "counts": said["counts"],
        "checks": {check["id"]: check["ok"] for check in said["checks"]},
        "limits": [limit for check in said["checks"] for limit in check["limits"]],
    }


def run_inside(chosen: argparse.Namespace) -> dict[str, Any]:
    """In a network namespace, where nobody is called for real: with telemetry on, somebody would be."""
    with tempfile.TemporaryDirectory(prefix="prove-") as name, own_cluster() as cluster:
        folder = Path(name)
        server = f"postgresql:///postgres?host={cluster.data}&port={cluster.port}&user=postgres"
        command = [sys.executable, "-m", "bench.privacy.proof", "--inside", server, "--folder", name]
        command += ["--broken", chosen.broken] if chosen.broken else []
        ended = subprocess.run(
            inside(command), cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=2 * LIMIT_S, check=False
        )
        report = folder / "proof.json"
        if not report.exists():
            return {"ok": False, "reason": "no report was written", "exit_status": ended.returncode}
        figures = judge(json.loads(ended.stdout.splitlines()[-1]), report, broken=chosen.broken)
        if chosen.write and figures["ok"] and not chosen.broken:
            for file in (report, report.with_suffix(".md")):
                shutil.copy(file, EXAMPLE.with_suffix(file.suffix))
        return figures


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--broken", choices=BROKEN, help="break this promise on purpose; the proof must fail")
    parser.add_argument("--write", action="store_true", help="replace the example in docs/reference, if all is well")
    parser.add_argument("--inside", metavar="SERVER", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.inside:
        lead_out(chosen.folder)
        print(json.dumps(run_product(chosen.inside, chosen.folder / "proof.json", broken=chosen.broken)))
        return
    require_programs()
    conclude(run_inside(chosen))


if __name__ == "__main__":
    main()
