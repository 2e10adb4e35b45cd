"""Where the server is and who asks: from arguments, then the environment, then a file that only its owner can read."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from onlooker_client.credential_file import read_credential, write_private
from onlooker_client.errors import ConfigError, NotSet

PREFIX = "ONLOOKER_"
SECRET = "access_token"  # noqa: S105 (its name, not the secret)
SECRETS = (SECRET, "device_key", "key")
FROM_FILES = (SECRET, "key")
"""What the environment may also name a file for."""
OF_A_SERVER = ("ca_file", "console_url", "data_url", "device_key", "key")
"""Set for one server, wrong for another."""
LARGEST_FILE_BYTES = 64 * 1024


@dataclass(frozen=True)
class Config:
    """What is set; None where nothing is."""

    url: str | None = None
    """The gateway."""
    client_id: str | None = None
    """Login of the stream."""
    access_token: str | None = None
    """Password of the stream."""
    ca_file: str | None = None
    """Certificate authority to trust instead of the system's."""
    username: str | None = None
    """E-mail address of an account that may see the stream; only the data endpoint asks for it."""
    source: str | None = None
    """Camera of the agent."""
    console_url: str | None = None
    """Where the console is, if the gateway can't say it itself."""
    data_url: str | None = None
    """Where the data endpoint is, if the gateway can't say it itself."""
    device_key: str | None = None
    """What an enrolled device proves itself with when it renews its Password; it made it by itself."""
    key: str | None = None
    """Key of an organisation, `onl_...`: reads numbers, manages, or stands for the Password, by its scopes."""

    def __repr__(self) -> str:
        """Without the secrets: what is shown ends up in logs."""
        shown = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) is not None}
        shown |= {name: "..." for name in SECRETS if name in shown}
        if "://" in shown.get("source", ""):  # a camera's password may stand anywhere in its address
            shown["source"] = shown["source"].partition("://")[0] + "://..."
        return f"Config({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    @property
    def password(self) -> str | None:
        """What a gateway is given: the Password, or a key that may send frames."""
        return self.access_token or self.key

    def over(self, other: Config) -> Config:
        """This, and what is not set here as it is in the other.

        What belongs together stays together: nobody's Password is sent for another Login, nor to the console of
        another server.
        """
        if self.url and other.url and self.url.rstrip("/") != other.url.rstrip("/"):
            other = replace(other, **dict.fromkeys(OF_A_SERVER))
        if self.client_id and other.client_id and self.client_id != other.client_id:
            other = replace(other, access_token=None, device_key=None)
        if self.console_url and other.console_url and self.console_url.rstrip("/") != other.console_url.rstrip("/"):
            other = replace(other, key=None)
        return replace(other, **{f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name)})


