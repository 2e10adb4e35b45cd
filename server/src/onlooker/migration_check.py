"""Migrations that this release needs and its database lacks: a process waits for them, and says so."""

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path

import psycopg

import onlooker
from onlooker.logs import fields
from onlooker.monitoring import serve_monitoring
from onlooker.settings import Settings

log = logging.getLogger(__name__)

CHECK_EVERY_S = 2.0
CONNECT_LIMIT_S = 5
APPLIED = "SELECT app, name FROM django_migrations"
REMEDY = "run `onlooker database migrate`"


def our_migrations() -> set[str]:
    """As `app.name`, of all our apps. Django would say the same, but takes a second to load."""
    source = Path(onlooker.__file__).parent
    folders = [*source.glob("*/migrations"), *source.glob("console/*/migrations")]
    return migrations_in({folder.parent.name: folder for folder in folders})


def migrations_in(folders: Mapping[str, Path]) -> set[str]:
    """The folders of migrations by the label of their app."""
    return {f"{label}.{file.stem}" for label, folder in folders.items() for file in folder.glob("[0-9]*.py")}


async def await_migrations(settings: Settings, needed: set[str]) -> None:
    """Return once the database has all of them, and perhaps newer ones. Until then monitoring answers `not ready`."""
    reason = await _reason_to_wait(settings.database_url, needed)
    if not reason:
        return
    monitoring = asyncio.create_task(
        serve_monitoring(settings, lambda: {"migrations": False}, lambda: {"reason": reason})
    )
    said = ""
    while reason:
        if reason != said:
            log.warning("waiting for the database", extra=fields(reason=reason))
            said = reason
        await asyncio.wait([monitoring], timeout=CHECK_EVERY_S)
        if monitoring.done():
            monitoring.result()  # it could not listen
        reason = await _reason_to_wait(settings.database_url, needed)
    monitoring.cancel()
    await asyncio.wait([monitoring])
    log.info("the database is migrated")


async def _reason_to_wait(url: str, needed: set[str]) -> str:
    """A sentence with the remedy, or nothing."""
    try:
        connection = await psycopg.AsyncConnection.connect(url, autocommit=True, connect_timeout=CONNECT_LIMIT_S)
        async with connection:
            rows = await (await connection.execute(APPLIED)).fetchall()
    except psycopg.errors.UndefinedTable:
        return f"The database has no tables yet: {REMEDY}."
    except psycopg.errors.InsufficientPrivilege:
        return f"This process may not read which migrations were applied: {REMEDY}, which grants it."
    except psycopg.OperationalError as error:
        return f"The database can't be used: {' '.join(str(error).split())}"
    missing = sorted(needed - {f"{app}.{name}" for app, name in rows})
    return f"The database lacks migrations of this release: {REMEDY}. Missing: {', '.join(missing)}" if missing else ""
