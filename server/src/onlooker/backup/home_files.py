"""The secrets of an installation: what its home folder and its settings hold that can't be made again."""

import os
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from onlooker.backup.tar_blocks import PART_BYTES, ArchiveMember
from onlooker.console.web.secret_key import EARLIER_KEYS_FILE, KEY_FILE, find_secret_key
from onlooker.settings import OF_THE_CLIENT, PREFIX, Settings, SettingsError

KEPT = (KEY_FILE, EARLIER_KEYS_FILE, "tls", "database", "nats/passwords.json")
"""Of the home folder. The rest is not needed: the bus's files and blobs hold what devices sent, and expire."""
HOME, ELSEWHERE, SETTINGS_FILE, USED_KEY = "home", "elsewhere", "settings.env", "secret_key"
"""Members of a backup. The last is the secret key that was used, wherever it came from."""
RESTORED = "restored"
"""Folder of the home folder for what lay outside it: a person puts it in its place."""


def collect_secrets(
    settings: Settings, included: Iterable[Path], environ: Mapping[str, str]
) -> Iterator[ArchiveMember]:
    """The files of the home folder, the settings with the files that they name, and further paths."""
    home = settings.home_path
    for kept in KEPT:
        for path in _files_in(home / kept):
            yield _read_file(f"{HOME}/{path.relative_to(home)}", path)
    key = find_secret_key(settings)
    if key:
        yield ArchiveMember(USED_KEY, key.encode())
    ours = {name: value for name, value in environ.items() if name.startswith(PREFIX) and name not in OF_THE_CLIENT}
    lines = [f"{name}={shlex.quote(value)}\n" for name, value in sorted(ours.items())]
    yield ArchiveMember(SETTINGS_FILE, "".join(lines).encode())
    named = [Path(value) for name, value in ours.items() if name.endswith("_FILE") and value]
    outside = {path.absolute() for root in (*named, *included) for path in _files_in(root, required=True)}
    for path in sorted(outside):
        yield _read_file(f"{ELSEWHERE}{path}", path)


def _files_in(path: Path, *, required: bool = False) -> list[Path]:
    if path.is_dir():
        return sorted(one for one in path.rglob("*") if one.is_file())
    if required and not path.is_file():
        raise SettingsError(f"{path} is not there, so it can't be backed up. Correct the setting or the option.")
    return [path] if path.is_file() else []


def _read_file(name: str, path: Path) -> ArchiveMember:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SettingsError(f"{path} can't be backed up: {error.strerror}. Run this as its owner.") from None
    if len(content) > PART_BYTES:
        raise SettingsError(f"{path} is larger than any secret or setting. Name smaller files.")
    return ArchiveMember(name, content)


def existing_secrets(home: Path) -> list[Path]:
    """What a restore would overwrite."""
    return [home / kept for kept in KEPT if (home / kept).exists()]


def write_secrets(home: Path, members: Iterable[ArchiveMember]) -> list[Path]:
    """Into the home folder, in place of those it had; returns what was outside it, and where it is now."""
    for path in existing_secrets(home):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    outside = []
    for member in members:
        folder, _, rest = member.name.partition("/")
        if folder == HOME:
            if not any(rest == kept or rest.startswith(f"{kept}/") for kept in KEPT):
                raise SettingsError(f"This is no backup of Onlooker: {member.name!r} is not a file of a home folder.")
            _write_file(home, rest, member.content)
        elif folder in (ELSEWHERE, SETTINGS_FILE, USED_KEY):
            outside.append(_write_file(home / RESTORED, member.name, member.content))
        else:
            raise SettingsError(f"This is no backup of Onlooker: it has an unexpected member {member.name!r}.")
    return outside


def _write_file(folder: Path, name: str, content: bytes) -> Path:
    """A name that leads out of the folder is refused: anyone who has the public key can make a backup."""
    if ".." in PurePosixPath(name).parts or PurePosixPath(name).is_absolute():
        raise SettingsError(f"This is no backup of Onlooker: {name!r} leads out of its folder.")
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    return path
