"""What the device keeps until the server has taken it: the session's state, visits, coverage, and counts of losses.

Numbers only, never a pixel. State and visits are written in one transaction; what the server acknowledged is erased.
"""

from __future__ import annotations

import sqlite3
import threading
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Callable

from onlooker_client.device.journal_bounds import drop_oldest, expire_old
from onlooker_client.device.journal_dates import CLOCK_UNKNOWN, date_rows
from onlooker_client.device.journal_file import JournalDamaged, JournalFile, JournalUnwritable
from onlooker_client.device.journal_rows import (
    Entry,
    Epoch,
    SavedState,
    WaitingSlot,
    WaitingVisit,
    read_waiting,
    wire_of_slot,
)
from onlooker_client.device.journal_salvage import Salvaged, salvage
from onlooker_client.device.journal_tables import (
    add_coverage,
    add_minute,
    count_dropped,
    end_visit,
    erase_slots,
    put_epoch,
    put_fact,
    read_epochs,
    read_fact,
    read_state,
    write_state,
    write_visit,
)

LIMIT_BYTES = 200_000_000
FILLED = 0.9
"""Of the limit; the rest is for the log and for pages in use while rows are erased."""
Warn = Callable[[str, str], None]
"""An event and a sentence, for a log."""
Losses = Counter[tuple[str, str]]
"""How much was lost, by what and why."""
__all__ = ["Journal", "JournalUnwritable", "Losses", "Warn"]


