"""The order of a session's requests over all gateways of a machine: the one that came first goes first."""

import asyncio
import os
import struct
import time
from pathlib import Path
from typing import Any

from onlooker.errors import overloaded
from onlooker.gateway.queue.session_order import session_number
from onlooker.streams.shared_table import BUCKETS, WAYS, SharedFile, bucket_of

SHORTEST_PAUSE_S, LONGEST_PAUSE_S = 0.001, 0.02
LIVES_AT = 1 << 40
"""A gateway holds the lock on this byte plus its process id for as long as it lives."""


class MachineTurns:
    """Each gateway writes down its oldest request of a session; none goes on while another's is older.

    An entry is a session's number, the process id of a gateway, and when that request came. Where there is no room for
    it, the compare-and-set of the session's state still keeps it exact.
    """

    _bucket = struct.Struct(f"={'QQd' * WAYS}")
    _entry = struct.Struct("=QQd")

    def __init__(self, path: Path, *, wait_limit_s: float, buckets: int = BUCKETS) -> None:
        self._buckets = buckets
        self._wait_limit_s = wait_limit_s
        self._file = SharedFile(path, buckets * self._bucket.size)
        self._owner = os.getpid()
        self._file.lock(LIVES_AT + self._owner, 1)
        self._arrivals: dict[str, list[float]] = {}
        self._forget_predecessor()

    def arrive(self, session: str) -> tuple[float, bool]:
        """Note a request. Returns when it came, which is its place in the order, and whether it may go on at once."""
        arrivals = self._arrivals.get(session)
        if arrivals:
            arrivals.append(time.monotonic())
            return arrivals[-1], False
        number, start = self._find(session)
        locked = self._file.lock(start, self._bucket.size)
        arrived_at = time.monotonic()
        entries = self._bucket.unpack_from(self._file.memory, start)
        self._write(start, entries, (number, self._owner, arrived_at))
        if locked:
            self._file.unlock(start, self._bucket.size)
        self._arrivals[session] = [arrived_at]
        return arrived_at, number not in entries[::3]

    async def await_turn(self, session: str, arrived_at: float) -> None:
        """Until no other gateway has an older request of the session."""
        began = time.monotonic()
        while self._has_older(session, arrived_at):
            waited_s = time.monotonic() - began
            if waited_s > self._wait_limit_s:
                raise overloaded("Requests of this session wait already. Send the next after an answer.")
            await asyncio.sleep(min(max(waited_s / 8, SHORTEST_PAUSE_S), LONGEST_PAUSE_S))

    def leave(self, session: str, arrived_at: float) -> None:
        """A request has ended, or waits no longer."""
        arrivals = self._arrivals[session]
        was_oldest = arrivals[0] == arrived_at
        arrivals.remove(arrived_at)
        if not arrivals:
            del self._arrivals[session]
        if not was_oldest:
            return
        number, start = self._find(session)
        entry = (number, self._owner, arrivals[0]) if arrivals else (0, 0, 0.0)
        locked = self._file.lock(start, self._bucket.size)
        entries = self._bucket.unpack_from(self._file.memory, start)
        self._write(start, entries, entry, own=number)
        if locked:
            self._file.unlock(start, self._bucket.size)

    def _find(self, session: str) -> tuple[int, int]:
        """A session's number, where 0 is a free entry, and where its bucket starts."""
        number = session_number(session) or 1
        return number, bucket_of(number, self._buckets) * self._bucket.size

    def _write(self, start: int, entries: tuple[Any, ...], entry: tuple[int, int, float], own: int = 0) -> None:
        """In the place of this gateway's entry of session `own`, or of one that is free."""
        place = next((place for place in range(WAYS) if self._is_at(entries, place, own)), None)
        if place is None and entry[0]:
            place = next((place for place in range(WAYS) if not self._lives(entries[3 * place + 1])), None)
        if place is not None:
            self._entry.pack_into(self._file.memory, start + place * self._entry.size, *entry)

    def _is_at(self, entries: tuple[Any, ...], place: int, own: int) -> bool:
        return entries[3 * place] == own and (not own or entries[3 * place + 1] == self._owner)

    def _has_older(self, session: str, arrived_at: float) -> bool:
        number, start = self._find(session)
        locked = self._file.lock(start, self._bucket.size)
        entries = self._bucket.unpack_from(self._file.memory, start)
        if locked:
            self._file.unlock(start, self._bucket.size)
        others = [
            (at, owner)
            for known, owner, at in zip(entries[::3], entries[1::3], entries[2::3], strict=True)
            if known == number and owner != self._owner
        ]
        return any(other < (arrived_at, self._owner) and self._lives(other[1]) for other in others)

    def _lives(self, owner: int) -> bool:
        """Whether that gateway runs: no other process can have its lock."""
        if owner == self._owner:
            return True
        byte = LIVES_AT + owner % LIVES_AT
        if not self._file.try_lock(byte, 1):
            return True
        self._file.unlock(byte, 1)
        return False

    def _forget_predecessor(self) -> None:
        """An earlier process that had the same id."""
        memory = self._file.memory
        for start in range(0, self._buckets * self._bucket.size, self._entry.size):
            if self._entry.unpack_from(memory, start)[1] == self._owner:
                self._entry.pack_into(memory, start, 0, 0, 0.0)

    def close(self) -> None:
        self._file.close()
