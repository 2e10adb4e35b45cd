"""Whether the whole product calls nobody and writes nothing outside its home; and whether this check can fail."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.lib.product import ROOT, conclude, say
from bench.privacy.namespace import inside, require_programs
from bench.privacy.trace import called_addresses, strace, written_files
from onlooker_pipeline.catalogue import SERVICES
from testkit.postgresql import own_cluster

SECONDS = 60.0
START_LIMIT_S = 180.0
SWITCHED_OFF = ROOT / "bench" / "privacy" / "switched_off"
BUSY = (*(service.name for service in SERVICES), "numbers", "pages", "passing_by", "agent_alive")
"""What must have happened, or the silence means nothing."""


@dataclass(frozen=True)
class Heard:
    """Of one run of the product."""

    done: dict[str, int]
    packets: list[str]
    first_after_s: float | None
    called: list[str]
    """Addresses beyond this machine that a process tried to reach."""
    written: list[str]
    """Files outside the product's home."""

    @property
    def is_quiet(self) -> bool:
        return not (self.packets or self.called or self.written or self.idle)

    @property
    def idle(self) -> list[str]:
        return [name for name in BUSY if not self.done.get(name)]


def listen(server: str, seconds: float, *, switched_off: bool = False) -> Heard:
    """Run the product in a namespace of its own, traced; `switched_off` takes out what silences its dependencies."""
    with tempfile.TemporaryDirectory(prefix="quiet-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        for part in ("tmp", "person"):
            (folder / part).mkdir()
        trace = folder / "trace"
        command = [sys.executable, "-m", "bench.privacy.activity", server, str(folder), str(seconds)]
        command += ["--stop-when-heard"] if switched_off else []
        ended = subprocess.run(
            inside([*strace(trace), *command]),
            cwd=ROOT,
            env=_environment(folder, switched_off=switched_off),
            stdout=subprocess.PIPE,
            text=True,
            timeout=seconds + START_LIMIT_S,
            check=True,
        )
        said: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
        with trace.open(encoding="utf-8", errors="replace") as lines:
            called = called_addresses(lines)
        with trace.open(encoding="utf-8", errors="replace") as lines:
            written = written_files(lines, expected=_expected(folder))
        return Heard(said["done"], said["packets"], said["first_after_s"], called, written)


def _environment(folder: Path, *, switched_off: bool) -> dict[str, str]:
    """A person's, with a home of its own; nothing in it silences anybody, so the product must do that itself."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "VIRTUAL_ENV") if name in os.environ}
    own = {"HOME": str(folder / "person"), "TMPDIR": str(folder / "tmp"), "PYTHONUNBUFFERED": "1"}
    return kept | own | ({"PYTHONPATH": str(SWITCHED_OFF)} if switched_off else {})


def _expected(folder: Path) -> list[re.Pattern[str]]:
    """The product's home and output, what this check writes itself, and what Python does by itself.

    That is its bytecode, and a file of no content by which it finds out where temporary files can go.
    """
    place = re.escape(str(folder))
    stack = rf"{place}/tmp/onlooker-\w+(/up\.log|/home(/.*)?)?"
    python = r".*/__pycache__(/.*)?", rf"{place}/tmp/\w{{8}}"
    return [re.compile(one) for one in (stack, rf"{place}/(bench|trace)(/.*)?", *python)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=float, nargs="?", default=SECONDS)
    parser.add_argument("--only-quiet", action="store_true", help="leave out the run without the switch")
    chosen = parser.parse_args()
    require_programs()
    with own_cluster() as cluster:
        server = f"postgresql:///postgres?host={cluster.data}&port={cluster.port}&user=postgres"
        quiet = listen(server, chosen.seconds)
        loud = None if chosen.only_quiet else listen(server, chosen.seconds, switched_off=True)
    for line in (*quiet.packets, *quiet.called, *quiet.written, *quiet.idle):
        say(f"not as it should be: {line}")
    figures: dict[str, Any] = {
        "ok": not (quiet.packets or quiet.called or quiet.written or quiet.idle)
        and (loud is None or bool(loud.packets)),
        "seconds": chosen.seconds,
        "packets": len(quiet.packets),
        "packets_target": 0,
        "addresses_called": quiet.called,
        "files_outside": quiet.written,
        "idle_parts": quiet.idle,
        "done": quiet.done,
    }
    if loud:
        figures |= {
            "with_the_switch_out": dict(Counter(loud.packets)),
            "first_after_s": loud.first_after_s,
            "first_after_s_target": chosen.seconds,
            "files_outside_with_the_switch_out": len(loud.written),
        }
    conclude(figures)


if __name__ == "__main__":
    main()
