"""Counts every captured frame, and every drop with a reason from a closed list."""

from __future__ import annotations

import enum
import threading
from collections import Counter
from dataclasses import dataclass, field


class Drop(str, enum.Enum):
    """A reason; its value is what logs and the health report say."""

    BUSY = "busy"
    """Frames in flight fill what the link and the server, or this device, can take; a newer one comes soon."""
    BANDWIDTH_CAP = "bandwidth_cap"
    """Sending more would exceed the allowed kilobytes a second."""
    SERVER_BUSY = "server_busy"
    """The server said when to try again, and it is not time yet."""
    BAD_CREDENTIALS = "bad_credentials"
    """The server rejects Login or Password, and is tried again only now and then."""
    QUOTA_EXCEEDED = "quota_exceeded"
    """The stream's month of computed video is used up."""
    STREAM_DISABLED = "stream_disabled"
    """The stream is switched off in the console."""
    CLOSED = "closed"
    """Outside the stream's opening hours nothing is sent or computed."""
    UNREACHABLE = "unreachable"
    """No connection could be made; or the link is down, and the next attempt is not due yet."""
    CONNECTION_LOST = "connection_lost"
    """It was sent, and the connection broke before its answer came."""
    TIMED_OUT = "timed_out"
    """It was sent, and no answer came in time."""
    OVERTAKEN = "overtaken"
    """A newer frame was answered first, so this one was given up."""
    REFUSED = "refused"
    """For any other reason that the server gave."""
    COMPUTATION_FAILED = "computation_failed"
    """It was accepted but could not be computed."""
    BROKEN_PICTURE = "broken_picture"
    """The camera gave something that can't be encoded as JPEG."""
    STOPPED = "stopped"
    """In flight when the agent was told to stop."""


@dataclass(frozen=True)
class Counts:
    """At one moment: grabbed = idle + answered + dropped + in_flight."""

    grabbed: int
    idle: int
    """Not sent, as nobody was there and nothing moved."""
    answered: int
    dropped: dict[str, int]
    in_flight: int
    sent_bytes: int

    @property
    def adds_up(self) -> bool:
        return self.grabbed == self.idle + self.answered + sum(self.dropped.values()) + self.in_flight


@dataclass
class Tally:
    """Counts from any thread."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _grabbed: int = 0
    _idle: int = 0
    _answered: int = 0
    _in_flight: int = 0
    _dropped: Counter[Drop] = field(default_factory=Counter)
    _sent_bytes: int = 0

    def skip_idle(self) -> None:
        with self._lock:
            self._grabbed += 1
            self._idle += 1

    def send(self, size_bytes: int) -> None:
        """It is in flight now; `answer` or `lose` ends that."""
        with self._lock:
            self._grabbed += 1
            self._in_flight += 1
            self._sent_bytes += size_bytes

    def answer(self) -> None:
        with self._lock:
            self._in_flight -= 1
            self._answered += 1

    def lose(self, reason: Drop) -> None:
        """One that was in flight."""
        with self._lock:
            self._in_flight -= 1
            self._dropped[reason] += 1

    def drop(self, reason: Drop) -> None:
        """One that was never sent."""
        with self._lock:
            self._grabbed += 1
            self._dropped[reason] += 1

    @property
    def dropped(self) -> int:
        """For whatever reason."""
        with self._lock:
            return sum(self._dropped.values())

    def read(self) -> Counts:
        with self._lock:
            dropped = {reason.value: count for reason, count in sorted(self._dropped.items())}
            return Counts(
                grabbed=self._grabbed,
                idle=self._idle,
                answered=self._answered,
                dropped=dropped,
                in_flight=self._in_flight,
                sent_bytes=self._sent_bytes,
            )
