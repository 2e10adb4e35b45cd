"""Processes of one user that keep their secrets from one another."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from onlooker import child_process
from onlooker.up.file_access import without
from onlooker_pipeline.landlock import landlock_version

needs_landlock = pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")

HIDING = """
import ctypes, pathlib, sys, time, types
if sys.argv[1] == "hidden":
    sys.modules["onlooker_pipeline.landlock"] = types.SimpleNamespace(enter=None)
    module = {}
    exec(pathlib.Path(sys.argv[2]).read_text(), module)
    module["hide_process"]("hidden")
print("ready", flush=True)
time.sleep(60)
"""
LOOKING = """
import sys
for name in ("environ", "maps"):
    try:
        with open(f"/proc/{sys.argv[1]}/{name}", "rb") as file:
            file.read()
        print(name)
    except OSError:
        pass
"""
SANDBOXED = """
import os, pathlib, sys
from onlooker_pipeline.landlock import enter, some_files
own, other = map(pathlib.Path, sys.argv[1:3])
sandbox = some_files(read=[pathlib.Path("/usr"), pathlib.Path(sys.prefix)], write=[own])
if sys.argv[3] == "in":
    enter(sandbox)
def can(act):
    try:
        act()
        return "yes"
    except OSError:
        return "no"
print(can(lambda: (own / "file").write_text("x")), can(lambda: (own / "file").rename(own / "other")))
print(can(lambda: other.read_text()), can(lambda: os.listdir(other.parent)))
print(can(lambda: open(f"/proc/{os.getppid()}/environ").read()))
"""


def _as_ordinary() -> dict[str, Any]:
    """Root may look at everything."""
    return {"user": 61_111, "group": 61_111, "extra_groups": []} if os.getuid() == 0 else {}


def _look(pid: int) -> list[str]:
    command = ["/usr/bin/python3", "-c", LOOKING, str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd="/", **_as_ordinary()).stdout.split()


@pytest.mark.parametrize(("how", "seen"), [("hidden", []), ("plain", ["environ", "maps"])])
def test_a_hidden_process_can_not_be_read_by_its_own_user(how: str, seen: list[str]) -> None:
    command = ["/usr/bin/python3", "-c", HIDING, how, str(Path(child_process.__file__))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd="/", **_as_ordinary()) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == b"ready\n"
            found = _look(process.pid)
        finally:
            process.kill()
    assert found == seen


@needs_landlock
@pytest.mark.parametrize(("where", "can"), [("in", "yes yes no no no"), ("out", "yes yes yes yes yes")])
def test_a_sandbox_leaves_the_files_that_are_named(tmp_path: Path, where: str, can: str) -> None:
    own, secret = tmp_path / "own", tmp_path / "secret"
    own.mkdir()
    secret.write_text("x")
    command = [sys.executable, "-c", SANDBOXED, str(own), str(secret), where]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == can.split()


def test_a_folder_that_holds_the_home_is_opened_without_it(tmp_path: Path) -> None:
    home = tmp_path / "var" / "home"
    for path in (home / "database", tmp_path / "var" / "beside", tmp_path / "venv"):
        path.mkdir(parents=True)
    assert set(without(tmp_path, home)) == {tmp_path / "var" / "beside", tmp_path / "venv"}
    assert list(without(home, home)) == []
    assert list(without(home / "database", home)) == [home / "database"]
    assert list(without(tmp_path / "venv", home)) == [tmp_path / "venv"]
