"""The file on a boot partition that cards written alike have: read at the first start, then used up."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

from onlooker_client.errors import ConfigError

NAME = "onlooker-enrol.txt"
PLACES = tuple(Path(folder) / NAME for folder in ("/boot/firmware", "/boot", "/boot/efi"))
"""Where boot partitions are mounted."""
LARGEST_BYTES = 64 * 1024
_LINE = re.compile(r"^\s*(server|code)\s*[=:]\s*(\S.*?)\s*$", re.IGNORECASE | re.MULTILINE)
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----")


@dataclass(frozen=True)
class BootFile:
    """What it says; `code` is empty once it is used up."""

    path: Path
    server: str
    code: str
    certificates: str
    """In PEM; empty where the server's certificate needs none."""


def find_boot_file() -> Path | None:
    return next((path for path in PLACES if path.is_file()), None)


def read_boot_file(path: Path) -> BootFile:
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST_BYTES).decode("utf-8-sig", "replace")  # people write it on any system
    except OSError as error:
        raise ConfigError(f"{path} can't be read: {error.strerror}.") from None
    said = {name.lower(): value for name, value in _LINE.findall(text)}
    certificates = "\n".join(_CERTIFICATE.findall(text))
    return BootFile(path, said.get("server", ""), said.get("code", ""), certificates + "\n" if certificates else "")


def use_up(file: BootFile, stream: str) -> bool:
    """Write over it, so that the code is on the card no more; False where it can't be written."""
    day = time.strftime("%Y-%m-%d", time.gmtime())
    text = f"# Used: this device enrolled on {day} as {stream}.\nserver = {file.server}\n".encode()
    try:
        size = file.path.stat().st_size
        with file.path.open("r+b") as written:
            written.write(text.ljust(size))  # in place: on a FAT partition a new file would leave the old bytes behind
            written.flush()
            os.fsync(written.fileno())
            written.truncate(len(text))
            os.fsync(written.fileno())
    except OSError:
        return False
    return True