class Journal:
    """Any thread may use it; one at a time is in the file. Everything may raise JournalUnwritable."""

    def __init__(self, folder: Path, *, limit_bytes: int = LIMIT_BYTES, warn: Warn = lambda *_: None) -> None:
        self._warn = warn
        self._lock = threading.RLock()
        self._epoch: Epoch | None = None
        self._file = JournalFile(folder, limit_bytes=limit_bytes)
        self.damages = 0
        """How often it was damaged since the agent started."""
        with suppress(JournalUnwritable):  # a full disk may have room later
            self.device()

    @property
    def folder(self) -> Path:
        return self._file.folder

    def device(self) -> str:
        """The name under which coverage is counted: a journal that counts from nothing has another."""
        with self._transaction() as connection:
            known = read_fact(connection, "device")
            if known is None:
                known = str(uuid.uuid4())
                put_fact(connection, "device", known)
            return known

    # The session

    def read_state(self) -> SavedState | None:
        with self._transaction() as connection:
            return read_state(connection)

    def forget_state(self) -> None:
        with self._transaction() as connection:
            connection.execute("DELETE FROM session_state")

    def last_epoch(self) -> Epoch | None:
        with self._transaction() as connection:
            return max(read_epochs(connection), key=lambda epoch: epoch.id, default=None)

    def epochs(self) -> dict[int, Epoch]:
        with self._transaction() as connection:
            return {epoch.id: epoch for epoch in read_epochs(connection)}

    def begin_epoch(self, epoch: Epoch) -> Epoch:
        """Store one, with the number that it gets here, and forget those that nothing refers to."""
        with self._transaction() as connection:
            connection.execute(
                "DELETE FROM epoch WHERE id NOT IN (SELECT epoch FROM visit UNION SELECT epoch FROM minute"
                " UNION SELECT epoch FROM session_state)"
            )
            (last,) = connection.execute(
                "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'epoch'"
            ).fetchone()
            numbered = replace(epoch, id=last + 1)
            put_epoch(connection, numbered)
        return self.continue_epoch(numbered)

    def continue_epoch(self, epoch: Epoch) -> Epoch:
        self._epoch = epoch
        return epoch

    def open_visits(self) -> dict[str, int]:
        """The epoch of each visit that has not ended, by its id."""
        with self._transaction() as connection:
            rows = connection.execute("SELECT id, epoch FROM visit WHERE NOT ended").fetchall()
        return {row["id"]: row["epoch"] for row in rows}

    def end_visits(self, ids: Iterable[str]) -> int:
        """End visits as they are, as nothing goes on with them; how many."""
        with self._transaction() as connection:
            return sum(end_visit(connection, visit_id) for visit_id in ids)

    # What is recorded

    def write(self, entry: Entry) -> None:
        """All of it, or nothing: then it raises JournalUnwritable, and the caller keeps it and tries again."""
        with self._transaction() as connection:
            self._require_epoch(connection)
            if entry.state is not None:
                write_state(connection, entry.state)
            for visit in entry.visits.values():
                write_visit(connection, visit)
            for slot, sums in entry.slots.items():
                add_coverage(connection, slot, sums)
            for (epoch, minute), sums in entry.minutes.items():
                add_minute(connection, epoch, minute, sums)
            count_dropped(connection, entry.dropped)

    def date(self, *, boot: str, true_ms: int, now_ms: int) -> Counter[str]:
        """The time is known: date what waits for it. Returns what can't be dated, by kind."""
        with self._transaction() as connection:
            lost = date_rows(connection, boot=boot, true_ms=true_ms, now_ms=now_ms)
            count_dropped(connection, Counter({(what, CLOCK_UNKNOWN): count for what, count in lost.items()}))
        return lost

    def bound(self, *, now_ms: int | None, retention_days: int | None) -> Losses:
        """Erase what is too old, and the oldest of what is too much; returns what was dropped."""
        dropped: Losses = Counter()
        if now_ms is not None and retention_days:
            with self._transaction() as connection:
                dropped += expire_old(connection, now_ms - retention_days * 86_400_000)
        while self._used_bytes() > FILLED * self._file.limit_bytes:
            with self._transaction() as connection:
                more = drop_oldest(connection)
            if not more:
                break
            dropped += more
        if dropped:
            self._shrink()
        return dropped

    # What is sent

    def waiting_visits(self, limit: int) -> list[WaitingVisit]:
        """The oldest that are dated and not acknowledged; damaged ones are dropped, with a count."""
        with self._transaction() as connection:
            rows = connection.execute(
                "SELECT * FROM visit WHERE offset_ms IS NOT NULL AND revision > sent ORDER BY sequence LIMIT ?",
                (limit,),
            ).fetchall()
            found = {row["sequence"]: read_waiting(row) for row in rows}
            damaged = [(sequence,) for sequence, visit in found.items() if visit is None]
            connection.executemany("DELETE FROM visit WHERE sequence = ?", damaged)
            count_dropped(connection, Counter({("visits", "damaged"): len(damaged)}))
        return [visit for visit in found.values() if visit is not None]

    def waiting_slots(self, limit: int) -> list[WaitingSlot]:
        """The same for coverage."""
        with self._transaction() as connection:
            rows = connection.execute(
                "SELECT * FROM coverage WHERE revision > sent AND body IS NOT NULL ORDER BY slot LIMIT ?", (limit,)
            ).fetchall()
            found = {row["slot"]: wire_of_slot(row) for row in rows}
            damaged = [(slot,) for slot, one in found.items() if one is None]
            connection.executemany("DELETE FROM coverage WHERE slot = ?", damaged)
            count_dropped(connection, Counter({("slots", "damaged"): len(damaged)}))
        return [one for one in found.values() if one is not None]

    def acknowledge(
        self,
        visits: Iterable[tuple[str, int]],
        slots: Iterable[tuple[int, int]],
        *,
        dropped: Losses,
        current_slot: int | None,
    ) -> None:
        """The server has taken, or permanently refused, these revisions: erase what is complete."""
        with self._transaction() as connection:
            for visit_id, revision in visits:
                connection.execute("DELETE FROM visit WHERE id = ? AND revision = ? AND ended", (visit_id, revision))
                connection.execute("UPDATE visit SET sent = max(sent, ?) WHERE id = ?", (revision, visit_id))
            connection.executemany(
                "UPDATE coverage SET sent = max(sent, ?) WHERE slot = ?", [(number, slot) for slot, number in slots]
            )
            if current_slot is not None:
                erase_slots(connection, current_slot)
            count_dropped(connection, dropped)
        self._shrink()

    # What is known besides

    def remember(self, name: str, value: str) -> None:
        with self._transaction() as connection:
            put_fact(connection, name, value)

    def recall(self, name: str) -> str | None:
        with self._transaction() as connection:
            return read_fact(connection, name)

    def dropped(self) -> dict[str, dict[str, int]]:
        """How much was lost since the journal began, by what and why."""
        with self._transaction() as connection:
            rows = connection.execute("SELECT * FROM dropped ORDER BY what, reason").fetchall()
        said: dict[str, dict[str, int]] = {}
        for row in rows:
            said.setdefault(row["what"], {})[row["reason"]] = row["count"]
        return said

    def sizes(self) -> dict[str, int]:
        """How much waits: visits, those without a date, bytes of the file, and when the oldest began."""
        with self._transaction() as connection:
            row = connection.execute(
                "SELECT count(*) AS visits, coalesce(sum(offset_ms IS NULL), 0) AS undated,"
                " min(began_ms + offset_ms) AS oldest_ms FROM visit WHERE revision > sent"
            ).fetchone()
        oldest = {} if row["oldest_ms"] is None else {"oldest_ms": int(row["oldest_ms"])}
        return {"visits": row["visits"], "undated": row["undated"], "bytes": self._file.file_bytes(), **oldest}

    def is_handed_over(self) -> bool:
        """Whether nothing waits for the server, and no visit is open."""
        with self._transaction() as connection:
            row = connection.execute(
                "SELECT EXISTS (SELECT 1 FROM visit) OR EXISTS (SELECT 1 FROM minute)"
                " OR EXISTS (SELECT 1 FROM coverage WHERE revision > sent AND body IS NOT NULL)"
            ).fetchone()
        return not row[0]

    def close(self) -> None:
        with self._lock:
            self._file.close()

    def erase(self) -> None:
        """Overwrite and delete it; then it is closed."""
        with self._lock:
            self._file.erase()
            self._file.close()

    def _used_bytes(self) -> int:
        with self._lock, self._repaired():
            return self._file.used_bytes()

    def _shrink(self) -> None:
        with self._lock, self._repaired():
            self._file.shrink()

    def _require_epoch(self, connection: sqlite3.Connection) -> None:
        """It is missing where the file could not be written, or was damaged, when it began."""
        if self._epoch is not None:
            put_epoch(connection, self._epoch, is_new=True)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            with self._repaired():
                self._file.connection  # noqa: B018 (a damaged file shows when it is opened)
            with self._repaired(), self._file.transaction() as connection:
                yield connection

    @contextmanager
    def _repaired(self) -> Iterator[None]:
        """A damaged file is replaced at once; what was to be done fails, and its caller does it again."""
        try:
            yield
        except JournalDamaged as error:
            self._rebuild(error)
            raise JournalUnwritable(f"The journal was damaged ({error}) and has begun again.") from error

    def _rebuild(self, error: JournalDamaged) -> None:
        self.damages += 1
        self._file.disconnect()
        found = salvage(self._file.path)
        self._file.erase()
        try:
            with self._file.transaction() as connection:
                found.write(connection)
                self._require_epoch(connection)
        except JournalDamaged as again:  # the disk itself is at fault
            raise JournalUnwritable(str(again)) from again
        finally:
            self._warn("journal_damaged", _in_words(error, found))


def _in_words(error: JournalDamaged, found: Salvaged) -> str:
    return (
        f"The journal was damaged ({error}), and a new one has begun. {len(found.visits)} visits that could still be "
        "read are kept; others that had not been sent are lost."
    )
