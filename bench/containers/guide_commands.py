"""The commands of docs/guides/compose.md, word for word, with podman-compose where it says docker compose."""

import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.lib.product import ROOT

GUIDE = ROOT / "docs" / "guides" / "compose.md"
NEEDED = ("deploy/compose", "docs/pictures")
"""What the commands use of a clone."""
_SECTION = r"^## {title}\n(.*?)(?=^## |\Z)"
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_DOCKER = """#!/bin/sh
# The guide's `docker compose` on a machine that has podman-compose.
[ "$1" = compose ] || { echo "only compose is played here: $*" >&2; exit 2; }
shift
exec podman-compose "$@"
"""

_PODMAN = """#!/bin/bash
# Debian 12's podman 4.3 can't start a container that requires one which has ended, and waits without end, or 20 seconds
# at a time, for one that has ended already: podman-compose would not get past `prepare`.
if [ "$1 $2" = "wait --condition=stopped" ]; then
    until [ "$({podman} inspect --format '{{{{.State.Status}}}}' "$3")" = exited ]; do sleep 0.5; done
    exit 0
fi
words=()
for word; do
    case $word in --requires=*) ;; *) words+=("$word") ;; esac
done
exec {podman} "${{words[@]}}"
"""


@dataclass(frozen=True)
class Said:
    """What a block of commands printed, and how long it took."""

    out: str
    seconds: float


def blocks_of(title: str) -> list[str]:
    """The shell commands of a section."""
    found = re.search(
        _SECTION.format(title=re.escape(title)), GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    if not found or not _BLOCK.findall(found[1]):
        raise RuntimeError(f"{GUIDE.name} has no commands under {title!r} any more: mend the guide or this.")
    return _BLOCK.findall(found[1])


@dataclass
class GuideShell:
    """A person's terminal: each block begins where the one before ended, with its folder, variables and functions."""

    folder: Path
    environment: Mapping[str, str]

    @property
    def kept(self) -> Path:
        return self.folder / "shell"

    def prepare(self) -> None:
        """A clone of what the guide uses, and `docker`."""
        for needed in NEEDED:
            target = self.folder / "clone" / needed
            target.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "--recursive", str(ROOT / needed), str(target)], check=True)
        for left in (".env", "secrets"):
            subprocess.run(["rm", "-rf", str(self.folder / "clone" / "deploy" / "compose" / left)], check=True)
        programs = self.folder / "bin"
        programs.mkdir(exist_ok=True)
        for name, text in {"docker": _DOCKER, "podman": _PODMAN.format(podman=shutil.which("podman"))}.items():
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        self.kept.write_text(f"cd {shlex.quote(str(self.folder / 'clone'))}\n")

    def run(self, block: str, *, limit_s: float = 600) -> Said:
        """RuntimeError with what it printed if a command fails."""
        keep = f"{{ declare -f; declare -p | grep -E '^declare (--|-x) [A-Z_]+='; echo cd \"$PWD\"; }} >{self.kept}"
        script = f"set -euo pipefail\n. {self.kept} 2>/dev/null\n{block}\n{keep}\n"
        began = time.monotonic()
        done = subprocess.run(
            ["bash", "-c", script],
            env={**self.environment, "PATH": f"{self.folder / 'bin'}:{self.environment['PATH']}"},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=limit_s,
        )
        if done.returncode:
            raise RuntimeError(f"the guide's commands failed:\n{block}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}")
        return Said(done.stdout, time.monotonic() - began)

    def variable(self, name: str) -> str:
        """Of the terminal."""
        return self.run(f'printf %s "${name}"').out
