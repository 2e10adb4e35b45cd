"""The journal's file: SQLite, for one agent at a time. Locked, checked, rebuilt where it is damaged, erased."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from onlooker_client.errors import ConfigError

try:
    import fcntl
except ImportError:  # not on Windows, where SQLite's own lock has to do
    fcntl = None  # type: ignore[assignment]

NAME = "journal.db"
LOCK_NAME = "journal.lock"
PAGE_BYTES = 4096
WAL_PAGES = 256
"""Pages in the log before they are moved into the file: what was erased is in the log no longer than that."""
SIDES = ("", "-wal", "-shm", "-journal")
SCHEMA_VERSION = 1
SCHEMA = """
CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL, crc INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE epoch (
    id INTEGER PRIMARY KEY AUTOINCREMENT, boot TEXT NOT NULL, began_ms INTEGER NOT NULL,
    session_ms INTEGER NOT NULL, battery_ms INTEGER, true_ms INTEGER, crc INTEGER NOT NULL);
CREATE TABLE session_state (
    id INTEGER PRIMARY KEY CHECK (id = 1), epoch INTEGER NOT NULL, at_ms INTEGER NOT NULL,
    body BLOB NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE visit (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, epoch INTEGER NOT NULL, offset_ms INTEGER,
    began_ms INTEGER NOT NULL, revision INTEGER NOT NULL, sent INTEGER NOT NULL DEFAULT 0,
    ended INTEGER NOT NULL, body TEXT NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE coverage (
    slot INTEGER PRIMARY KEY, revision INTEGER NOT NULL, sent INTEGER NOT NULL DEFAULT 0,
    body TEXT, crc INTEGER NOT NULL);
CREATE TABLE minute (
    epoch INTEGER NOT NULL, minute INTEGER NOT NULL, body TEXT NOT NULL, crc INTEGER NOT NULL,
    PRIMARY KEY (epoch, minute)) WITHOUT ROWID;
CREATE TABLE dropped (what TEXT NOT NULL, reason TEXT NOT NULL, count INTEGER NOT NULL,
    PRIMARY KEY (what, reason)) WITHOUT ROWID;
"""


class JournalUnwritable(Exception):
    """The disk is full, read-only or broken: what was to be written stays with the caller, who tries again."""


class JournalDamaged(Exception):
    """The file is no longer a journal."""


def default_folder(client_id: str, environment: Mapping[str, str] = os.environ) -> Path:
    """Where a stream's journal is: the folder that systemd gives to the service, or the user's own for state."""
    given = environment.get("STATE_DIRECTORY", "").split(":")[0]
    if given:
        return Path(given) / client_id
    state = environment.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "onlooker-agent" / client_id


class JournalFile:
    """One connection; its user takes care that one thread at a time is in it."""

    def __init__(self, folder: Path, *, limit_bytes: int) -> None:
        self.folder = folder
        self.path = folder / NAME
        self.limit_bytes = limit_bytes
        _make_folder(folder)
        self._lock = _lock(folder)
        self._connection: sqlite3.Connection | None = None

    @property
    def connection(self) -> sqlite3.Connection:
        """Opened where it is not; raises JournalDamaged or JournalUnwritable."""
        if self._lock.closed:  # another agent may have it
            raise JournalUnwritable("The journal is closed.")
        if self._connection is None:
            with _explained():
                self._connection = _connect(self.path, self.limit_bytes)
                self._connection.row_factory = sqlite3.Row
                self._connection.text_factory = _read_text
        return self._connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, on the disk when it ends; raises JournalDamaged or JournalUnwritable."""
        connection = self.connection
        with _explained():
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # SQLite may have done it by itself
                    connection.execute("ROLLBACK")
                raise

    def used_bytes(self) -> int:
        """What the rows take, without pages that are free."""
        with _explained():
            (pages,) = self.connection.execute("PRAGMA page_count").fetchone()
            (free,) = self.connection.execute("PRAGMA freelist_count").fetchone()
        return int(pages - free) * PAGE_BYTES

    def file_bytes(self) -> int:
        return sum(side.stat().st_size for side in self._sides() if side.exists())

    def shrink(self) -> None:
        """Give free pages back and empty the log: nothing that was erased is left in either."""
        with _explained():
            self.connection.executescript("PRAGMA incremental_vacuum")  # `execute` would give back a single page
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def erase(self) -> None:
        """Overwrite and delete; `connection` begins a new one."""
        self.disconnect()
        for side in self._sides():
            with suppress(OSError):
                _overwrite(side)
            side.unlink(missing_ok=True)

    def close(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self.disconnect()
        self._lock.close()

    def disconnect(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = None

    def _sides(self) -> list[Path]:
        return [self.path.with_name(NAME + side) for side in SIDES]


@contextmanager
def _explained() -> Iterator[None]:
    """SQLite's errors in two kinds: what a new file cures, and what time may cure."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "no such" in str(error) or "malformed" in str(error):
            raise JournalDamaged(str(error)) from error
        raise JournalUnwritable(str(error)) from error
    except sqlite3.DatabaseError as error:
        raise JournalDamaged(str(error)) from error
    except OSError as error:
        raise JournalUnwritable(error.strerror or str(error)) from error


def _connect(path: Path, limit_bytes: int) -> sqlite3.Connection:
    path.touch(mode=0o600)
    path.chmod(0o600)
    connection = sqlite3.connect(str(path), timeout=5.0, isolation_level=None, check_same_thread=False)
    try:
        # With this lock the log needs no file of shared memory, which a full disk could not hold.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON").fetchall()
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}").fetchall()
        connection.execute(f"PRAGMA max_page_count = {max(limit_bytes // PAGE_BYTES, 64)}").fetchall()
        _prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _read_text(content: bytes) -> str:
    """Text that is damaged is judged by its checksum."""
    return content.decode(errors="replace")


def _prepare(connection: sqlite3.Connection) -> None:
    """A file of another layout counts as damaged: what can be read of it goes into a new one."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == 0:
        connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT")
        return
    if version != SCHEMA_VERSION:
        raise sqlite3.DatabaseError(f"layout {version} is not known to this release")
    found = [text for (text,) in connection.execute("PRAGMA integrity_check(1)")]
    if found != ["ok"]:
        raise sqlite3.DatabaseError(str(found[:1]))
    tables = {text for (text,) in connection.execute("SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")}
    if tables != {text.strip() for text in SCHEMA.split(";") if text.strip()}:
        raise sqlite3.DatabaseError("the tables are not as they were created")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
    except OSError as error:
        raise ConfigError(
            f"The journal's folder {folder} can't be created ({error.strerror}). Choose another one with --journal."
        ) from None


def _lock(folder: Path) -> IO[str]:
    """Held until the process ends, in whatever way."""
    try:
        file = open(folder / LOCK_NAME, "w", encoding="ascii", opener=_private)  # noqa: SIM115 (kept open)
    except OSError as error:
        raise ConfigError(
            f"The journal's folder {folder} can't be written ({error.strerror}). Choose another one with --journal."
        ) from None
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise ConfigError(
                f"Another agent is using the journal in {folder}. Stop it, or give this one a folder of its own: "
                "--journal FOLDER"
            ) from None
    return file


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _overwrite(path: Path) -> None:
    with path.open("r+b") as file:
        left = path.stat().st_size
        while left > 0:
            left -= file.write(bytes(min(left, 1 << 20)))
        file.flush()
        os.fsync(file.fileno())
