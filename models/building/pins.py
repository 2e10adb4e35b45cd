"""The pinned packages and the files taken from them, as pins.toml has them."""

import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

TABLE = Path(__file__).with_name("pins.toml")


@dataclass(frozen=True)
class Source:
    """A file taken out of a package; `span` where it is a part of a packed member."""

    name: str
    member: str
    sha256: str
    licence: str
    span: tuple[int, int] | None


@dataclass(frozen=True)
class Package:
    """A package of a public registry, with the hash of its only accepted file."""

    name: str
    registry: Literal["pypi", "npm"]
    version: str
    file: str
    sha256: str
    licence: str
    sources: tuple[Source, ...]


def read_pins(table: Path = TABLE) -> tuple[Package, ...]:
    return tuple(_package(entry) for entry in tomllib.loads(table.read_text(encoding="utf-8"))["package"])


def _package(entry: dict[str, Any]) -> Package:
    sources = tuple(_source(source) for source in entry.pop("source"))
    return Package(**entry, sources=sources)


def _source(entry: dict[str, Any]) -> Source:
    span = entry.pop("bytes", None)
    return Source(**entry, span=None if span is None else (span[0], span[1]))


def sha256_of(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
