"""One HTTP connection that is kept open: a camera asks ten times a second, so every microsecond here counts."""

from __future__ import annotations

import http.client
import select
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from onlooker_client.errors import NotSent, TimedOut
from onlooker_client.wire.address import Address
from onlooker_client.wire.response_parser import ANSWER_LIMIT_BYTES, AnswerReader
from onlooker_client.wire.sockets import Proxy, dial, in_words, link_fault

PIECE_BYTES = 64 * 1024
IDLE_LIMIT_S = 50.0
"""The server closes a connection that was idle for 75 s: before that, so that no request meets the end of one."""
__all__ = ["Address", "Answer", "Connection"]


@dataclass(frozen=True)
class Answer:
    """What the server answered; names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Connection:
    """Sends one request after another; `cancel` may come from another thread."""

    def __init__(self, address: Address, trust: ssl.SSLContext, *, proxy: Proxy | None = None) -> None:
        self._address = address
        self._trust = trust
        self._proxy = proxy
        self._opened: socket.socket | None = None
        self._used_at = 0.0
        self._lock = threading.Lock()
        self._is_cancelled = False

    @property
    def is_fresh(self) -> bool:
        """Whether the next request opens it again: it was never open, was idle for long, or the server closed it."""
        opened = self._opened
        if opened is None or time.monotonic() - self._used_at > IDLE_LIMIT_S:
            return True
        return _is_readable(opened)  # nothing was asked, so this is the end, not an answer

    def exchange(
        self,
        method: str,
        path: str,
        headers: bytes,
        body: bytes = b"",
        *,
        timeout_s: float,
        limit_bytes: int = ANSWER_LIMIT_BYTES,
    ) -> Answer:
        """Send a request and read its answer, all within the time; `headers` are lines that end with CRLF."""
        deadline = time.monotonic() + timeout_s
        if self._opened is not None and self.is_fresh:
            self.close()
        opened = self._opened or self._open(timeout_s)
        head = f"{method} {path} HTTP/1.1\r\nHost: {self._address.authority}\r\nContent-Length: {len(body)}\r\n"
        try:
            is_sent = self._send(opened, b"%s%s\r\n%s" % (head.encode("ascii"), headers, body), deadline)
            answer = self._read(opened, method, deadline, is_sent=is_sent, limit_bytes=limit_bytes)
            self._used_at = time.monotonic()
            return answer
        except socket.timeout:
            self.close()
            raise TimedOut(f"{self._address} did not answer within {timeout_s:g} s.") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            raise link_fault(self._address, error) from None
        except BaseException:  # such as Ctrl-C: half an exchange is no use to the next one
            self.close()
            raise

    def cancel(self) -> None:
        """End the exchange in progress, and any later one."""
        with self._lock:
            self._is_cancelled = True
            opened = self._opened
        if opened is not None:
            with suppress(OSError):  # it may have ended by itself
                # Not SSLSocket's own, which drops its encryption first: the other thread might write in the clear.
                socket.socket.shutdown(opened, socket.SHUT_RDWR)

    def close(self) -> None:
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()

    def _open(self, timeout_s: float) -> socket.socket:
        if self._is_cancelled:
            raise NotSent("The connection was closed.")
        opened = dial(self._address, self._trust, proxy=self._proxy, timeout_s=timeout_s)
        with self._lock:
            self._opened = opened
            if self._is_cancelled:
                self._opened = None
                opened.close()
                raise NotSent("The connection was closed while it was being opened.")
        return opened

    def _send(self, opened: socket.socket, request: bytes, deadline: float) -> bool:
        """Whether all of it went out; a server that refuses early answers and closes before it has read everything."""
        rest = memoryview(request)
        try:
            while rest:
                opened.settimeout(_left_s(deadline))
                rest = rest[opened.send(rest[:PIECE_BYTES]) :]
        except (BrokenPipeError, ConnectionResetError, ssl.SSLEOFError, ssl.SSLZeroReturnError):
            return False
        return True

    def _read(self, opened: socket.socket, method: str, deadline: float, *, is_sent: bool, limit_bytes: int) -> Answer:
        def receive() -> bytes:
            # Each wait is as long as what is left: who sends a byte now and then does not hold anybody up.
            opened.settimeout(_left_s(deadline))
            return opened.recv(PIECE_BYTES)

        reader = AnswerReader(receive, limit_bytes=limit_bytes)
        try:
            answer = reader.read(method)
        except (OSError, http.client.HTTPException) as error:
            if is_sent or isinstance(error, socket.timeout):
                raise
            raise NotSent(f"The connection to {self._address} broke: {in_words(error)}.") from None
        if answer.is_last or reader.has_more or not is_sent:
            self.close()
        return Answer(answer.status, answer.headers, answer.body)


def _left_s(deadline: float) -> float:
    left_s = deadline - time.monotonic()
    if left_s <= 0:
        raise socket.timeout
    return left_s


def _is_readable(opened: socket.socket) -> bool:
    if hasattr(select, "poll"):  # select() has no room for the many files of a big program
        poller = select.poll()
        poller.register(opened, select.POLLIN)
        return bool(poller.poll(0))
    return bool(select.select([opened], [], [], 0)[0])
