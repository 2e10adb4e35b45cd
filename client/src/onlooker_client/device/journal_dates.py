"""Dating what was recorded before the time was known."""

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import replace

from onlooker_client.device.coverage_sums import CoverageSums
from onlooker_client.device.journal_rows import Epoch, read_sums, slot_of, slot_of_minute
from onlooker_client.device.journal_tables import add_coverage, put_epoch, read_epochs

RIGHT_MS = 30_000
"""A clock on a battery that is off by no more is right, and was right before the last start, too."""
CLOCK_UNKNOWN = "clock_unknown"


def date_rows(connection: sqlite3.Connection, *, boot: str, true_ms: int, now_ms: int) -> Counter[str]:
    """Give every epoch its true time; what is left of those that never learned it is dropped, and counted by kind."""
    epochs = [replace(epoch, true_ms=true_ms) if epoch.boot == boot else epoch for epoch in read_epochs(connection)]
    has_battery = any(one.boot == boot and _is_right(one.battery_ms, true_ms) for one in epochs)
    lost: Counter[str] = Counter()
    for epoch in epochs:
        found_ms = _true_ms(epoch, has_battery=has_battery, now_ms=now_ms)
        if found_ms is None:
            lost += _lose(connection, epoch.id)
        else:
            put_epoch(connection, replace(epoch, true_ms=found_ms))
            _date(connection, epoch.id, found_ms)
    for stray in _strays(connection, {epoch.id for epoch in epochs}):
        lost += _lose(connection, stray)
    if lost:
        # When it was is not known; that it was is said now.
        sums = CoverageSums()
        sums.add_refused(CLOCK_UNKNOWN, max(1, lost["frames"]))
        add_coverage(connection, slot_of(now_ms), sums)
    return lost


def _true_ms(epoch: Epoch, *, has_battery: bool, now_ms: int) -> int | None:
    if epoch.true_ms is not None or epoch.battery_ms is None or not has_battery:
        return epoch.true_ms
    began_ms = epoch.began_ms - epoch.session_ms + epoch.battery_ms
    return epoch.battery_ms if began_ms <= now_ms else None


def _is_right(battery_ms: int | None, true_ms: int) -> bool:
    return battery_ms is not None and abs(battery_ms - true_ms) <= RIGHT_MS


def _strays(connection: sqlite3.Connection, known: set[int]) -> set[int]:
    """Epochs of rows that a damage took from their own: nothing will ever date them."""
    rows = connection.execute("SELECT epoch FROM visit WHERE offset_ms IS NULL UNION SELECT epoch FROM minute")
    return {row["epoch"] for row in rows} - known


def _date(connection: sqlite3.Connection, epoch: int, true_ms: int) -> None:
    connection.execute("UPDATE visit SET offset_ms = ? WHERE epoch = ? AND offset_ms IS NULL", (true_ms, epoch))
    for row in connection.execute("SELECT * FROM minute WHERE epoch = ?", (epoch,)).fetchall():
        sums = read_sums(row["body"], row["crc"], epoch, row["minute"])
        if sums is not None:
            add_coverage(connection, slot_of_minute(row["minute"], true_ms), sums)
    connection.execute("DELETE FROM minute WHERE epoch = ?", (epoch,))


def _lose(connection: sqlite3.Connection, epoch: int) -> Counter[str]:
    lost: Counter[str] = Counter()
    for row in connection.execute("SELECT * FROM minute WHERE epoch = ?", (epoch,)).fetchall():
        sums = read_sums(row["body"], row["crc"], epoch, row["minute"])
        lost["frames"] += sums.frames if sums is not None else 0
    done = connection.execute("DELETE FROM visit WHERE epoch IS ? AND offset_ms IS NULL", (epoch,))
    lost["visits"] += done.rowcount
    connection.execute("DELETE FROM minute WHERE epoch IS ?", (epoch,))
    return +lost
