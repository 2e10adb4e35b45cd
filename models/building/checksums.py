"""The sha256 of every built file, as SHA256SUMS has them: the bytes that were reviewed."""

from pathlib import Path

from building.pins import sha256_of


def compute_checksums(folder: Path) -> dict[str, str]:
    return {file.name: sha256_of(file) for file in sorted(folder.iterdir())}


def format_checksums(checksums: dict[str, str]) -> str:
    return "".join(f"{sha256}  {name}\n" for name, sha256 in checksums.items())


def read_checksums(table: Path) -> dict[str, str]:
    lines = [line.split() for line in table.read_text(encoding="utf-8").splitlines()]
    return {name: sha256 for sha256, name in lines}


def differing_files(built: dict[str, str], reviewed: dict[str, str]) -> list[str]:
    return sorted(name for name in built.keys() | reviewed.keys() if built.get(name) != reviewed.get(name))
