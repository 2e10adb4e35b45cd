"""Which key this device made for which code: written before the server is asked, so a power cut changes nothing."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass, replace
from pathlib import Path

from onlooker_client.credential_file import LARGEST_BYTES, write_private
from onlooker_client.errors import ConfigError

NAME = "enrolment.json"


@dataclass(frozen=True)
class EnrolmentRecord:
    """Beside the settings, readable by its owner only."""

    path: Path
    code_sha256: str
    device_key: str
    is_done: bool = False


def open_record(settings: Path, code: str) -> EnrolmentRecord:
    """The one of this code, where there is one; otherwise a new key."""
    path, hashed = settings.with_name(NAME), hash_code(code)
    known = _read(path)
    if known and known.code_sha256 == hashed:
        return known
    record = EnrolmentRecord(path, hashed, secrets.token_urlsafe(32))
    _write(record)
    return record


def end_record(record: EnrolmentRecord) -> None:
    """The device is enrolled, and knows all that it must."""
    _write(replace(record, is_done=True))


def hash_code(code: str) -> str:
    """However it is typed."""
    return hashlib.sha256("".join(one for one in code.upper() if one.isalnum()).encode()).hexdigest()


def _read(path: Path) -> EnrolmentRecord | None:
    try:
        with path.open(encoding="utf-8") as file:
            said = json.loads(file.read(LARGEST_BYTES))
        return EnrolmentRecord(path, str(said["code_sha256"]), str(said["device_key"]), said["is_done"] is True)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _write(record: EnrolmentRecord) -> None:
    said = {"code_sha256": record.code_sha256, "device_key": record.device_key, "is_done": record.is_done}
    try:
        write_private(record.path, said)
    except OSError as error:
        raise ConfigError(
            f"{record.path} can't be written: {error.strerror}. Run this as the owner of the settings (sudo), or name "
            "another file with --config."
        ) from None
