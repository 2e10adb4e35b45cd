"""Packs the built files, their cards and licences into the wheel of onlooker-models, the same bytes every time."""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from building.checksums import compute_checksums, format_checksums

# Any fixed moment: a zip has a time for every file, and the build's own would make every wheel another.
SOURCE_DATE_EPOCH = "1577836800"
PACKAGE = "onlooker_models"


class WheelError(Exception):
    """The wheel could not be built, or does not hold what it should."""


def build_wheel(project: Path, data: Path, folder: Path) -> Path:
    """Stages the project with the data inside its package, and has hatchling build it."""
    stage = folder / "stage"
    shutil.rmtree(folder, ignore_errors=True)
    package = stage / "src" / PACKAGE
    for name in ("src", "licences"):
        shutil.copytree(project / name, stage / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(project / name, stage / name)
    shutil.copytree(data, package / "data")
    for name in ("cards", "licences"):
        shutil.copytree(project / name, package / name)
    (package / "SHA256SUMS").write_text(format_checksums(compute_checksums(data)), encoding="utf-8")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder.resolve())]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": SOURCE_DATE_EPOCH}
    done = subprocess.run(command, cwd=stage, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise WheelError(f"hatchling failed:\n{done.stderr.strip()}")
    return next(folder.glob("*.whl"))


def check_wheel(wheel: Path, data: Path, project: Path) -> None:
    """Raises unless the wheel holds every built file with its bytes, every card and every licence."""
    expected = {f"data/{name}": sha256 for name, sha256 in compute_checksums(data).items()}
    for folder in ("cards", "licences"):
        expected |= {f"{folder}/{name}": sha256 for name, sha256 in compute_checksums(project / folder).items()}
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
        missing = [name for name in (*expected, "SHA256SUMS", "py.typed") if f"{PACKAGE}/{name}" not in names]
        if missing:
            raise WheelError(f"{wheel.name} lacks {', '.join(missing)}")
        for name, sha256 in expected.items():
            if hashlib.sha256(packed.read(f"{PACKAGE}/{name}")).hexdigest() != sha256:
                raise WheelError(f"{wheel.name} holds other bytes for {name} than were built")
