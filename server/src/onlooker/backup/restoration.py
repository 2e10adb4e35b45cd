"""Restoring a backup: the database comes in one transaction, the secrets after it, or all stays as it was."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import psycopg
from pyrage import x25519

from onlooker.backup.age_file import open_decrypted
from onlooker.backup.creation import DATABASE
from onlooker.backup.home_files import RESTORED, USED_KEY, existing_secrets, write_secrets
from onlooker.backup.manifest import (
    MANIFEST,
    Manifest,
    applied_migrations,
    read_manifest,
    require_known_migrations,
    require_known_release,
)
from onlooker.backup.postgresql_tools import restore_database
from onlooker.backup.tar_blocks import ArchiveMember, read_members
from onlooker.console.web.secret_key import KEY_FILE, find_secret_key, write_private
from onlooker.settings import Settings, SettingsError, variable_name
from onlooker.up.supervisor import lock_home

_HAS_TABLES = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')"
_OTHERS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"""
_IS_SET_ASIDE = "SELECT count(*) FROM pg_namespace WHERE nspname = 'before_restore'"
_SET_ASIDE = """
DROP SCHEMA IF EXISTS before_restore CASCADE; ALTER SCHEMA public RENAME TO before_restore;
CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC"""
_PUT_BACK = "DROP SCHEMA public CASCADE; ALTER SCHEMA before_restore RENAME TO public"
_FORGET = "DROP SCHEMA before_restore CASCADE"


@dataclass(frozen=True)
class Restored:
    """What was restored, and what is left for a person to do."""

    manifest: Manifest
    outside: list[Path]
    """Files that lay outside the home folder, and where they are now."""
    other_key: bool
    """Whether the secret key of the settings is not the one of the backup."""


@contextmanager
def open_backup(path: Path, identities: list[x25519.Identity]) -> Iterator[tuple[Manifest, Iterator[ArchiveMember]]]:
    """What a backup says about itself, and its other members, to be read in order."""
    with open_decrypted(path, identities) as stream:
        members = read_members(stream)
        first = next(members, None)
        if first is None or first.name != MANIFEST:
            raise SettingsError(f"{path} is not a backup of Onlooker.")
        yield read_manifest(first.content), members


def restore_backup(
    settings: Settings, path: Path, identities: list[x25519.Identity], *, has_database: bool, overwrites: bool
) -> Restored:
    home = settings.home_path
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    with lock_home(home):
        with open_backup(path, identities) as (manifest, _):
            require_known_release(manifest)
        if not overwrites:
            _require_no_secrets(home)
        if not has_database:
            secrets = _restore_members(settings, path, identities, has_database=False)
            return _restore_secrets(settings, manifest, secrets)
        if not manifest.database:
            raise SettingsError(f"{path} has no database, only secrets. Add --without-database to restore these.")
        with _room_for_dump(settings, overwrites=overwrites):
            secrets = _restore_members(settings, path, identities, has_database=True)
            return _restore_secrets(settings, manifest, secrets)


def _restore_members(
    settings: Settings, path: Path, identities: list[x25519.Identity], *, has_database: bool
) -> list[ArchiveMember]:
    """The dump goes into the database; the secrets, which come before it, are returned."""
    secrets: list[ArchiveMember] = []
    with open_backup(path, identities) as (_, members):
        for member in members:
            if member.name.startswith(f"{DATABASE}/"):
                if has_database:
                    _restore_dump(settings, member, members)
                break
            secrets.append(member)
    return secrets


def require_known_database(settings: Settings) -> None:
    """Of a database that was restored by other means."""
    with _connect(settings) as connection:
        require_known_migrations(applied_migrations(connection), what=f"The database {connection.info.dbname}")


def _require_no_secrets(home: Path) -> None:
    existing = existing_secrets(home)
    if existing:
        raise SettingsError(
            f"{home} has secrets already ({', '.join(path.name for path in existing)}). Name an empty folder in "
            f"{variable_name('home')}, or add --overwrite to replace them."
        )


@contextmanager
def _room_for_dump(settings: Settings, *, overwrites: bool) -> Iterator[None]:
    """An empty schema. What was there is set aside, comes back if the restore fails, and is deleted once it is done."""
    with _connect(settings) as connection:
        if _count(connection, _IS_SET_ASIDE) and not _count(connection, _HAS_TABLES):
            connection.execute(_PUT_BACK)  # a restore was killed
        is_set_aside = bool(_count(connection, _HAS_TABLES))
        if is_set_aside:
            _require_overwritable(connection, overwrites=overwrites)
            connection.execute(_SET_ASIDE)
    try:
        yield
    except BaseException:
        if is_set_aside:
            with _connect(settings) as connection:
                connection.execute(_PUT_BACK)
        raise
    if is_set_aside:
        with _connect(settings) as connection:
            connection.execute(_FORGET)


def _require_overwritable(connection: psycopg.Connection[Any], *, overwrites: bool) -> None:
    name = connection.info.dbname
    if not overwrites:
        raise SettingsError(
            f"The database {name} is not empty. Create an empty one and name it in "
            f"{variable_name('database_url')}, or add --overwrite to delete all that is in {name}."
        )
    others = _count(connection, _OTHERS)
    if others:
        raise SettingsError(
            f"{others} other connections use the database {name}. Stop every process of Onlooker first."
        )


def _restore_dump(settings: Settings, first: ArchiveMember, rest: Iterator[ArchiveMember]) -> None:
    with restore_database(settings.database_url) as sink:
        _feed(sink, first)
        for member in rest:
            _feed(sink, member)


def _feed(sink: IO[bytes], member: ArchiveMember) -> None:
    if not member.name.startswith(f"{DATABASE}/"):
        raise SettingsError(f"This is no backup of Onlooker: {member.name!r} is among the parts of the dump.")
    sink.write(member.content)


def _restore_secrets(settings: Settings, manifest: Manifest, secrets: list[ArchiveMember]) -> Restored:
    """Without a secret key in the settings, the one that was used comes back as the home folder's."""
    home = settings.home_path
    outside = write_secrets(home, secrets)
    used = next((member.content.decode() for member in secrets if member.name == USED_KEY), "")
    if used and not find_secret_key(settings):
        write_private(home / KEY_FILE, used)
    (home / RESTORED / USED_KEY).unlink(missing_ok=True)
    other_key = bool(used) and find_secret_key(settings) != used
    if other_key:
        write_private(home / RESTORED / USED_KEY, used)
    return Restored(manifest, [path for path in outside if path.exists()], other_key)


def _connect(settings: Settings) -> psycopg.Connection:
    """Restoring needs the database itself: one session, with the rights of the tables' owner."""
    if settings.database_direct_url:
        direct, usual = variable_name("database_direct_url"), variable_name("database_url")
        raise SettingsError(f"A restore needs the database itself: set {usual} to it, without {direct}.")
    try:
        return psycopg.connect(settings.database_url, autocommit=True, connect_timeout=5)
    except psycopg.OperationalError as error:
        reason = str(error).strip().splitlines()[0]
        raise SettingsError(
            f"The database can't be used: {reason}. Create it with `createdb`, or name another one in "
            f"{variable_name('database_url')}."
        ) from None


def _count(connection: psycopg.Connection[Any], query: str) -> int:
    row = connection.execute(query).fetchone()
    return int(row[0]) if row else 0
