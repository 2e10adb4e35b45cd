"""How much the journal keeps: nothing past the stream's retention, and no more than its limit."""

from __future__ import annotations

import sqlite3
from collections import Counter

from onlooker_client.device.coverage_sums import SLOT_MS, CoverageSums
from onlooker_client.device.journal_rows import MINUTE_MS, read_sums, slot_of
from onlooker_client.device.journal_tables import count_dropped, put_coverage, put_minute

JOURNAL_FULL = "journal_full"
TOO_OLD = "too_old"
SLOT_MINUTES = SLOT_MS // MINUTE_MS


def expire_old(connection: sqlite3.Connection, limit_ms: int) -> Counter[tuple[str, str]]:
    """Erase what the server would not keep any more."""
    done = connection.execute("DELETE FROM visit WHERE began_ms + offset_ms < ?", (limit_ms,))
    slots = connection.execute("DELETE FROM coverage WHERE slot < ? AND body IS NOT NULL", (slot_of(limit_ms),))
    dropped = +Counter({("visits", TOO_OLD): done.rowcount, ("slots", TOO_OLD): slots.rowcount})
    count_dropped(connection, dropped)
    return dropped


def drop_oldest(connection: sqlite3.Connection) -> Counter[tuple[str, str]]:
    """Drop the visits of the oldest slot; the slot then counts as not watched, with the reason."""
    row = connection.execute("SELECT * FROM visit WHERE ended ORDER BY sequence LIMIT 1").fetchone()
    if row is None:
        return Counter()
    slot = slot_of(row["began_ms"] + (row["offset_ms"] or 0))
    done = connection.execute(
        "DELETE FROM visit WHERE ended AND epoch = ? AND (began_ms + coalesce(offset_ms, 0)) / ? = ?"
        " AND (offset_ms IS NULL) = ?",
        (row["epoch"], SLOT_MS, slot, row["offset_ms"] is None),
    )
    if row["offset_ms"] is None:
        _leave_minutes(connection, row["epoch"], slot * SLOT_MINUTES, done.rowcount)
    else:
        _leave_gap(connection, slot, done.rowcount)
    dropped = Counter({("visits", JOURNAL_FULL): done.rowcount})
    count_dropped(connection, dropped)
    return dropped


def _leave_gap(connection: sqlite3.Connection, slot: int, count: int) -> None:
    """What the server has of the slot stays: it has the visits, too."""
    row = connection.execute("SELECT * FROM coverage WHERE slot = ?", (slot,)).fetchone()
    if row is not None and row["body"] is None:
        return
    sums = (read_sums(row["body"], row["crc"], slot) if row is not None else None) or CoverageSums()
    if row is not None and row["sent"]:
        sums.add_refused(JOURNAL_FULL, count)
    else:
        sums.lose(JOURNAL_FULL, count)
    put_coverage(connection, slot, sums)


def _leave_minutes(connection: sqlite3.Connection, epoch: int, first: int, count: int) -> None:
    connection.execute(
        "DELETE FROM minute WHERE epoch = ? AND minute >= ? AND minute < ?", (epoch, first, first + SLOT_MINUTES)
    )
    sums = CoverageSums()
    sums.lose(JOURNAL_FULL, count)
    put_minute(connection, epoch, first, sums)
