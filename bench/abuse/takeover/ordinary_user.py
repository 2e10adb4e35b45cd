"""An ordinary user to run the product as: root is stopped by no file's mode and by no other user."""

import os
import pwd
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from bench.lib.product import ROOT

FIRST_ID, LAST_ID = 61_000, 61_183
"""Ids that Debian's policy and systemd leave free."""
SOURCES = ("pipeline/src", "server/src")


@dataclass(frozen=True)
class OrdinaryUser:
    """An id that nothing belongs to, and a Python that it can run; without an id, the user who runs the bench."""

    id: int | None
    python: str


def find_user() -> OrdinaryUser:
    if os.getuid() != 0:
        return OrdinaryUser(None, sys.executable)
    taken = {entry.pw_uid for entry in pwd.getpwall()}
    user = next(number for number in range(FIRST_ID, LAST_ID) if number not in taken)
    for python in (sys.executable, f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"):
        if _can_run(user, python):
            return OrdinaryUser(user, python)
    raise RuntimeError(f"An ordinary user can't run {sys.executable}. Install Python where everyone can read it.")


def code_path(*more: Path) -> str:
    """What PYTHONPATH must name for a Python outside our environment."""
    packages = sysconfig.get_path("purelib")
    return os.pathsep.join(map(str, [*more, ROOT, *(ROOT / source for source in SOURCES), packages]))


def _can_run(user: int, python: str) -> bool:
    try:
        command = [python, "-c", "import onlooker, onlooker_pipeline, psycopg"]
        environment = {"PYTHONPATH": code_path(), "PATH": os.environ["PATH"]}
        done = subprocess.run(
            command, user=user, group=user, extra_groups=[], env=environment, capture_output=True, check=False, cwd="/"
        )
    except OSError:
        return False
    return done.returncode == 0
