"""What PostgreSQL's files of a database still tell: their bytes, read through the server by a superuser."""

from dataclasses import dataclass
from typing import Any

import psycopg

_RELATIONS = """
SELECT relname, pg_relation_filepath(oid), pg_relation_size(oid) FROM pg_class
WHERE relkind IN ('r', 'i', 't', 'm') AND pg_relation_filepath(oid) IS NOT NULL AND NOT relisshared"""
_READ = "SELECT pg_read_binary_file(%s, 0, %s, true)"


@dataclass(frozen=True)
class DatabaseFiles:
    """All tables, indexes and catalogues of one database, as they were on the disk at one moment."""

    contents: dict[str, bytes]

    @classmethod
    def read(cls, url: str) -> "DatabaseFiles":
        """After a checkpoint: until then changes are in memory and in the write-ahead log alone."""
        with psycopg.connect(url, autocommit=True) as superuser:
            superuser.execute("CHECKPOINT")
            found = superuser.execute(_RELATIONS).fetchall()
            contents = {name: _read_file(superuser, path, size) for name, path, size in found}
        return cls({name: content for name, content in contents.items() if content})

    def holding(self, text: bytes) -> list[str]:
        """The relations in whose files these bytes are."""
        return sorted(name for name, content in self.contents.items() if text in content)


def _read_file(superuser: psycopg.Connection[Any], path: str, size_bytes: int) -> bytes:
    row = superuser.execute(_READ, [path, size_bytes], binary=True).fetchone()
    return bytes(row[0]) if row and row[0] is not None else b""
