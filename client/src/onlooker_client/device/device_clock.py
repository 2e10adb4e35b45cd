"""The device's clock: steady seconds since the start of the machine, and what they are in true time once that is known.

A device without a battery starts in 1970, or wherever it stopped. So frames are stamped with the seconds since the
start of the machine plus an offset that stays the same, and nothing is dated before the true time is known: the kernel
says that it is synchronised, or a server says what time it is. Setting the wall clock changes nothing.
"""

from __future__ import annotations

import ctypes
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Protocol

STEP_MS = 2_000
"""A true time that differs by less is drift: what was dated stays as it is."""
DISAGREEMENT_MS = 10_000
"""Where kernel and server differ by more, the server is right: it judges what is too old and what is in the future."""
WALL_MS = 250
"""How far a wall clock that is right may be from the server's."""
EARLIEST_S = 1_767_225_600
"""The first of January 2026: a clock that says less has lost its battery."""
_TIME_ERROR = 5
_TIMEX_BYTES = 512
_SYNCHRONIZED = Path("/run/systemd/timesync/synchronized")
_BATTERY = Path("/sys/class/rtc/rtc0/since_epoch")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class MachineClocks(Protocol):
    """The clocks of a machine; all of them in seconds."""

    def monotonic_s(self) -> float: ...

    def boot_s(self) -> float:
        """Since the machine started, with the time that it slept."""

    def wall_s(self) -> float: ...

    def is_synchronised(self) -> bool: ...

    def battery_s(self) -> float | None:
        """What the clock that runs on a battery says; None where there is none."""

    def boot_id(self) -> str: ...


class SystemClocks:
    """The clocks of this machine."""

    def monotonic_s(self) -> float:
        return time.monotonic()

    def boot_s(self) -> float:
        return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()

    def wall_s(self) -> float:
        return time.time()

    def is_synchronised(self) -> bool:
        """Read only; where a service may not ask the kernel, systemd's mark of this start is as good."""
        with suppress(OSError, AttributeError):
            state = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
            if state >= 0:
                return bool(state != _TIME_ERROR)
        return _SYNCHRONIZED.exists()

    def battery_s(self) -> float | None:
        with suppress(OSError, ValueError):
            return float(_BATTERY.read_text(encoding="ascii"))
        return None

    def boot_id(self) -> str:
        with suppress(OSError):
            return _BOOT_ID.read_text(encoding="ascii").strip()
        # Elsewhere than on Linux: the moment of the start, in steps that a clock that is set right does not leave.
        return f"started-{round((time.time() - time.monotonic()) / 600)}"


class DeviceClock:
    """Any thread may use it."""

    def __init__(self, clocks: MachineClocks | None = None) -> None:
        self._clocks = clocks or SystemClocks()
        self._lock = threading.Lock()
        self.boot = self._clocks.boot_id()
        self.session_ms = self.wall_ms()
        """What is added to the milliseconds since the start of the machine to stamp a frame; see `begin`."""
        self._true_ms: int | None = None
        self._server_ms: int | None = None
        self.source = "unknown"
        """Who says the true time: `kernel`, `server`, `before` (an earlier process since this start)."""

    @property
    def true_ms(self) -> int | None:
        """What is added to the milliseconds since the start of the machine for Unix time; None while unknown."""
        return self._true_ms

    def wall_ms(self) -> int:
        """The same by the wall clock, right or wrong."""
        return round((self._clocks.wall_s() - self._clocks.boot_s()) * 1000)

    def battery_ms(self) -> int | None:
        """The same by the clock that runs on a battery; None where there is none, or it has lost the time."""
        said_s = self._clocks.battery_s()
        if said_s is None or said_s < EARLIEST_S:
            return None
        return round((said_s - self._clocks.boot_s()) * 1000)

    def boot_now_ms(self) -> int:
        return round(self._clocks.boot_s() * 1000)

    def monotonic_s(self) -> float:
        return self._clocks.monotonic_s()

    def now_ms(self) -> int | None:
        """Unix time; None while unknown."""
        true_ms = self._true_ms
        return None if true_ms is None else self.boot_now_ms() + true_ms

    def begin(self, session_ms: int, *, known_ms: int | None = None) -> None:
        """Frames are stamped with this offset from now on; `known_ms` is what an earlier process learned."""
        with self._lock:
            self.session_ms = session_ms
            if self._true_ms is None and known_ms is not None:
                self._true_ms, self.source = known_ms, "before"

    def stamp(self, monotonic_s: float) -> float:
        """The time of a frame in seconds: steady, and Unix time where that was known when the agent started."""
        slept_s = self._clocks.boot_s() - self._clocks.monotonic_s()
        return round(monotonic_s + slept_s + self.session_ms / 1000, 3)

    def look(self) -> bool:
        """Ask the kernel; whether what is known has changed."""
        if not self._clocks.is_synchronised():
            return False
        offset_ms = self.wall_ms()
        with self._lock:
            if self._server_ms is not None and abs(offset_ms - self._server_ms) > DISAGREEMENT_MS:
                return False
            return self._adopt(offset_ms, "kernel", STEP_MS)

    def learn(self, server_s: float, *, asked_s: float, answered_s: float) -> bool:
        """A server said its time, between two moments of `boot_s`; whether what is known has changed.

        A slow answer says it roughly: where the wall clock is within that, it is right, and says it better.
        """
        within_ms = (answered_s - asked_s) * 500
        if not 0 <= within_ms <= DISAGREEMENT_MS:
            return False
        offset_ms, wall_ms = round((server_s - (asked_s + answered_s) / 2) * 1000), self.wall_ms()
        if abs(wall_ms - offset_ms) <= within_ms + WALL_MS:
            offset_ms = wall_ms
        with self._lock:
            self._server_ms = offset_ms
            return self._adopt(offset_ms, "server", max(STEP_MS, 2 * within_ms))

    def boot_s(self) -> float:
        return self._clocks.boot_s()

    def _adopt(self, offset_ms: int, source: str, least_ms: float) -> bool:
        if self._true_ms is not None and abs(offset_ms - self._true_ms) <= least_ms:
            return False
        self._true_ms, self.source = offset_ms, source
        return True
