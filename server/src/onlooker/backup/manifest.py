"""What a backup says about itself, and whether this release can restore it."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import msgspec
import psycopg

from onlooker.migration_check import APPLIED, our_migrations
from onlooker.settings import SettingsError, variable_name

FORMAT = 1
MANIFEST = "manifest.json"


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The first member of a backup."""

    format: int
    release: str
    created_at: datetime
    database: str
    """Its name; empty if the backup has only secrets."""
    postgresql: str
    """The server's version; empty without a database."""
    migrations: list[str]
    """As `app.name`, of our apps."""


def this_release() -> str:
    return version("onlooker")


def describe_database(connection: psycopg.Connection[Any]) -> Manifest:
    return Manifest(
        format=FORMAT,
        release=this_release(),
        created_at=datetime.now(UTC),
        database=connection.info.dbname,
        postgresql=connection.info.parameter_status("server_version") or "",
        migrations=sorted(applied_migrations(connection)),
    )


def describe_secrets() -> Manifest:
    return Manifest(
        format=FORMAT, release=this_release(), created_at=datetime.now(UTC), database="", postgresql="", migrations=[]
    )


def read_manifest(content: bytes) -> Manifest:
    try:
        return msgspec.json.decode(content, type=Manifest)
    except msgspec.ValidationError as error:
        raise SettingsError(
            f"Another release wrote this backup, differently: {error}. Restore it with that release."
        ) from None


def applied_migrations(connection: psycopg.Connection[Any]) -> set[str]:
    """Of our own apps: those of libraries change with the pins."""
    apps = {name.partition(".")[0] for name in our_migrations()}
    try:
        rows = connection.execute(APPLIED).fetchall()
    except psycopg.errors.UndefinedTable:
        raise SettingsError(
            f"The database {connection.info.dbname} has no tables of Onlooker. Name the right one in "
            f"{variable_name('database_url')}."
        ) from None
    return {f"{app}.{name}" for app, name in rows if app in apps}


def require_known_release(manifest: Manifest) -> None:
    """Refuse what a newer release wrote: nothing here could undo its migrations."""
    require_known_migrations(manifest.migrations, what=f"This backup (release {manifest.release})")
    if manifest.format > FORMAT or _order(manifest.release) > _order(this_release()):
        raise SettingsError(
            f"This backup is of release {manifest.release}, which is newer than this one, {this_release()}. "
            f"Install {manifest.release} or later, and restore with that."
        )


def require_known_migrations(migrations: Iterable[str], *, what: str) -> None:
    unknown = sorted(set(migrations) - our_migrations())
    if unknown:
        raise SettingsError(
            f"{what} has migrations that this release, {this_release()}, does not know: {', '.join(unknown)}. "
            "Install the release that made it, or a later one, and restore with that."
        )


def _order(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", release))
