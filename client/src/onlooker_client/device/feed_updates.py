"""The newest message of the local feed, and the bounds within which readers get it."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field

ABSENT = b'{"at_ms": null, "watching": false, "people": []}'
"""Until the first frame, and when none has come for a while."""


@dataclass(frozen=True)
class FeedLimits:
    """What one feed spends on its readers."""

    updates_per_second: float = 15.0
    connections: int = 64
    """At once, those included that have not said yet what they want."""
    readers: int = 16
    head_bytes: int = 8192
    head_s: float = 5.0
    """Within which a request must have arrived."""
    stall_s: float = 10.0
    """After which a reader that takes nothing is dropped."""
    heartbeat_s: float = 2.0
    """Without a new frame, the newest message is repeated."""
    stale_s: float = 10.0
    """Without a frame for so long, nobody is known to be in view."""


@dataclass
class FeedCounts:
    """What became of messages and requests."""

    updates: int = 0
    merged: int = 0
    """Frames that came faster than updates may; the next one replaced them."""
    skipped: int = 0
    """Updates that a reader was too slow for, summed over readers."""
    unreadable: int = 0
    """Frames whose result could not be understood."""
    stalled: int = 0
    """Readers that were dropped because they took nothing."""
    readers: int = 0
    """Now."""
    refused: Counter[str] = field(default_factory=Counter)
    """Requests by reason: host, origin, token, malformed, unknown, busy."""


@dataclass(frozen=True)
class FeedUpdate:
    """A message with its number; a reader that missed some sees a gap."""

    number: int
    text: bytes


class FeedUpdates:
    """Belongs to one event loop. Nothing queues up: there is one message, and it is the newest."""

    def __init__(self, limits: FeedLimits, counts: FeedCounts) -> None:
        self._limits, self._counts = limits, counts
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._waiting: bytes | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._free_at_s = self._framed_s = self._loop.time()
        self._is_closed = False
        self.newest = FeedUpdate(0, ABSENT)
        self._release(ABSENT)
        self._free_at_s = self._framed_s  # the first frame need not wait

    def offer(self, text: bytes) -> None:
        """A frame's message: now, or as soon as the rate allows, unless a newer one comes first."""
        self._framed_s = self._loop.time()
        if self._waiting is not None:
            self._counts.merged += 1
            self._waiting = text
        elif self._framed_s >= self._free_at_s:
            self._release(text)
        else:
            self._waiting = text
            self._set_timer(self._loop.call_at(self._free_at_s, self._release_waiting))

    async def after(self, number: int) -> FeedUpdate | None:
        """The newest message, as soon as it is newer than this one; None when the feed closes."""
        while self.newest.number <= number and not self._is_closed:
            await self._changed.wait()
        return None if self._is_closed else self.newest

    def close(self) -> None:
        self._is_closed = True
        self._set_timer(None)
        self._changed.set()

    def _release(self, text: bytes) -> None:
        number = self.newest.number + 1
        self.newest = FeedUpdate(number, b'{"update": %d, ' % number + text[1:])
        self._counts.updates = number
        self._waiting = None
        now_s = self._loop.time()
        self._free_at_s = now_s + 1 / self._limits.updates_per_second
        self._set_timer(self._loop.call_at(now_s + self._limits.heartbeat_s, self._repeat, text))
        self._changed.set()
        self._changed = asyncio.Event()

    def _release_waiting(self) -> None:
        if self._waiting is not None and not self._is_closed:
            self._release(self._waiting)

    def _repeat(self, text: bytes) -> None:
        is_stale = self._loop.time() - self._framed_s >= self._limits.stale_s
        self._release(ABSENT if is_stale else text)

    def _set_timer(self, timer: asyncio.TimerHandle | None) -> None:
        """One at a time: the next release, or the next heartbeat."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = timer
