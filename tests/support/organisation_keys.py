"""Keys of an organisation in tests: written by SQL, for processes that do not load Django."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from onlooker.keys.key_text import BEGINNING, hash_key, new_key

Execute = Callable[..., list[tuple[Any, ...]]]
_INSERT = """INSERT INTO keys_organisationkey (organisation_id, name, beginning, sha256, scopes, role, reaches_all)
             SELECT organisation_id, 'Program', %s, %s, %s::text[], 'manager', %s FROM streams_stream WHERE id = %s
             RETURNING id"""


@dataclass(frozen=True)
class ProgramKey:
    """A key, and its text."""

    id: int
    text: str


def insert_key(execute: Execute, stream_id: int, *scopes: str, reaches: int | None = None) -> ProgramKey:
    """Of the stream's organisation; for all streams, or for one."""
    text = new_key()
    row = execute(_INSERT, text[:BEGINNING], hash_key(text), list(scopes), reaches is None, stream_id)[0]
    if reaches is not None:
        execute("INSERT INTO keys_keystream (key_id, stream_id) VALUES (%s, %s)", row[0], reaches)
    return ProgramKey(row[0], text)


def revoke(execute: Execute, key: ProgramKey) -> None:
    execute("UPDATE keys_organisationkey SET revoked_at = now() WHERE id = %s", key.id)
