"""What can still be read of a damaged journal."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onlooker_client.device.journal_rows import checksum, visit_checksum
from onlooker_client.device.journal_tables import count_dropped

Row = dict[str, Any]


@dataclass
class Salvaged:
    """Rows whose checksums are right."""

    tables: dict[str, list[Row]] = field(default_factory=dict)
    is_complete: bool = True
    """Whether every row of every table could be read; else its coverage may not be counted on."""
    lost: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def visits(self) -> list[Row]:
        return self.tables.get("visit", [])

    def write(self, connection: sqlite3.Connection) -> None:
        """Into a new journal. Where something is missing it counts coverage from nothing, as another device."""
        kept = ["fact", "epoch", "visit", "session_state", "dropped"]
        if self.is_complete:
            kept += ["coverage", "minute"]
        for table in kept:
            for row in self.tables.get(table, []):
                if table == "fact" and row["name"] == "device" and not self.is_complete:
                    continue
                names = ", ".join(row)
                marks = ", ".join("?" for _ in row)
                statement = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})"  # noqa: S608 (our own names)
                connection.execute(statement, tuple(row.values()))
        if not self.is_complete:
            slots = len(self.tables.get("coverage", [])) + len(self.tables.get("minute", []))
            self.lost[("slots", "damaged")] += slots
        count_dropped(connection, self.lost)


_KEYS = {
    "fact": "name",
    "epoch": "id",
    "session_state": "id",
    "visit": "sequence",
    "coverage": "slot",
    "minute": "epoch, minute",
    "dropped": "what, reason",
}


def salvage(path: Path) -> Salvaged:
    """Never raises: a file that is nothing at all gives nothing."""
    found = Salvaged()
    try:
        with closing(sqlite3.connect(str(path), isolation_level=None)) as connection:
            connection.row_factory = sqlite3.Row
            connection.text_factory = lambda content: content.decode(errors="replace")
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            for table, key in _KEYS.items():
                found.tables[table] = _read_table(connection, table, key, found)
    except sqlite3.Error:
        found.is_complete = False
    found.lost[("journals", "damaged")] += 1
    return found


def _read_table(connection: sqlite3.Connection, table: str, key: str, found: Salvaged) -> list[Row]:
    """From the front, and if that breaks off, from the end, too."""
    rows: dict[tuple[Any, ...], Row] = {}
    for order in (key, ", ".join(f"{name} DESC" for name in key.split(", "))):
        is_whole = False
        with suppress(sqlite3.Error):
            for row in connection.execute(f"SELECT * FROM {table} ORDER BY {order}"):  # noqa: S608 (our own names)
                rows[tuple(row[name] for name in key.split(", "))] = dict(row)
            is_whole = True
        if is_whole:
            break
        found.is_complete = False
    return list(_right(table, rows.values(), found))


def _right(table: str, rows: Any, found: Salvaged) -> Iterator[Row]:
    for row in rows:
        try:
            is_right = _is_right(table, row)
        except (TypeError, ValueError, AttributeError):
            is_right = False
        if is_right:
            yield row
            continue
        found.is_complete = False
        found.lost[({"visit": "visits"}.get(table, "rows"), "damaged")] += 1


def _is_right(table: str, row: Row) -> bool:
    if table == "visit":
        return bool(row["crc"] == visit_checksum(row["id"], row["epoch"], row["ended"], row["body"]))
    if table == "coverage":
        return row["body"] is None or bool(row["crc"] == checksum(row["slot"], row["body"]))
    if table == "minute":
        return bool(row["crc"] == checksum(row["epoch"], row["minute"], row["body"]))
    if table in ("fact", "epoch"):
        *values, crc = row.values()
        return bool(crc == checksum(*values))
    if table == "session_state":
        return bool(row["crc"] == checksum(row["epoch"], row["at_ms"], bytes(row["body"]).hex()))
    return True
