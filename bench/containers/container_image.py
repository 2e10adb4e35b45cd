"""Builds the image from the working tree, and looks at what it is: size, user, a read-only file system, findings."""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.containers.container_files import containerfile_findings
from bench.containers.engine import ISOLATED, NAME, ContainerEngine
from bench.containers.image_launch import CLOSED
from bench.lib.product import conclude, concluding, say

BYTES_TARGET = 450_000_000
LARGE_BYTES = 5_000_000
PROCESSES = ("gateway", "dispatcher", "recorder", "worker", "console", "data", "up")
CONTAINED = (*CLOSED, "--network=none")
"""As compose.yaml runs it; /tmp is in memory."""
_CONFINES = """
import json, os, pathlib
from onlooker_pipeline.landlock import require_landlock
require_landlock()
def is_refused(path):
    try:
        pathlib.Path(path).write_text("")
    except OSError:
        return True
    return False
writable = [path for path in ("/", "/opt/onlooker", "/var/lib/onlooker", "/etc", "/usr") if not is_refused(path + "/x")]
status = dict(line.split(":", 1) for line in pathlib.Path("/proc/self/status").read_text().splitlines())
print(json.dumps({"uid": os.getuid(), "writable": writable, "capabilities": int(status["CapEff"], 16),
                  "filtered": status["Seccomp"].strip() == "2"}))
"""


def look_inside(engine: ContainerEngine, name: str) -> dict[str, Any]:
    """What a process finds that is run as compose.yaml runs it."""
    run = [str(ISOLATED), "podman", "run", *CONTAINED, name]
    found = dict(json.loads(engine.run([*run, "python", "-c", _CONFINES])))
    help_of_all = 'for one; do onlooker "$one" --help >/dev/null && echo "$one"; done'
    found["commands"] = engine.run([*run, "sh", "-c", help_of_all, "sh", *PROCESSES]).split()
    return found


def ask_health(engine: ContainerEngine, folder: Path) -> dict[str, Any]:
    """Of all processes, run from the image beside a PostgreSQL of their own."""
    python = [sys.executable, "-m"]
    command = ["env", "--unset=TEST_DATABASE_URL", *python, "testkit", "with-postgresql", "--"]
    command += [*python, "bench.containers.image_health", str(folder)]
    said = engine.run([ISOLATED, *command], limit_s=300)
    return dict(json.loads(said.strip().splitlines()[-1]))


def measure_parts(engine: ContainerEngine, name: str) -> dict[str, int]:
    """Megabytes of the packages that are large, and of all else."""
    folders = "/opt/onlooker/lib/python3*/site-packages/* /opt/onlooker /usr /var /etc"
    du = f"du --bytes --summarize {folders} || true"
    command = [str(ISOLATED), "podman", "run", *CONTAINED, "--user=0", name, "sh", "-c", du]
    parts = {}
    for line in engine.run(command).splitlines():
        size, _, path = line.partition("\t")
        if int(size) >= LARGE_BYTES:
            parts[path.rpartition("site-packages/")[2]] = round(int(size) / 1e6)
    return dict(sorted(parts.items(), key=lambda part: -part[1]))


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="where images are kept after the run, for `just compose`")
    chosen = parser.parse_args().folder
    folder = chosen or Path(tempfile.mkdtemp(prefix="onlooker-image-"))
    engine = ContainerEngine(folder)
    engine.configure()
    try:
        findings = containerfile_findings()
        for finding in findings:
            say(finding)
        say("building ...")
        began = time.monotonic()
        engine.build(NAME)
        seconds = time.monotonic() - began
        image = engine.inspect_image(NAME)
        inside = look_inside(engine, NAME)
        health = ask_health(engine, folder)
        parts = measure_parts(engine, NAME)
    finally:
        if chosen is None:
            engine.remove()
    for part, megabytes in parts.items():
        say(f"{megabytes:>5} MB  {part}")
    is_confined = inside["uid"] != 0 and not inside["writable"] and not inside["capabilities"]
    unhealthy = [process for process, is_healthy in health["healthy"].items() if not is_healthy]
    figures = {
        "bytes": image["Size"],
        "bytes_target": BYTES_TARGET,
        "seconds": round(seconds),
        "user": image["Config"]["User"],
        "read_only_run_ok": is_confined,
        "landlock_under_the_default_filter": inside["filtered"],
        "commands": len(inside["commands"]),
        "commands_target": len(PROCESSES),
        "ready_s": health["ready_s"],
        "healthy": len(health["healthy"]) - len(unhealthy),
        "healthy_target": len(health["healthy"]),
        "unhealthy": unhealthy,
        "labels": len(image["Labels"] or {}),
        "hadolint_findings": len(findings),
        "hadolint_findings_target": 0,
    }
    has_all = len(inside["commands"]) == len(PROCESSES) and not unhealthy
    ok = image["Size"] <= BYTES_TARGET and is_confined and not findings and has_all
    conclude({"ok": ok} | figures)


if __name__ == "__main__":
    main()
