"""Making the roles, and giving them what the table of grants says."""

import re
from typing import Any

import psycopg
from psycopg import sql

from onlooker.database import direct_url
from onlooker.database_roles.comparison import existing_tables, find_differences
from onlooker.database_roles.grants import (
    FUNCTIONS,
    GRANTS,
    MIGRATIONS,
    PROCESSES,
    ROLES,
    known_functions,
)
from onlooker.database_roles.logins import Logins, ensure_logins, loopback_url, refused_logins, write_other_ways
from onlooker.settings import Settings

Connection = psycopg.Connection[Any]

_MAY_CREATE = """
SELECT rolsuper OR (rolcreaterole AND pg_has_role(datdba, 'USAGE')) AS may
FROM pg_roles, pg_database WHERE rolname = current_user AND datname = current_database()"""
_LOCK = "SELECT pg_advisory_xact_lock(hashtext('onlooker database roles'))"
_FOREIGN_TABLES = """
SELECT relname FROM pg_class
WHERE oid = ANY(%(tables)s::regclass[]) AND relowner <> %(owner)s::regrole AND pg_has_role(relowner, 'USAGE')"""
_FOREIGN_FUNCTIONS = """
SELECT wanted FROM unnest(%(functions)s::text[]) wanted JOIN pg_proc ON pg_proc.oid = to_regprocedure(wanted)
WHERE proowner <> %(owner)s::regrole AND pg_has_role(proowner, 'USAGE')"""
_COLUMNS = """
SELECT relname, attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
WHERE attrelid = ANY(%(tables)s::regclass[]) AND attnum > 0 AND NOT attisdropped"""
_POWERFUL = """
SELECT rolname FROM pg_roles WHERE rolname = ANY(%s)
AND (rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls)"""
_MEMBERSHIPS = """
SELECT parent.rolname AS parent, member.rolname AS member FROM pg_auth_members
JOIN pg_roles parent ON parent.oid = roleid JOIN pg_roles member ON member.oid = pg_auth_members.member
WHERE member.rolname = ANY(%s)"""


def may_create_roles(connection: Connection) -> bool:
    """A superuser may, and the owner of the database if it has CREATEROLE."""
    row = connection.execute(_MAY_CREATE).fetchone()
    return bool(row and row[0])


def make_logins(connection: Connection, settings: Settings) -> tuple[Logins, dict[str, str]]:
    """Make the roles and find out how they get in; and why the server does not let a process in, by process."""
    database, host = connection.info.dbname, connection.info.host
    logins = ensure_logins(settings, direct_url(settings), database)
    make_roles(connection, logins)
    refused = refused_logins(logins.urls)
    if settings.database_direct_url:
        write_other_ways(settings, logins, database)
    elif refused and host.startswith("/"):
        over_tcp = loopback_url(settings.database_url, connection.info.port)
        logins = ensure_logins(settings, over_tcp, database)
        refused = refused_logins(logins.urls)
    return logins, refused


def make_roles(connection: Connection, logins: Logins) -> None:
    """Create what is missing, set passwords, hand the tables to their owner, grant. Repeating it changes nothing."""
    with connection.transaction():
        connection.execute(_LOCK)
        known = {name for (name,) in connection.execute("SELECT rolname FROM pg_roles").fetchall()}
        for process in ROLES:
            _make_login(
                connection, logins.role(process), logins.password(process), is_new=logins.role(process) not in known
            )
        _give_up_powers(connection, logins)
        _leave_groups(connection, logins)
        _open_database(connection, logins)
        _own_tables(connection, logins.role(MIGRATIONS))
    grant_all(connection, logins.prefix)


def grant_all(connection: Connection, prefix: str) -> None:
    """Bring the grants on the tables there are to what is declared.

    Nothing where the roles are missing, nor where tables lack columns: migrations come first, and grant when they are
    done. Until then processes of the release before keep what they have.
    """
    with connection.transaction():
        connection.execute(_LOCK)
        roles = [f"{prefix}_{process}" for process in PROCESSES]
        row = connection.execute("SELECT count(*) FROM pg_roles WHERE rolname = ANY(%s)", [roles]).fetchone()
        if not row or row[0] < len(roles) or not find_differences(connection, prefix):
            return
        if _lacks_columns(connection):
            return
        _grant(connection, prefix)


def _lacks_columns(connection: Connection) -> bool:
    """Whether a grant names a column that a table does not have: it is of an earlier release."""
    tables = existing_tables(connection)
    known = {(table, column) for table, column in connection.execute(_COLUMNS, {"tables": tables}).fetchall()}
    declared = {
        (table, column.strip())
        for grants in GRANTS.values()
        for table, granted in grants.items()
        if table in tables
        for columns in re.findall(r"\(([^)]*)\)", granted)
        for column in columns.split(",")
    }
    return not declared <= known


