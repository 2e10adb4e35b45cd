"""Tells systemd how it goes: ready, still alive, and a line for `systemctl status`. Without systemd, nothing."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from contextlib import suppress


class Systemd:
    """The socket that systemd names (sd_notify)."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        address = environment.get("NOTIFY_SOCKET", "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self._socket: socket.socket | None = None
        if self._address and hasattr(socket, "AF_UNIX"):
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self._socket.setblocking(False)

    def tell(self, *lines: str) -> None:
        """Such as READY=1, STATUS=..., WATCHDOG=1, STOPPING=1."""
        if self._socket is None:
            return
        with suppress(OSError):  # it can't be told; the camera matters more
            self._socket.sendto("\n".join(lines).encode(), self._address)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
