"""The commands of docs/guides/compose.md, word for word, on an empty Debian with podman-compose as `docker compose`."""

import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.lib.debian_root import DebianRoot
from bench.lib.product import ROOT

GUIDE = ROOT / "docs" / "guides" / "compose.md"
PLAYED = ("Five-minute start", "Certificates", "Upgrade", "Backup", "Remove it")
"""Sections of the guide whose commands are run, all of them."""
KEPT = "/root/.terminal"
"""What a block leaves to the next."""
PASSED = ("CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "DISABLE_HC_SYSTEMD", "HOME")
"""What podman-compose gets of the environment."""
NEEDED = ("deploy/compose", "docs/pictures")
"""What the commands use of a clone."""
_SECTION = r"^## {title}\n(.*?)(?=^## |\Z)"
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_DOCKER = """#!/bin/sh
# The guide's `docker compose`: podman-compose of the machine around this Debian.
[ "$1" = compose ] || { echo "only compose is played here: $*" >&2; exit 2; }
shift
# Docker's compose turns on the profile of a service that it is told to run.
[ "$1" != run ] || set -- --profile administration "$@"
exec nsenter --target 1 --mount -- env -i -C "%(root)s$PWD" %(variables)s podman-compose "$@"
"""

_PODMAN = """#!/bin/bash
# Debian 12's podman 4.3 can't start a container that requires one which has ended, and waits without end, or 20 seconds
# at a time, for one that has ended already: podman-compose would not get past `prepare`.
if [ "$1 $2" = "wait --condition=stopped" ]; then
    until {podman} inspect --format '{{{{.State.Status}}}}' "$3" | grep -qxE "exited|stopped"; do sleep 0.5; done
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
    """A person's terminal: each block begins where the one before ended, with its folder, variables and functions.

    It is for use within `isolated`, whose first process sees the machine's files.
    """

    root: DebianRoot
    environment: Mapping[str, str]
    """Of podman."""

    @property
    def clone(self) -> Path:
        """As this machine sees it."""
        return self.root.path / "root" / "clone"

    def prepare(self) -> None:
        """What the guide needs: a clone of what it uses, curl and openssl, and `docker`."""
        for needed in NEEDED:
            target = self.clone / needed
            target.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "--recursive", str(ROOT / needed), str(target)], check=True)
        for left in (".env", "secrets"):
            subprocess.run(["rm", "-rf", str(self.clone / "deploy" / "compose" / left)], check=True)
        self.root.add_packages("ca-certificates", "curl")  # the first brings openssl
        programs = self.root.path.parent / "programs"
        programs.mkdir()
        variables = {name: self.environment[name] for name in PASSED if name in self.environment}
        variables["PATH"] = f"{programs}:{self.environment['PATH']}"
        quoted = shlex.join(f"{name}={value}" for name, value in variables.items())
        docker = _DOCKER % {"root": self.root.path, "variables": quoted}
        podman = _PODMAN.format(podman=shutil.which("podman"))
        for path, text in ((self.root.path / "usr/local/bin/docker", docker), (programs / "podman", podman)):
            path.write_text(text)
            path.chmod(0o755)
        (self.root.path / KEPT[1:]).write_text("cd /root/clone\n")

    def run(self, block: str, *, limit_s: float = 600) -> Said:
        """RuntimeError with what it printed if a command fails."""
        keep = f"{{ declare -f; declare -p | grep -E '^declare (--|-x) [A-Z_]+='; echo cd \"$PWD\"; }} >{KEPT}"
        script = f"set -euo pipefail\n. {KEPT} 2>/dev/null\n{block}\n{keep}\n"
        began = time.monotonic()
        done = subprocess.run(
            self.root.command("bash", "-c", script),
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