def _grant(connection: Connection, prefix: str) -> None:
    tables, functions = existing_tables(connection), _existing_functions(connection)
    everyone = sql.SQL(", ").join([sql.SQL("PUBLIC"), *(sql.Identifier(f"{prefix}_{one}") for one in PROCESSES)])
    if tables:
        named = sql.SQL(", ").join(map(sql.Identifier, tables))
        connection.execute(sql.SQL("REVOKE ALL ON {} FROM {}").format(named, everyone))
    for function in functions:
        connection.execute(sql.SQL("REVOKE ALL ON FUNCTION {} FROM {}").format(_verbatim(function), everyone))
    for process in PROCESSES:
        role = sql.Identifier(f"{prefix}_{process}")
        for table, granted in GRANTS[process].items():
            if table in tables:
                grant = sql.SQL("GRANT {} ON {} TO {}")
                connection.execute(grant.format(_verbatim(granted), sql.Identifier(table), role))
        for function in FUNCTIONS.get(process, ()):
            if function in functions:
                connection.execute(sql.SQL("GRANT EXECUTE ON FUNCTION {} TO {}").format(_verbatim(function), role))


def _make_login(connection: Connection, role: str, password: str, *, is_new: bool) -> None:
    """The server gets a salted hash: a password in a statement could end up in its log."""
    secret = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256").decode()
    verb = sql.SQL("CREATE" if is_new else "ALTER")
    values = verb, sql.Identifier(role), sql.Literal(secret)
    connection.execute(sql.SQL("{} ROLE {} LOGIN PASSWORD {}").format(*values))


def _give_up_powers(connection: Connection, logins: Logins) -> None:
    """A new role has none; only a superuser may take some of them away."""
    roles = [logins.role(process) for process in ROLES]
    for (role,) in connection.execute(_POWERFUL, [roles]).fetchall():
        none = sql.SQL("ALTER ROLE {} NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS")
        connection.execute(none.format(sql.Identifier(role)))


def _leave_groups(connection: Connection, logins: Logins) -> None:
    """A role that is a member of another has its rights."""
    roles = [logins.role(process) for process in ROLES]
    for parent, member in connection.execute(_MEMBERSHIPS, [roles]).fetchall():
        connection.execute(sql.SQL("REVOKE {} FROM {}").format(sql.Identifier(parent), sql.Identifier(member)))


def _open_database(connection: Connection, logins: Logins) -> None:
    """Who may connect, and who may create tables; temporary ones nobody needs."""
    row = connection.execute("SELECT current_database(), current_schema(), current_user").fetchone()
    assert row
    database, schema, user = map(sql.Identifier, row)
    owner = sql.Identifier(logins.role(MIGRATIONS))
    roles = sql.SQL(", ").join(sql.Identifier(logins.role(process)) for process in ROLES)
    for statement in (
        "GRANT {owner} TO {user}",
        "REVOKE ALL ON DATABASE {database} FROM {roles}",
        "REVOKE ALL ON SCHEMA {schema} FROM {roles}",
        "REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC",
        "GRANT CONNECT ON DATABASE {database} TO {roles}",
        "REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC",
        "GRANT USAGE ON SCHEMA {schema} TO {roles}",
        "GRANT CREATE ON SCHEMA {schema} TO {owner}",
    ):
        composed = sql.SQL(statement)
        connection.execute(composed.format(owner=owner, user=user, database=database, schema=schema, roles=roles))


def _own_tables(connection: Connection, owner: str) -> None:
    values = {"tables": existing_tables(connection, months=True), "functions": list(known_functions()), "owner": owner}
    for (table,) in connection.execute(_FOREIGN_TABLES, values).fetchall():
        connection.execute(sql.SQL("ALTER TABLE {} OWNER TO {}").format(sql.Identifier(table), sql.Identifier(owner)))
    for (function,) in connection.execute(_FOREIGN_FUNCTIONS, values).fetchall():
        change = sql.SQL("ALTER FUNCTION {} OWNER TO {}")
        connection.execute(change.format(_verbatim(function), sql.Identifier(owner)))


def _existing_functions(connection: Connection) -> list[str]:
    found = connection.execute(
        "SELECT wanted FROM unnest(%s::text[]) wanted WHERE to_regprocedure(wanted) IS NOT NULL",
        [list(known_functions())],
    )
    return [name for (name,) in found.fetchall()]


def _verbatim(text: str) -> sql.SQL:
    """Our own text, from the table of grants."""
    return sql.SQL(text)
