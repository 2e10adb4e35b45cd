"""The tree of a commit, which is what a release is built from: nothing that lies about in a working tree gets in."""

import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECTS = ("client", "pipeline", "server", "models")


class ReleaseError(Exception):
    """Why there is no release."""


@dataclass(frozen=True)
class Commit:
    """What is released, and when it was committed: the time that all archives carry."""

    sha: str
    epoch: int


def head_commit() -> Commit:
    sha, epoch = _git("log", "-1", "--format=%H %ct").split()
    return Commit(sha, int(epoch))


def uncommitted_files() -> list[str]:
    """What the working tree has and the release will not have."""
    return [line[3:] for line in _git("status", "--porcelain").splitlines()]


def export_tree(commit: Commit, folder: Path) -> Path:
    return unpack_commit(commit.sha, folder)


def unpack_commit(commit: str, folder: Path, *paths: str) -> Path:
    """The repository at a commit, or some of its paths, with the same file modes on every machine.

    The program `tar` does it: the Python of Debian 12 can't filter archives yet.
    """
    archive = ["git", "-C", str(ROOT), "-c", "tar.umask=0022", "archive", "--format=tar", commit, *paths]
    packed = subprocess.run(archive, capture_output=True, check=True).stdout
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["tar", "--extract", "--no-same-owner", "--directory", str(folder)], input=packed, check=True)
    return folder


def release_version(tree: Path) -> str:
    """All packages of a release have the same version."""
    versions = {name: _project_version(tree / name) for name in PROJECTS}
    if len(set(versions.values())) != 1:
        raise ReleaseError(f"All packages are released together, but their versions differ: {versions}")
    return versions["server"]


def _project_version(project: Path) -> str:
    described = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    version: str = described["project"]["version"]
    return version


def _git(*arguments: str) -> str:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True).stdout
