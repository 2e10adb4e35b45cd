"""What a database wrote since a moment: the bytes of its files and its write-ahead log, or else its rows."""

from collections.abc import Generator, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg import sql

Connection = psycopg.Connection[Any]
Part = tuple[str, bytes]
PART_BYTES = 1 << 24
SEGMENT_BYTES = 1 << 30
"""PostgreSQL begins another file of a table after so many."""
_MAY_READ = "SELECT has_function_privilege('pg_read_binary_file(text,bigint,bigint,boolean)', 'execute')"
_RELATIONS = """
SELECT relname, pg_relation_filepath(oid), pg_relation_size(oid) FROM pg_class
WHERE relkind IN ('r', 'i', 't', 'm') AND pg_relation_filepath(oid) IS NOT NULL AND NOT relisshared"""
_FOLDERS = {
    "write-ahead log": "SELECT 'pg_wal/' || name, size FROM pg_ls_waldir() WHERE modification >= %s",
    "temporary files": "SELECT 'base/pgsql_tmp/' || name, size FROM pg_ls_tmpdir() WHERE modification >= %s",
    "server log": """SELECT current_setting('log_directory') || '/' || name, size FROM pg_ls_logdir()
                     WHERE modification >= %s""",
}
_WRITTEN = "SELECT size FROM pg_stat_file(%s, true) WHERE modification >= %s"
_READ = "SELECT pg_read_binary_file(%s, %s, %s, true)"
_TABLES = """
SELECT nspname, relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE relkind = 'r' AND nspname NOT IN ('pg_catalog', 'information_schema')"""
_TRANSACTION = "SELECT pg_current_xact_id()::text::bigint"
_PLANTED = "CREATE TABLE onlooker_proof_planted (content bytea)"


class DatabaseContents:
    """Read through the server itself, which may be on another machine."""

    def __init__(self, url: str, *, began_at: float) -> None:
        self._url = url
        self._since = datetime.fromtimestamp(began_at, UTC)
        with self._connect() as connection:
            self.reads_files = bool(_value(connection, _MAY_READ))
            self._transaction = int(_value(connection, _TRANSACTION))
            found = _attempt(connection, "SHOW data_directory")
            self.data_folder = str(found[0][0]) if found else ""

    @property
    def manner(self) -> str:
        return "files and write-ahead log, read through the server" if self.reads_files else "rows, by their text"

    def read_tables(self, limits: list[str]) -> Iterator[Part]:
        """Tables, indexes and catalogues of this database alone."""
        with self._connect() as connection:
            yield from self._tables(connection, limits)

    def read_logs(self, limits: list[str]) -> Iterator[Part]:
        """What the server writes for all its databases: its write-ahead log, its temporary files and its log."""
        with self._connect() as connection:
            yield from self._logs(connection, limits)

    def read_planted(self, content: bytes) -> Generator[Part, None, None]:
        """All of it while a table holds this content; it never becomes visible to anybody else."""
        with self._connect() as connection, connection.transaction(force_rollback=True):
            connection.execute(_PLANTED)
            connection.execute("INSERT INTO onlooker_proof_planted VALUES (%s)", [content])
            yield from self._tables(connection, [])

    def _connect(self) -> Connection:
        return psycopg.connect(self._url, autocommit=True)

    def _tables(self, connection: Connection, limits: list[str]) -> Iterator[Part]:
        if not self.reads_files:
            yield from self._rows(connection, limits)
            return
        if _attempt(connection, "CHECKPOINT") is None:
            limits.append("The database's role may not write a checkpoint: the last minutes are in its log alone.")
        yield from self._relations(connection)

    def _logs(self, connection: Connection, limits: list[str]) -> Iterator[Part]:
        if not self.reads_files:
            limits.append(
                "The database's role may not read the server's files: rows were read instead, and the write-ahead log "
                "was not. Repeat the proof with the URL of a superuser in ONLOOKER_DATABASE_URL."
            )
            return
        for name, query in _FOLDERS.items():
            found = _attempt(connection, query, [self._since])
            if found is None:
                limits.append(f"The database server's {name} can't be listed, or is kept elsewhere.")
            for path, size in found or []:
                yield from _file_parts(connection, f"{name} {path.rpartition('/')[2]}", path, size)

    def _relations(self, connection: Connection) -> Iterator[Part]:
        """Of tables, indexes and catalogues that were written since."""
        for name, path, size in connection.execute(_RELATIONS).fetchall():
            for segment in range((size or 0) // SEGMENT_BYTES + 1):
                file = f"{path}.{segment}" if segment else path
                written = connection.execute(_WRITTEN, [file, self._since]).fetchone()
                if written:
                    yield from _file_parts(connection, name, file, written[0])

    def _rows(self, connection: Connection, limits: list[str]) -> Iterator[Part]:
        """Those of transactions since the proof began."""
        past = int(_value(connection, _TRANSACTION)) - self._transaction + 1
        for schema, table in connection.execute(_TABLES).fetchall():
            query = sql.SQL("SELECT t::text FROM {}.{} t WHERE age(t.xmin) <= {}").format(
                sql.Identifier(schema), sql.Identifier(table), sql.Literal(past)
            )
            rows = _attempt(connection, query.as_string(connection))
            if rows is None:
                limits.append(f"The database's role may not read the table {table}.")
            if rows:
                yield table, "\n".join(text for (text,) in rows).encode()


def _file_parts(connection: Connection, name: str, path: str, size_bytes: int) -> Iterator[Part]:
    for offset in range(0, size_bytes, PART_BYTES):
        row = connection.execute(_READ, [path, offset, PART_BYTES], binary=True).fetchone()
        if row and row[0]:
            yield name, bytes(row[0])


def _value(connection: Connection, query: str) -> Any:
    row = connection.execute(query.encode()).fetchone()
    return row[0] if row else None


def _attempt(connection: Connection, query: str, values: Sequence[Any] = ()) -> list[Any] | None:
    """None where the role may not, or the server has no such folder; a transaction around it goes on."""
    try:
        with connection.transaction():
            cursor = connection.execute(query.encode(), values or None)
            return cursor.fetchall() if cursor.description else []
    except psycopg.Error:
        return None
