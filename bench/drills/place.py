"""What this machine and this folder lack for a drill, and what to do about it."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from bench.drills.recipes import DrillForm
from bench.lib.product import ROOT

TESTDATA = ROOT.parent / "shared" / "testdata"  # as bench.lib.testdata has it, which loads OpenCV
HIDDEN = ("/root/", "/home/", "/tmp/", "/var/tmp/")
"""Folders that a service with a home and a /tmp of its own does not see."""
BESIDE_THE_PATH = ("/usr/sbin", "/sbin")


@dataclass(frozen=True)
class Lack:
    """Why a drill is not run here."""

    reason: str
    is_fault: bool
    """Whether the run fails for it."""


def find_lack(drill: DrillForm, *, root: Path = ROOT) -> Lack | None:
    if drill.shared and not TESTDATA.is_dir():
        return Lack("no ../shared/testdata", is_fault=False)
    for need in drill.needs:
        if lack := _lack(need, root):
            return lack
    return None


def _lack(need: str, root: Path) -> Lack | None:
    if need == "root":
        return None if os.getuid() == 0 else Lack("not root: run it with sudo", is_fault=True)
    if need == "visible folder":
        return _hidden(root)
    if need == "open folder":
        return _closed(root)
    if shutil.which(need, path=os.pathsep.join((os.environ["PATH"], *BESIDE_THE_PATH))):
        return None
    return Lack(f"no {need}: install it, and see that it is on the PATH", is_fault=True)


def _hidden(root: Path) -> Lack | None:
    if f"{root}/".startswith(HIDDEN):
        return Lack(f"cannot run here: services don't see {root}; clone into /srv or /opt", is_fault=False)
    return _closed(root)


def _closed(root: Path) -> Lack | None:
    """Processes of other accounts run what lies here."""
    closed = [folder for folder in (root, *root.parents) if not folder.stat().st_mode & 0o001]
    if closed:
        reason = f"cannot run here: other accounts may not enter {closed[0]}; clone into /srv or /opt"
        return Lack(reason, is_fault=False)
    return None
