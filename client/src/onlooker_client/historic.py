"""The settings of the historic SDK: `~/.angusdk/config.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from onlooker_client.config import LARGEST_FILE_BYTES, Config
from onlooker_client.errors import ConfigError

GONE = "angus.ai"
"""The cloud that these settings were made for."""


def historic_path() -> Path:
    return Path.home() / ".angusdk" / "config.json"


def read_historic(path: Path) -> Config:
    """What it says; nothing where its server was the cloud, as nobody else knows those credentials."""
    said = _read(path)
    texts = {name: value for name, value in said.items() if isinstance(value, str) and value}
    if "client_id" not in texts or "access_token" not in texts:
        raise ConfigError(f"{path} has no client_id and access_token. Make new settings with: onlooker-agent setup")
    root = texts.get("default_root", "")
    if is_of_the_cloud(root):
        return Config()
    credentials = Config(client_id=texts["client_id"], access_token=texts["access_token"])
    return Config(url=root.rstrip("/"), ca_file=texts.get("ca_path")).over(credentials) if root else credentials


def is_of_the_cloud(url: str) -> bool:
    """Whether this is an address of the service that is gone."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return host == GONE or host.endswith(f".{GONE}")


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            said = json.loads(file.read(LARGEST_FILE_BYTES))
    except OSError as error:
        raise ConfigError(f"{path} can't be read: {error.strerror}. Name the file with --from.") from None
    except (ValueError, RecursionError):  # without the cause, which might show what is in the file
        said = None
    if not isinstance(said, dict):
        raise ConfigError(f"{path} is not what the historic SDK wrote. Make new settings with: onlooker-agent setup")
    return said
