"""A plugin: in tests within this process, queries of the console's own code run with the console's role.

A grant that is missing fails the test that needs it. Rows that a test writes itself are written as before.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import psycopg
import pytest
from django.db.backends.signals import connection_created
from psycopg import sql

import onlooker
from onlooker.database_roles.creation import grant_all, make_roles
from onlooker.database_roles.grants import CONSOLE, ROLES
from onlooker.database_roles.logins import Logins

PRODUCT = str(Path(onlooker.__file__).parent)
COMMANDS = (f"{PRODUCT}/cli/", "/commands.py", "/migrations/")
"""Code that runs from the command line, as the tables' owner."""


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Roles in the tests' database, named after it."""
    from django.db import connection

    with django_db_blocker.unblock():
        known = _connection_values()
        prefix = str(known["dbname"])
        with psycopg.connect(**known, autocommit=True) as opened:
            assert _is_superuser(opened), "Tests need a superuser of PostgreSQL: they create roles."
            make_roles(opened, Logins(prefix, {process: f"postgresql://any:{process}@/" for process in ROLES}))
    role = f"{prefix}_{CONSOLE}"

    wrapper = partial(_as_console, role)

    def wrap(connection: Any, **_: Any) -> None:
        """Once, however often it connects: a wrapper within a wrapper would ask for the role again."""
        if wrapper not in connection.execute_wrappers:
            connection.execute_wrappers.append(wrapper)

    connection_created.connect(wrap, weak=False)
    wrap(connection)
    yield
    connection_created.disconnect(wrap)
    connection.execute_wrappers.remove(wrapper)
    with psycopg.connect(**known, autocommit=True) as opened:
        names = sql.SQL(", ").join(sql.Identifier(f"{prefix}_{process}") for process in ROLES)
        for statement in ("REASSIGN OWNED BY {} TO CURRENT_USER", "DROP OWNED BY {}", "DROP ROLE {}"):
            opened.execute(sql.SQL(statement).format(names))


def _connection_values() -> dict[str, Any]:
    from django.db import connection

    options = connection.get_connection_params()
    return {name: options[name] for name in ("host", "port", "user", "password", "dbname") if options.get(name)}


def grant_again() -> None:
    """After a test has created tables again: they have no grants."""
    known = _connection_values()
    with psycopg.connect(**known, autocommit=True) as opened:
        grant_all(opened, str(known["dbname"]))


def _as_console(role: str, execute: Callable[..., Any], *call: Any) -> Any:
    """`call` is Django's: the statement, its values, whether they are many, and the context."""
    raw = call[-1]["connection"].connection
    if raw is None:
        return execute(*call)
    is_console = _is_of_the_console()
    if is_console == _is_superuser(raw):  # the roles differ in that, too
        switch = sql.SQL("SET ROLE {}").format(sql.Identifier(role)) if is_console else sql.SQL("RESET ROLE")
        with suppress(psycopg.Error):  # the transaction has failed, and the statement will
            raw.execute(switch)
    return execute(*call)


def _is_superuser(raw: psycopg.Connection[Any]) -> bool:
    """As the server reports whenever it changes, with a rollback too: asking costs nothing."""
    return raw.info.parameter_status("is_superuser") == "on"


def _is_of_the_console() -> bool:
    """Whether code of the product is at work, and not a command."""
    frame: FrameType | None = sys._getframe(2)
    is_ours = False
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(PRODUCT):
            if any(part in file for part in COMMANDS):
                return False
            is_ours = True
        frame = frame.f_back
    return is_ours
