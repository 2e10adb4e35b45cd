"""Which files each process of one machine may open: the system's, Python's, and its own part of the home folder."""

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from psycopg.conninfo import conninfo_to_dict

from onlooker.bus.roles import DISPATCHER, GATEWAY
from onlooker.console.web.secret_key import EARLIER_KEYS_FILE, KEY_FILE
from onlooker.settings import PREFIX, Settings, SettingsError, variable_name
from onlooker.up.environment import CONSOLE
from onlooker_pipeline.landlock import ConfinementUnavailable, require_landlock, some_files

BUS = "bus"
SYSTEM = (
    *("/bin", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/opt", "/proc", "/run", "/sbin", "/snap"),
    *("/sys", "/usr", "/var/run"),
)
"""For reading, as far as the user may: programs, libraries, certificates, the resolver, devices' descriptions."""
DEVICES = Path("/dev")
NO_FILES = (f"{PREFIX}HOME", "host", "PGHOST")
"""Settings that name a folder of which nothing is read; a local socket needs no right to its folder."""


def private_folder(settings: Settings, process: str) -> Path:
    """For temporary files of one process."""
    folder = settings.home_path / "tmp" / process
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def open_sandbox(settings: Settings, process: str, environment: dict[str, str], *also: str) -> int:
    """The descriptor of a sandbox that a child enters before its program starts."""
    try:
        require_landlock()
        read = [*_code(environment), *_named_files(environment), *map(Path, also)]
        read += [settings.home_path / name for name in (KEY_FILE, EARLIER_KEYS_FILE)] if process == CONSOLE else []
        home = settings.home_path.resolve()
        allowed = [part for path in [*map(Path, SYSTEM), *read] for part in without(path, home)]
        return some_files(read=allowed, write=[DEVICES, *_writable(settings, process)])
    except ConfinementUnavailable as error:
        raise SettingsError(
            f"{process} can't be confined: {error}. Set {variable_name('confinement')}=off to run all the same: "
            "then an attacker who takes over one process has what all of them have."
        ) from None


def without(path: Path, home: Path) -> Iterator[Path]:
    """A path; if the home folder lies in it, its parts beside the home folder. A part of the home stands for itself."""
    path = path.resolve()
    if path == home:
        return
    if path not in home.parents:
        yield path
        return
    try:
        parts = sorted(path.iterdir())
    except OSError:
        return
    for part in parts:
        yield from without(part, home)


def _code(environment: dict[str, str]) -> list[Path]:
    """The interpreter, and all that it imports from."""
    places = [sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve().parent), *sys.path]
    places += environment.get("PYTHONPATH", "").split(os.pathsep)
    return [Path(place) for place in places if place]


def _named_files(environment: dict[str, str]) -> list[Path]:
    """Files that its own settings name: certificates, secrets, a model with its card."""
    named = {name: value for name, value in environment.items() if name.startswith((PREFIX, "PG"))}
    named |= {str(name): str(value) for name, value in conninfo_to_dict(named.get(f"{PREFIX}DATABASE_URL", "")).items()}
    paths = [Path(value) for name, value in named.items() if value.startswith("/") and name not in NO_FILES]
    model = named.get(f"{PREFIX}PERSON_MODEL")
    return [*paths, Path(model).parent] if model else paths


def _writable(settings: Settings, process: str) -> Iterable[Path]:
    home = settings.home_path
    yield private_folder(settings, process)
    if process == BUS:
        yield home / "nats"
    if process.partition("-")[0] in (GATEWAY, DISPATCHER):
        for folder in (home / "blobs", settings.shared_path):
            folder.mkdir(exist_ok=True, mode=0o700)
            yield folder
    if process == CONSOLE:
        yield from _mail_folder(settings)


def _mail_folder(settings: Settings) -> Iterable[Path]:
    address = urlsplit(settings.email_url)
    if address.scheme == "file":
        folder = Path(unquote(address.path))
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
