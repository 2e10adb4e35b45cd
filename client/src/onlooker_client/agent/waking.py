"""Lets the main thread sleep until its next tick, or until another thread or a signal wakes it."""

from __future__ import annotations

import select
import socket
from contextlib import suppress


class Waking:
    """A pair of sockets: signal handlers may use it too, where a lock could stand still for ever."""

    def __init__(self) -> None:
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)

    def wake(self) -> None:
        with suppress(OSError):  # full: it is awake already; closed: it is over
            self._writer.send(b"\0")

    def wait(self, timeout_s: float) -> None:
        select.select([self._reader], [], [], timeout_s)
        with suppress(OSError):  # nothing there: the time is over
            self._reader.recv(4096)

    def close(self) -> None:
        self._reader.close()
        self._writer.close()
