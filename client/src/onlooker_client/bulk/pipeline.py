"""One connection with several requests under way; the server takes them one by one, and answers in the same order."""

from __future__ import annotations

import http.client
import io
import socket
from contextlib import suppress
from typing import Any

from onlooker_client.errors import LinkError, TimedOut
from onlooker_client.wire.connection import Answer
from onlooker_client.wire.faults import link_fault
from onlooker_client.wire.transport import TIMEOUT_S, Transport

LARGEST_BYTES = 16 * 1024 * 1024
"""Of an answer."""


class Pipeline:
    """HTTP/1.1 pipelining: the way of the bytes is hidden, and nothing can overtake anything."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._opened: socket.socket | None = None
        self._reader: _Reader | None = None
        self._is_cancelled = False

    def send(self, path: str, headers: bytes, body: bytes) -> None:
        """A POST; `receive` gives its answer after those of all earlier ones."""
        head = f"POST {path} HTTP/1.1\r\nHost: {self._transport.address.authority}\r\nContent-Length: {len(body)}\r\n"
        opened = self._opened or self._open()
        try:
            opened.sendall(b"%s%s\r\n%s" % (head.encode("ascii"), headers, body))
        except OSError as error:
            raise self._fault(error) from None

    def receive(self) -> Answer:
        """The next answer. After a failure, everything that has none must be sent again."""
        if self._reader is None:
            raise LinkError("The connection was ended.")
        try:
            answer = http.client.HTTPResponse(self._reader, method="POST")  # type: ignore[arg-type]
            answer.begin()
            body = answer.read(LARGEST_BYTES)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise self._fault(error) from None
        if answer.will_close:
            self.close()
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, body)

    def cancel(self) -> None:
        """End what is under way, and everything later; from another thread."""
        self._is_cancelled = True
        opened = self._opened
        if opened is not None:
            with suppress(OSError):  # it may have ended by itself
                # Not SSLSocket's own, which drops its encryption first: the other thread might write in the clear.
                socket.socket.shutdown(opened, socket.SHUT_RDWR)

    def close(self) -> None:
        opened, self._opened, self._reader = self._opened, None, None
        if opened is not None:
            opened.close()

    def _open(self) -> socket.socket:
        if self._is_cancelled:
            raise LinkError("The connection was ended.")
        self._opened = opened = self._transport.dial(TIMEOUT_S)
        if self._is_cancelled:  # while it was made, when `cancel` had nothing to end yet
            self.close()
            raise LinkError("The connection was ended.")
        opened.settimeout(TIMEOUT_S)
        self._reader = _Reader(socket.SocketIO(opened, "r"))
        return opened

    def _fault(self, error: Exception) -> LinkError:
        self.close()
        if isinstance(error, socket.timeout):
            return TimedOut(f"{self._transport.address} did not answer within {TIMEOUT_S:g} s.")
        return link_fault(self._transport.address, error)


class _Reader(io.BufferedReader):
    """What one answer leaves in it is the beginning of the next: so `http.client` must not close it."""

    def makefile(self, _mode: str) -> Any:
        return self

    def close(self) -> None:
        pass