def config_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Where the file is, unless one names another."""
    if environment.get("ONLOOKER_CONFIG"):
        return Path(environment["ONLOOKER_CONFIG"])
    if sys.platform == "win32":
        folder = environment.get("APPDATA")
        return Path(folder or Path.home() / "AppData" / "Roaming") / "Onlooker" / "client.json"
    folder = environment.get("XDG_CONFIG_HOME")
    return Path(folder or Path.home() / ".config") / "onlooker" / "client.json"


def load_config(given: Config | None = None, path: Path | None = None) -> Config:
    """What holds now: arguments win over the environment, and that over the file."""
    config = (given or Config()).over(from_environment())
    file = path or config_path()
    if file.exists() or path:
        return config.over(with_renewed_credential(read_file(file)))
    if os.environ.get(f"{PREFIX}CONFIG"):
        raise ConfigError(f"{file} (ONLOOKER_CONFIG) does not exist. Create it with: onlooker-agent setup")
    return config


def with_renewed_credential(config: Config) -> Config:
    """An enrolled device renews its Password by itself, and keeps the newest one elsewhere."""
    renewed = read_credential(config.device_key) if config.device_key else None
    return replace(config, access_token=renewed.access_token) if renewed else config


def from_environment(environment: Mapping[str, str] = os.environ) -> Config:
    """ONLOOKER_URL, ONLOOKER_CLIENT_ID and so on; a secret also from the file that ONLOOKER_ACCESS_TOKEN_FILE names."""
    known = {f.name: environment.get(PREFIX + f.name.upper()) or None for f in fields(Config)}
    for name in FROM_FILES:
        variable = f"{PREFIX}{name.upper()}_FILE"
        if environment.get(variable) and not known[name]:
            known[name] = _read_secret(variable, environment[variable])
    return Config(**known)


def _read_secret(variable: str, secret_file: str) -> str:
    try:
        with Path(secret_file).open(encoding="utf-8") as file:
            return file.read(LARGEST_FILE_BYTES).strip()
    except OSError as error:
        raise ConfigError(f"{variable} can't be read: {error.strerror}: {secret_file}") from None
    except ValueError:  # without the cause, which might show what is in the file
        raise ConfigError(f"{variable} is not a text file: {secret_file}") from None


def check_config(config: Config) -> Config:
    """The same, if it says enough to ask a server. A key may stand for the Password, and numbers need no gateway."""
    has_numbers = bool(config.key and (config.data_url or config.console_url))
    needed = {"url": config.url or has_numbers, "client_id": config.client_id, "access_token": config.password}
    missing = [name for name, is_set in needed.items() if not is_set]
    if not missing:
        return config
    variables = ", ".join(PREFIX + name.upper() for name in missing)
    raise NotSet(
        f"Not set: {', '.join(missing)}.{of_another_login(config)} Set them in one of three ways: as an argument, "
        f"Client({missing[0]}=...); in the environment, {variables}; or in the file that `onlooker-agent setup` writes "
        f"({config_path()}).",
        missing,
    )


def of_another_login(config: Config, path: Path | None = None) -> str:
    """Why a Password that is set is not taken, as a sentence after a space."""
    if config.access_token or not config.client_id:
        return ""
    try:
        known = load_config(path=path)
    except ConfigError:
        return ""
    if not known.access_token or known.client_id in (None, config.client_id):
        return ""
    return f" The Password that is set belongs to another Login, {known.client_id}."


def read_file(path: Path) -> Config:
    """What a file says; one that others can read is refused."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            if not _is_private(path, os.fstat(file.fileno()).st_mode):
                raise ConfigError(f"{path} contains a Password, and others can read it. Run: chmod 600 {path}")
            said = json.loads(file.read(LARGEST_FILE_BYTES))
    except FileNotFoundError:
        raise ConfigError(f"{path} does not exist. Create it with: onlooker-agent setup") from None
    except OSError as error:
        raise ConfigError(f"{path} can't be read: {error.strerror}. Run this as the file's owner.") from None
    except (ValueError, RecursionError):  # without the cause, which might show what is in the file
        raise ConfigError(f"{path} is not JSON. Create it again with: onlooker-agent setup") from None
    return _checked(path, said)


def _is_private(path: Path, mode: int) -> bool:
    """Whether nobody else can read it. Windows has no such modes; those of systemd's credentials show other rights."""
    credentials = os.environ.get("CREDENTIALS_DIRECTORY")
    if sys.platform == "win32" or (credentials and path.parent == Path(credentials)):
        return True
    return not stat.S_IMODE(mode) & 0o077


def _checked(path: Path, said: Any) -> Config:
    names = {f.name for f in fields(Config)}
    if not isinstance(said, dict) or not set(said) <= names or not all(isinstance(v, str) for v in said.values()):
        raise ConfigError(
            f"{path} must be a JSON object of strings, with some of these names: {', '.join(sorted(names))}."
        )
    return Config(**said)


def write_file(path: Path, config: Config) -> None:
    """All at once, and from the first moment readable by its owner only."""
    write_private(path, {f.name: getattr(config, f.name) for f in fields(config) if getattr(config, f.name)})
