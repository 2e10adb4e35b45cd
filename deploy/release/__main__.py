"""`just release`: builds HEAD's release twice, compares the bytes, signs it; the last line is one JSON object."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.lib.product import conclude, concluding, say
from deploy.release.archives import (
    build_archives,
    build_models_wheel,
    pack_deploy_folder,
    sha256_of,
    unpack_nets,
    write_checksums,
    write_pins,
)
from deploy.release.bill_of_materials import Licences, write_bill
from deploy.release.notes import is_dated, release_notes
from deploy.release.signature import KEY_VARIABLE, allowed_signer, sign, signing_key
from deploy.release.source_tree import ROOT, Commit, export_tree, head_commit, release_version, uncommitted_files

RELEASE = ROOT / "dist" / "release"
SURROUNDINGS = (("first", 0o022, "UTC"), ("second/deeper", 0o077, "Pacific/Kiritimati"))
"""Folder, umask and time zone of each build: none of them may be seen in the bytes."""


@dataclass(frozen=True)
class Build:
    """One of the two builds."""

    folder: Path
    version: str
    licences: Licences

    def checksums(self) -> dict[str, str]:
        return {path.name: sha256_of(path) for path in self.folder.iterdir()}


@concluding
def main() -> None:
    began = time.monotonic()
    commit, key = head_commit(), signing_key()
    if left_out := uncommitted_files():
        say(f"Not committed, so not in the release: {', '.join(left_out[:5])}{' ...' if len(left_out) > 5 else ''}")
    with tempfile.TemporaryDirectory(prefix="onlooker-release-") as scratch:
        builds = []
        for name, umask, zone in SURROUNDINGS:
            say(f"building {commit.sha[:12]} in {name}")
            with surroundings(umask, zone):
                builds.append(build(commit, Path(scratch) / name))
        first, second = builds
        differing = differing_names(first.checksums(), second.checksums())
        shutil.rmtree(RELEASE, ignore_errors=True)
        shutil.copytree(first.folder, RELEASE)
    report_faults(differing, first.licences)
    if not is_dated((RELEASE / "NOTES.md").read_text(encoding="utf-8")):
        say(f"CHANGELOG.md has no day for {first.version} yet: write it before you tag the commit.")
    if key:
        sign(RELEASE / "SHA256SUMS", key)
        say(f"signed. People verify with this line in their file allowed_signers:\n{allowed_signer(key)}")
    else:
        say(f"{KEY_VARIABLE} names no key, so SHA256SUMS is not signed (CONTRIBUTING.md, Make a release).")
    files = {path.name: path.stat().st_size for path in sorted(RELEASE.iterdir())}
    conclude(
        {
            "ok": not differing and first.licences.ok,
            "version": first.version,
            "commit": commit.sha,
            "files": len(files),
            "bytes": sum(files.values()),
            "seconds": round(time.monotonic() - began, 1),
            "reproducible": not differing,
            "signed": key is not None,
            "licences": first.licences.counts,
            "licences_unknown": first.licences.unknown,
            "licences_refused": first.licences.refused,
        }
    )


def build(commit: Commit, folder: Path) -> Build:
    """All files of a release except the signature."""
    tree, release = export_tree(commit, folder / "tree"), folder / "release"
    release.mkdir()
    version = release_version(tree)
    build_models_wheel(tree, unpack_nets(tree, folder / "nets"), folder / "models", release)
    build_archives(tree, commit, release)
    pack_deploy_folder(commit, version, release)
    write_pins(tree, release)
    python = install_server(tree, release, version, folder / "venv")
    licences = write_bill(python, tree, release / f"onlooker-{version}.cdx.json")
    notes = release_notes((tree / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    (release / "NOTES.md").write_text(notes, encoding="utf-8")
    write_checksums(release)
    return Build(release, version, licences)


def install_server(tree: Path, release: Path, version: str, folder: Path) -> Path:
    """An environment that is only looked at. Ours come by name, so that no path of this machine gets into the bill.

    Billing's packages are in it: the image has them, so their licences are judged too.
    """
    python = folder / "bin" / "python"
    _uv("venv", "--python", "3.11", str(folder))
    install = ("pip", "install", "--python", str(python), "--no-deps")
    for pins in ("server.txt", "billing.txt"):
        _uv(*install, "--require-hashes", "-r", str(tree / "requirements" / pins))
    ours = [f"{name}=={version}" for name in ("onlooker", "onlooker-models", "onlooker-pipeline")]
    _uv(*install, "--no-index", "--no-cache", "--find-links", str(release), *ours)
    return python


def differing_names(first: dict[str, str], second: dict[str, str]) -> list[str]:
    return sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))


def report_faults(differing: list[str], licences: Licences) -> None:
    for name in differing:
        say(f"{name}: the two builds differ")
    for part in licences.unknown:
        say(f"{part}: no licence with one meaning. Read its files, and add it to READ in deploy/release/licences.py.")
    for part in licences.refused:
        say(f"{part} is not among the accepted licences of deploy/release/licences.py.")


@contextmanager
def surroundings(umask: int, zone: str) -> Iterator[None]:
    before = os.umask(umask), os.environ.get("TZ")
    os.environ["TZ"] = zone
    try:
        yield
    finally:
        os.umask(before[0])
        os.environ.pop("TZ")
        if before[1] is not None:
            os.environ["TZ"] = before[1]


def _uv(*arguments: str) -> None:
    subprocess.run(["uv", *arguments, "--quiet"], stdout=sys.stderr, check=True)


if __name__ == "__main__":
    main()
