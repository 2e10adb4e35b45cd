"""Files that all processes of a machine map into their memory; in one of them, a number for each of many keys."""

import fcntl
import mmap
import os
import struct
import time
from pathlib import Path

from onlooker.settings import SettingsError, variable_name
from onlooker.streams.rate_limit import Change

WAYS = 8
"""Entries of a bucket; the one with the smallest number makes room."""
BUCKETS = 8192
LOCK_LIMIT_S = 0.05
"""A holder needs microseconds; on a busy machine it may have to wait for a core in between."""
TRY_AGAIN_S = 0.0002
_WORD = (1 << 64) - 1
_MIX = 0x9E3779B97F4A7C15


class SharedFile:
    """Memory that is shared by the processes that open the same file, and locks on parts of it.

    The kernel releases the locks of a process that dies.
    """

    def __init__(self, path: Path, size_bytes: int) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            os.posix_fallocate(self.descriptor, 0, size_bytes)  # a page without room on the disk would end the process
        except OSError as error:
            raise SettingsError(f"{path} can't be written: {error.strerror}. See {variable_name('home')}.") from None
        self.memory = mmap.mmap(self.descriptor, size_bytes)

    def lock(self, start: int, length: int) -> bool:
        """False if the holder does not go on: a process that is stopped must not stop the others."""
        give_up_at = 0.0
        while not self.try_lock(start, length):
            now = time.monotonic()
            give_up_at = give_up_at or now + LOCK_LIMIT_S
            if now > give_up_at:
                return False
            time.sleep(TRY_AGAIN_S)
        return True

    def try_lock(self, start: int, length: int) -> bool:
        try:
            fcntl.lockf(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, length, start)
        except BlockingIOError:
            return False
        return True

    def unlock(self, start: int, length: int) -> None:
        fcntl.lockf(self.descriptor, fcntl.LOCK_UN, length, start)

    def close(self) -> None:
        self.memory.close()
        os.close(self.descriptor)


def bucket_of(key: int, buckets: int) -> int:
    """Which of so many buckets a key belongs to."""
    return ((key * _MIX & _WORD) >> 32) % buckets


class SharedTable:
    """Numbers by key. What a file contains is never trusted: any bytes are some numbers."""

    _bucket = struct.Struct(f"={'Qd' * WAYS}")
    _entry = struct.Struct("=Qd")

    def __init__(self, path: Path, *, buckets: int = BUCKETS) -> None:
        self._buckets = buckets
        self._file = SharedFile(path, buckets * self._bucket.size)

    def get(self, key: int) -> float:
        """The number of a key; 0 if it has none."""
        stored, start = self._find(key)
        entries = self._bucket.unpack_from(self._file.memory, start)
        keys = entries[::2]
        return float(entries[2 * keys.index(stored) + 1]) if stored in keys else 0.0

    def update(self, key: int, change: Change) -> None:
        """Replace a key's number; nobody else does so meanwhile."""
        stored, start = self._find(key)
        memory, size = self._file.memory, self._bucket.size
        locked = self._file.lock(start, size)
        try:
            entries = self._bucket.unpack_from(memory, start)
            keys, numbers = entries[::2], entries[1::2]
            if stored in keys:
                place = keys.index(stored)
                number = numbers[place]
            else:
                place, number = numbers.index(min(numbers)), 0.0
            self._entry.pack_into(memory, start + place * self._entry.size, stored, change(number))
        finally:
            if locked:
                self._file.unlock(start, size)

    def _find(self, key: int) -> tuple[int, int]:
        """The key as it is stored, where 0 is a free entry, and where its bucket starts."""
        stored = (key + 1) & _WORD or 1
        return stored, bucket_of(stored, self._buckets) * self._bucket.size

    def close(self) -> None:
        self._file.close()
