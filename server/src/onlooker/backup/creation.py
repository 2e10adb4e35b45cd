"""Making a backup: the secrets, then the database as pg_dump hands it over, encrypted on the way to the disk."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import msgspec
import psycopg
from pyrage import x25519

from onlooker.backup.age_file import encrypt
from onlooker.backup.home_files import collect_secrets
from onlooker.backup.manifest import MANIFEST, Manifest, describe_database, describe_secrets
from onlooker.backup.postgresql_tools import dump_database
from onlooker.backup.tar_blocks import ArchiveMember, in_parts, tar_blocks
from onlooker.database import direct_url
from onlooker.settings import Settings, SettingsError, variable_name

DATABASE = "database"
"""Folder of the members that are the dump, in parts."""


@dataclass(frozen=True)
class BackupContent:
    """What goes into a backup besides the secrets of the home folder."""

    has_database: bool = True
    included: tuple[Path, ...] = ()


def create_backup(
    settings: Settings, target: Path, recipients: list[x25519.Recipient], content: BackupContent
) -> Manifest:
    """The file appears under its name once it is whole. Nothing is on disk unencrypted at any time."""
    with _new_file(target) as file:
        secrets = list(collect_secrets(settings, content.included, os.environ))
        if content.has_database:
            with _connect(settings) as connection:
                manifest = describe_database(connection)
            with dump_database(direct_url(settings)) as dump:
                encrypt(tar_blocks(_members(manifest, secrets, in_parts(DATABASE, dump))), file, recipients)
        else:
            manifest = describe_secrets()
            encrypt(tar_blocks(_members(manifest, secrets, ())), file, recipients)
    return manifest


def _members(
    manifest: Manifest, secrets: Iterable[ArchiveMember], dump: Iterable[ArchiveMember]
) -> Iterator[ArchiveMember]:
    yield ArchiveMember(MANIFEST, msgspec.json.encode(manifest))
    yield from secrets
    yield from dump


def _connect(settings: Settings) -> psycopg.Connection:
    try:
        return psycopg.connect(direct_url(settings), autocommit=True, connect_timeout=5)
    except psycopg.OperationalError as error:
        reason = str(error).strip().splitlines()[0]
        raise SettingsError(
            f"The database can't be used: {reason}. {variable_name('database_url')} names it."
        ) from None


@contextmanager
def _new_file(target: Path) -> Iterator[BinaryIO]:
    """Written under another name, which is removed if anything fails."""
    if target.exists():
        raise SettingsError(f"{target} exists already, and a backup is never overwritten. Name another file.")
    part = target.with_name(f"{target.name}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as error:
        raise SettingsError(f"{part} can't be written: {error.strerror}.") from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.rename(target)
    except OSError as error:
        raise SettingsError(f"{part} can't be written: {error.strerror or error}.") from None
    finally:
        part.unlink(missing_ok=True)
