"""The agent's process: waking its main thread, and replacing it when a driver hangs."""

from __future__ import annotations

import os
import select
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import NoReturn

STUCK_S = 60.0
"""A driver that gave nothing back for so long never will."""
AT_MOST_EVERY_S = 300.0
_REPLACED_AT = "ONLOOKER_AGENT_REPLACED_AT"


class WakeUp:
    """A pair of sockets: signal handlers may use it too, where a lock could block forever."""

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


def should_replace(stuck_s: float, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a driver is stuck, and the last replacement is long enough ago."""
    if stuck_s < STUCK_S:
        return False
    try:
        replaced_at = float(environment.get(_REPLACED_AT, ""))
    except ValueError:
        return True
    return not 0.0 <= time.time() - replaced_at < AT_MOST_EVERY_S


def replace_process() -> NoReturn:
    """Run the same command again, under the same process id, with nothing of the old one left."""
    environment = {**os.environ, _REPLACED_AT: str(time.time())}
    command = getattr(sys, "orig_argv", None) or [sys.executable, *sys.argv]  # Python 3.9 has the second only
    os.closerange(3, 4096)  # a driver's own handles too: a camera can be opened once only
    os.execve(sys.executable, [sys.executable, *command[1:]], environment)  # noqa: S606 (the command is our own)
