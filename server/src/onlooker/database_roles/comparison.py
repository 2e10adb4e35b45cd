"""What PostgreSQL's catalogue says that the roles may do, beside what is declared."""

from typing import Any

import psycopg

from onlooker.database_roles.grants import (
    FUNCTIONS,
    MIGRATIONS,
    PARTITIONS,
    PROCESSES,
    ROLES,
    Privilege,
    known_functions,
    known_tables,
    privileges_of,
)

Connection = psycopg.Connection[Any]

_TABLES = """
SELECT relname FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v')
  AND (relname = ANY(%(tables)s) OR (%(months)s AND relname ~ %(partitions)s))
ORDER BY relname"""
_ON_TABLES = """
SELECT relname, kind, '' FROM pg_class
CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) kind
WHERE pg_class.oid = ANY(%(tables)s::regclass[]) AND has_table_privilege(%(role)s, pg_class.oid, kind)"""
_ON_COLUMNS = """
SELECT relname, kind, attname FROM pg_class
JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'REFERENCES']) kind
WHERE pg_class.oid = ANY(%(tables)s::regclass[]) AND has_column_privilege(%(role)s, pg_class.oid, attnum, kind)
  AND NOT has_table_privilege(%(role)s, pg_class.oid, kind)"""
_ON_FUNCTIONS = """
SELECT wanted FROM unnest(%(functions)s::text[]) wanted
WHERE has_function_privilege(%(role)s, to_regprocedure(wanted), 'EXECUTE')"""
_MISSING_FUNCTIONS = "SELECT wanted FROM unnest(%(functions)s::text[]) wanted WHERE to_regprocedure(wanted) IS NULL"
_POWERS = """
SELECT unnest(ARRAY[
    CASE WHEN rolsuper THEN 'is a superuser' END,
    CASE WHEN rolcreaterole THEN 'may create roles' END,
    CASE WHEN rolcreatedb THEN 'may create databases' END,
    CASE WHEN rolreplication THEN 'may replicate' END,
    CASE WHEN rolbypassrls THEN 'may bypass row security' END,
    CASE WHEN NOT rolcanlogin THEN 'may not log in' END,
    CASE WHEN has_database_privilege(oid, current_database(), 'CREATE') THEN 'may create schemas' END,
    CASE WHEN has_database_privilege(oid, current_database(), 'TEMPORARY') THEN 'may create temporary tables' END,
    CASE WHEN NOT has_database_privilege(oid, current_database(), 'CONNECT') THEN 'may not connect' END,
    CASE WHEN has_schema_privilege(oid, current_schema(), 'CREATE') <> (rolname = %(owner)s)
         THEN CASE WHEN rolname = %(owner)s THEN 'may not create tables' ELSE 'may create tables' END END,
    CASE WHEN NOT has_schema_privilege(oid, current_schema(), 'USAGE') THEN 'may not use the schema' END])
FROM pg_roles WHERE rolname = %(role)s"""
_GROUPS = """
SELECT parent.rolname FROM pg_auth_members JOIN pg_roles parent ON parent.oid = roleid
WHERE member = %(role)s::regrole"""
_NOT_OWNED = """
SELECT relname, relowner::regrole::text FROM pg_class
WHERE oid = ANY(%(tables)s::regclass[]) AND relowner <> %(role)s::regrole
UNION ALL
SELECT wanted, proowner::regrole::text FROM unnest(%(functions)s::text[]) wanted
JOIN pg_proc ON pg_proc.oid = to_regprocedure(wanted) WHERE proowner <> %(role)s::regrole"""


def existing_tables(connection: Connection, *, months: bool = False) -> list[str]:
    """Those of our tables that are there."""
    values = {"tables": list(known_tables()), "months": months, "partitions": PARTITIONS}
    return [name for (name,) in connection.execute(_TABLES, values).fetchall()]


def find_differences(connection: Connection, prefix: str) -> list[str]:
    """Sentences: what is missing and what is too much, role by role; none if all is as declared."""
    tables = existing_tables(connection, months=True)
    missing = [
        f"The table {name} is missing: run `onlooker database migrate`."
        for name in sorted({*known_tables()} - {*tables})
    ]
    functions = {"functions": list(known_functions())}
    missing += [
        f"The function {name} is missing: run `onlooker database migrate`."
        for (name,) in connection.execute(_MISSING_FUNCTIONS, functions).fetchall()
    ]
    values = {"tables": tables, "owner": f"{prefix}_{MIGRATIONS}"} | functions
    return missing + [found for process in ROLES for found in _differences(connection, prefix, process, values)]


def _differences(connection: Connection, prefix: str, process: str, values: dict[str, Any]) -> list[str]:
    role = f"{prefix}_{process}"
    values = values | {"role": role}
    powers = connection.execute(_POWERS, values).fetchall()
    if not powers:
        return [f"The role {role} is missing."]
    found = [f"{role} {power}." for (power,) in powers if power]
    found += [f"{role} is a member of {group}." for (group,) in connection.execute(_GROUPS, values).fetchall()]
    if process in PROCESSES:
        return found + _wrong_grants(connection, process, values)
    rows = connection.execute(_NOT_OWNED, values).fetchall()
    return found + [f"{name} belongs to {owner}, not to {role}." for name, owner in rows]


def _wrong_grants(connection: Connection, process: str, values: dict[str, Any]) -> list[str]:
    declared = {one for one in privileges_of(process) if one.table in values["tables"]}
    rows = [*connection.execute(_ON_TABLES, values).fetchall(), *connection.execute(_ON_COLUMNS, values).fetchall()]
    actual = {Privilege(*row) for row in rows}
    found = [f"{values['role']} lacks {one}." for one in sorted(declared - actual)]
    found += [f"{values['role']} has {one}, which it does not need." for one in sorted(actual - declared)]
    callable_now = {name for (name,) in connection.execute(_ON_FUNCTIONS, values).fetchall()}
    declared_functions = set(FUNCTIONS.get(process, ()))
    found += [f"{values['role']} may not call {name}." for name in sorted(declared_functions - callable_now)]
    return found + [f"{values['role']} may call {name}." for name in sorted(callable_now - declared_functions)]
