"""Statements about the journal's tables, each within a transaction of its caller."""

from __future__ import annotations

import sqlite3
from collections import Counter

from onlooker_client.device.coverage_sums import CoverageSums
from onlooker_client.device.journal_rows import (
    Epoch,
    SavedState,
    VisitChange,
    checksum,
    read_sums,
    slot_of_minute,
    visit_checksum,
)

LATE_SLOTS = 8 * 96
"""For so long after its erasure a slot that gets more is noticed."""


def read_epochs(connection: sqlite3.Connection) -> list[Epoch]:
    """In their order. What is wrong with one of them would be wrong with all dates: then it raises."""
    epochs = []
    for row in connection.execute("SELECT * FROM epoch ORDER BY id").fetchall():
        *values, crc = tuple(row)
        if checksum(*values) != crc:
            raise sqlite3.DatabaseError("an epoch is damaged")
        epochs.append(Epoch(*values))
    return epochs


def put_epoch(connection: sqlite3.Connection, epoch: Epoch, *, is_new: bool = False) -> None:
    """Replace the one with its number; `is_new`: unless there is one."""
    values = tuple(vars(epoch).values())
    how = "IGNORE" if is_new else "REPLACE"
    connection.execute(
        f"INSERT OR {how} INTO epoch VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 (one of two words)
        (*values, checksum(*values)),
    )


def read_fact(connection: sqlite3.Connection, name: str) -> str | None:
    row = connection.execute("SELECT value, crc FROM fact WHERE name = ?", (name,)).fetchone()
    if row is not None and checksum(name, row["value"]) != row["crc"]:
        raise sqlite3.DatabaseError("a fact is damaged")
    return str(row["value"]) if row is not None else None


def put_fact(connection: sqlite3.Connection, name: str, value: str) -> None:
    connection.execute("INSERT OR REPLACE INTO fact VALUES (?, ?, ?)", (name, value, checksum(name, value)))


def write_state(connection: sqlite3.Connection, state: SavedState) -> None:
    crc = checksum(state.epoch, state.at_ms, state.body.hex())
    connection.execute(
        "INSERT OR REPLACE INTO session_state VALUES (1, ?, ?, ?, ?)", (state.epoch, state.at_ms, state.body, crc)
    )


def read_state(connection: sqlite3.Connection) -> SavedState | None:
    """None also where it is damaged."""
    row = connection.execute("SELECT * FROM session_state").fetchone()
    if row is None or checksum(row["epoch"], row["at_ms"], bytes(row["body"]).hex()) != row["crc"]:
        return None
    return SavedState(bytes(row["body"]), row["at_ms"], row["epoch"])


def write_visit(connection: sqlite3.Connection, visit: VisitChange) -> None:
    """Revisions count up here, whatever the session says: after a crash it may say the same number again.

    The offset stays as it was: a visit begins at the same moment in all its revisions.
    """
    connection.execute(
        """INSERT INTO visit (id, epoch, offset_ms, began_ms, revision, ended, body, crc)
           VALUES (:id, :epoch, (SELECT true_ms FROM epoch WHERE id = :epoch), :began_ms,
                   :revision, :ended, :body, :crc)
           ON CONFLICT (id) DO UPDATE SET revision = max(excluded.revision, visit.revision + 1),
               ended = excluded.ended, body = excluded.body, crc = excluded.crc""",
        {
            "id": visit.id,
            "epoch": visit.epoch,
            "began_ms": visit.began_ms,
            "revision": visit.revision,
            "ended": int(visit.ended),
            "body": visit.body,
            "crc": visit_checksum(visit.id, visit.epoch, visit.ended, visit.body),
        },
    )


def end_visit(connection: sqlite3.Connection, visit_id: str) -> bool:
    """As it is; whether it was open."""
    row = connection.execute("SELECT * FROM visit WHERE id = ? AND NOT ended", (visit_id,)).fetchone()
    if row is None:
        return False
    crc = visit_checksum(visit_id, row["epoch"], True, row["body"])
    connection.execute("UPDATE visit SET ended = 1, revision = revision + 1, crc = ? WHERE id = ?", (crc, visit_id))
    return True


def add_coverage(connection: sqlite3.Connection, slot: int, sums: CoverageSums) -> None:
    """To a slot that was acknowledged and erased nothing can be added: its sums are no longer known here."""
    row = connection.execute("SELECT * FROM coverage WHERE slot = ?", (slot,)).fetchone()
    if row is not None and row["body"] is None:
        count_dropped(connection, Counter({("frames", "slot_closed"): sums.frames}))
        return
    known = read_sums(row["body"], row["crc"], slot) if row is not None else None
    if known is not None:
        known.add(sums)
    put_coverage(connection, slot, known or sums)


def put_coverage(connection: sqlite3.Connection, slot: int, sums: CoverageSums) -> None:
    body = sums.to_json()
    connection.execute(
        "INSERT INTO coverage (slot, revision, body, crc) VALUES (?, 1, ?, ?) ON CONFLICT (slot) DO UPDATE"
        " SET revision = coverage.revision + 1, body = excluded.body, crc = excluded.crc",
        (slot, body, checksum(slot, body)),
    )


def add_minute(connection: sqlite3.Connection, epoch: int, minute: int, sums: CoverageSums) -> None:
    """Coverage of an epoch without a known time; where it became known meanwhile, of the slot."""
    (true_ms,) = connection.execute("SELECT max(true_ms) FROM epoch WHERE id = ?", (epoch,)).fetchone()
    if true_ms is not None:
        add_coverage(connection, slot_of_minute(minute, true_ms), sums)
        return
    row = connection.execute("SELECT * FROM minute WHERE epoch = ? AND minute = ?", (epoch, minute)).fetchone()
    known = read_sums(row["body"], row["crc"], epoch, minute) if row is not None else None
    if known is not None:
        known.add(sums)
    put_minute(connection, epoch, minute, known or sums)


def put_minute(connection: sqlite3.Connection, epoch: int, minute: int, sums: CoverageSums) -> None:
    body = sums.to_json()
    values = (epoch, minute, body, checksum(epoch, minute, body))
    connection.execute("INSERT OR REPLACE INTO minute VALUES (?, ?, ?, ?)", values)


def erase_slots(connection: sqlite3.Connection, current_slot: int) -> None:
    """Acknowledged slots that can't get more; their numbers are known for a while, so that a late frame is noticed."""
    connection.execute(
        "UPDATE coverage SET body = NULL WHERE slot < ? AND revision = sent AND body IS NOT NULL", (current_slot - 1,)
    )
    connection.execute("DELETE FROM coverage WHERE body IS NULL AND slot < ?", (current_slot - LATE_SLOTS,))


def count_dropped(connection: sqlite3.Connection, dropped: Counter[tuple[str, str]]) -> None:
    """What was lost, and why."""
    rows = [(what, reason, count) for (what, reason), count in dropped.items() if count]
    connection.executemany(
        "INSERT INTO dropped VALUES (?, ?, ?) ON CONFLICT (what, reason) DO UPDATE"
        " SET count = dropped.count + excluded.count",
        rows,
    )
