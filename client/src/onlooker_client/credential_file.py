"""The newest Password of an enrolled device: the agent renews it, and keeps it where its service may write."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAME = "credential.json"
LARGEST_BYTES = 8 * 1024
OF_THE_SERVICE = Path("/var/lib/onlooker-agent")
"""Where systemd keeps the state of the agent's service."""


@dataclass(frozen=True)
class RenewedCredential:
    """A Password, and when to ask for the next one."""

    access_token: str
    renew_at: float
    """By this device's clock, in Unix seconds."""


def state_folders(environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Where it may be; the first is where it is written."""
    given = environment.get("STATE_DIRECTORY", "").split(":")[0]
    if given:
        return [Path(given)]
    state = environment.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return [Path(state) / "onlooker-agent", OF_THE_SERVICE]


def read_credential(device_key: str, folder: Path | None = None) -> RenewedCredential | None:
    """The newest that belongs to this key; one that can't be read is none. `folder` stands for the usual ones."""
    folders = [folder] if folder else state_folders()
    found = [_read(one / NAME, fingerprint(device_key)) for one in folders]
    return max((one for one in found if one), key=lambda one: one.renew_at, default=None)


def write_credential(device_key: str, credential: RenewedCredential, folder: Path | None = None) -> None:
    """Raises OSError."""
    said = {
        "device": fingerprint(device_key),
        "access_token": credential.access_token,
        "renew_at": credential.renew_at,
    }
    write_private((folder or state_folders()[0]) / NAME, said)


def fingerprint(device_key: str) -> str:
    """Tells keys apart, and lets nobody guess one."""
    return hashlib.sha256(f"onlooker device {device_key}".encode()).hexdigest()[:32]


def write_private(path: Path, said: Mapping[str, Any]) -> None:
    """As JSON, all at once, and from the first moment readable by its owner only."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".client-")  # mode 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(said, file, indent=2)
            file.write("\n")
            file.flush()
            os.fsync(handle)  # devices are unplugged
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _read(path: Path, device: str) -> RenewedCredential | None:
    try:
        with path.open(encoding="utf-8") as file:
            said = json.loads(file.read(LARGEST_BYTES))
        token, renew_at = said["access_token"], float(said["renew_at"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    is_right = said.get("device") == device and isinstance(token, str)
    return RenewedCredential(token, renew_at) if is_right else None
