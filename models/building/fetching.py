"""Fetches the pinned packages with the registries' own clients and takes the wanted files out of them."""

import hashlib
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO, cast

from building.pins import Package, Source, sha256_of

DOWNLOAD_SECONDS = 1800


class FetchError(Exception):
    """A package could not be had as pinned; the message names the remedy."""


def fetch_sources(packages: Iterable[Package], cache: Path) -> dict[str, Path]:
    """Every source file by name, checked; packages that are in the cache already are not downloaded again."""
    downloads, folder = cache / "packages", cache / "sources"
    downloads.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for package in packages:
        archive = _have_package(package, downloads)
        _take_sources(package, archive, folder)
        found.update({source.name: folder / source.name for source in package.sources})
    return found


def _have_package(package: Package, folder: Path) -> Path:
    archive = folder / package.file
    if archive.exists() and sha256_of(archive) != package.sha256:
        archive.unlink()  # an interrupted download; what is fetched now is checked again
    if not archive.exists():
        print(f"fetching {package.name} {package.version} ({package.registry})", flush=True)
        _download(package, folder)
    if not archive.exists():
        raise FetchError(f"the client left no {package.file} in {folder}; run `just models` again")
    if (actual := sha256_of(archive)) != package.sha256:
        archive.unlink()
        raise FetchError(
            f"{package.file} has sha256 {actual}, not the pinned {package.sha256}: refused and deleted.\n"
            "Run `just models` again. If it stays so, the registry serves other bytes than were reviewed: "
            "do not use them."
        )
    return archive


def _download(package: Package, folder: Path) -> None:
    wanted = {"pypi": f"{package.name}=={package.version}", "npm": f"{package.name}@{package.version}"}[
        package.registry
    ]
    if package.registry == "pypi":
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        command += ["--dest", str(folder), wanted]
    else:
        if shutil.which("npm") is None:
            raise FetchError("npm is missing and three of the packages are npm's; install it, e.g. `apt install npm`")
        command = ["npm", "pack", "--silent", "--pack-destination", str(folder), wanted]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=DOWNLOAD_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise FetchError(f"{wanted} did not arrive within {DOWNLOAD_SECONDS} s; run `just models` again") from error
    if done.returncode != 0:
        client = "pip" if package.registry == "pypi" else "npm"
        raise FetchError(
            f"{client} could not fetch {wanted}:\n{(done.stderr or done.stdout).strip()[-800:]}\n"
            f"Is there a network? A mirror or a proxy is set in {client}'s own configuration. "
            "Then run `just models` again."
        )


def _take_sources(package: Package, archive: Path, folder: Path) -> None:
    missing = [source for source in package.sources if not _is_right(folder / source.name, source)]
    if not missing:
        return
    members = _read_members(archive, {source.member for source in missing})
    for source in missing:
        if source.member not in members:
            raise FetchError(f"{archive.name} holds no {source.member}; building/pins.toml is wrong")
        content = members[source.member]
        if source.span is not None:
            content = content[slice(*source.span)]
        if (actual := hashlib.sha256(content).hexdigest()) != source.sha256:
            raise FetchError(f"{source.name} in {archive.name} has sha256 {actual}, not {source.sha256}: refused")
        (folder / source.name).write_bytes(content)


def _is_right(file: Path, source: Source) -> bool:
    return file.exists() and sha256_of(file) == source.sha256


def _read_members(archive: Path, wanted: set[str]) -> dict[str, bytes]:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as zipped:
            return {name: zipped.read(name) for name in wanted & set(zipped.namelist())}
    members: dict[str, bytes] = {}
    with tarfile.open(archive, "r|gz") as packed:
        for member in packed:
            if member.name in wanted:
                members[member.name] = cast(IO[bytes], packed.extractfile(member)).read()
            if len(members) == len(wanted):  # the largest package is 144 MB: stop early
                break
    return members
