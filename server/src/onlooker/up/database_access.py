"""A database URL for each process, with a role of its own where such roles can be had."""

import psycopg

from onlooker.database_roles.creation import make_logins, may_create_roles
from onlooker.database_roles.grants import ROLES
from onlooker.database_roles.logins import read_logins, refused_logins
from onlooker.settings import Settings, SettingsError, variable_name

REMEDY = "docs/guides/operate.md, section Roles, says how to change that"


def open_database(settings: Settings) -> tuple[dict[str, str], str]:
    """URLs by process, and a line about them for the person who started it. Without roles, there are no URLs."""
    if settings.database_direct_url or settings.database_read_url:
        names = " and ".join(map(variable_name, ("database_direct_url", "database_read_url")))
        raise SettingsError(
            f"{names} are for processes that are started by themselves, such as `onlooker gateway`. "
            f"Remove them: `onlooker up` needs only {variable_name('database_url')}, without a pooler."
        )
    try:
        with psycopg.connect(settings.database_url, autocommit=True, connect_timeout=5) as connection:
            if may_create_roles(connection):
                return _with_roles(connection, settings)
            user = connection.info.user
    except psycopg.OperationalError as error:
        reason = str(error).strip().splitlines()[0]
        raise SettingsError(
            f"The database can't be used: {reason}. Create it with `createdb`, or name another one, with user and "
            f"password if it needs them, in {variable_name('database_url')}."
        ) from None
    known = read_logins(settings)
    if known.keys() >= set(ROLES) and not refused_logins(known):
        return known, ""
    return {}, f"all processes share the role {user}, which may not create others; {REMEDY}"


def _with_roles(connection: psycopg.Connection, settings: Settings) -> tuple[dict[str, str], str]:
    logins, refused = make_logins(connection, settings)
    if not refused:
        return logins.urls, ""
    role = logins.role(next(iter(refused)))
    return {}, f"all processes share the role {connection.info.user}: the server does not let {role} in; {REMEDY}"
