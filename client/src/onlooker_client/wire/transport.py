"""Requests to one server: connections that are used again, time limits, and repeats where they are harmless."""

from __future__ import annotations

import base64
import enum
import random
import re
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from typing import Any, Callable

from onlooker_client.errors import ConfigError, LinkError, NotNow, NotSent, NotTrusted, OnlookerError
from onlooker_client.version import VERSION
from onlooker_client.wire.address import Address
from onlooker_client.wire.answers import read_json, read_refusal
from onlooker_client.wire.attachments import Body
from onlooker_client.wire.connection import Answer, Connection
from onlooker_client.wire.sockets import dial, find_proxy

TIMEOUT_S = 40.0
"""A computation may take 30 seconds."""
TRIES = 4
FIRST_PAUSE_S = 0.25
LONGEST_PAUSE_S = 10.0
IDLE_CONNECTIONS = 4
__all__ = [
    "Repeat",
    "Transport",
    "basic_authorization",
    "build_trust",
    "pause_s",
    "read_json",
    "read_refusal",
]
_PATH = re.compile(r"/[!-~]*")


class Repeat(enum.Enum):
    """When a request is sent again by itself."""

    NEVER = "never"
    IF_REFUSED = "if refused"
    """Where the server can't have got it, or says that it did nothing and may be asked again."""
    IF_LOST = "if lost"
    """Also where no answer came: for what may be done twice."""


class Transport:
    """Everything that this package asks of one server goes through here. Threads may share one."""

    def __init__(
        self, url: str, *, authorization: str = "", ca_file: str | None = None, timeout_s: float = TIMEOUT_S
    ) -> None:
        self.address = Address.of_server(url)
        self.timeout_s = timeout_s
        self._headers = f"User-Agent: onlooker-client/{VERSION}\r\nAccept: application/json\r\n"
        if authorization:
            self._headers += f"Authorization: {authorization}\r\n"
        self._trust = build_trust(ca_file)
        self._proxy = find_proxy(self.address)
        self._idle: list[Connection] = []
        self._is_closed = False
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Transport({str(self.address)!r})"

    def open_connection(self) -> Connection:
        """A separate connection, for callers that send many requests."""
        return Connection(self.address, self._trust, proxy=self._proxy)

    def dial(self, timeout_s: float) -> socket.socket:
        """A bare connection, for callers with several requests in flight on one."""
        return dial(self.address, self._trust, proxy=self._proxy, timeout_s=timeout_s)

    def headers(self, content_type: str | None, authorization: str | None = None, *, encoding: str = "") -> bytes:
        """Lines of headers, as `Connection.exchange` takes them."""
        lines = self._headers
        if content_type:
            lines += f"Content-Type: {content_type}\r\n"
        if encoding:
            lines += f"Content-Encoding: {encoding}\r\n"
        if authorization:
            lines += f"Authorization: {authorization}\r\n"
        return lines.encode("latin-1")

    def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        *,
        repeat: Repeat,
        timeout_s: float | None = None,
        authorization: str | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> Answer:
        """The answer, where it is a success; everything else is raised. The time holds for all tries together.

        `extra` are headers that each try has alike.
        """
        headers = self.headers(
            body.content_type if body else None, authorization, encoding=body.encoding if body else ""
        )
        headers += "".join(f"{name}: {value}\r\n" for name, value in (extra or {}).items()).encode("ascii")
        content = body.content if body else b""
        deadline = time.monotonic() + (timeout_s or self.timeout_s)

        def ask() -> Answer:
            connection = self._take()
            try:
                left_s = max(deadline - time.monotonic(), 0.01)
                answer = connection.exchange(method, path, headers, content, timeout_s=left_s)
            finally:
                self._give_back(connection)
            if answer.status >= 300:
                raise read_refusal(answer, self.address)
            return answer

        return _repeated(ask, repeat, deadline)

    def request_json(self, method: str, path: str, body: Body | None = None, **how: Any) -> dict[str, Any]:
        return read_json(self.request(method, path, body, **how))

    def path_of(self, url: str, otherwise: str | None = None) -> str:
        """What this server is asked for a URL that it gave itself.

        One of another address is never asked there: it is `otherwise`, or refused.
        """
        path = url if url.startswith("/") else "/" + url.partition("://")[2].partition("/")[2]
        if not _PATH.fullmatch(path):
            raise LinkError(f"{self.address} gave an invalid address.")
        if url.startswith("/") or Address.of(url) == self.address:
            return path
        if otherwise is not None:
            return otherwise
        raise ConfigError(
            f"{self.address} refers to {Address.of(url)}, which is another address. Ask the server's administrator "
            "to set ONLOOKER_PUBLIC_URL to the address that you use, or use that one."
        )

    def close(self) -> None:
        """Close idle connections; those in use close by themselves."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _take(self) -> Connection:
        with self._lock:
            if self._is_closed:
                raise OnlookerError("This client is closed. Create a new one.")
            if self._idle:
                return self._idle.pop()
        return self.open_connection()

    def _give_back(self, connection: Connection) -> None:
        with self._lock:
            if len(self._idle) < IDLE_CONNECTIONS and not self._is_closed:
                self._idle.append(connection)
                return
        connection.close()


def basic_authorization(client_id: str, access_token: str) -> str:
    return "Basic " + base64.b64encode(f"{client_id}:{access_token}".encode()).decode("ascii")


def pause_s(failures: int) -> float:
    """How long to wait after so many failures in a row: longer each time, and never the same for two devices."""
    longest = min(FIRST_PAUSE_S * 2.0 ** min(failures - 1, 30), LONGEST_PAUSE_S)
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 (no secret)


def _repeated(ask: Callable[[], Answer], repeat: Repeat, deadline: float) -> Answer:
    for failures in range(1, TRIES):
        try:
            return ask()
        except (LinkError, NotNow) as error:
            if not _is_harmless(error, repeat):
                raise
            asked_for_s = (error.retry_after_s or 0.0) if isinstance(error, NotNow) else 0.0
            wait_s = max(asked_for_s, pause_s(failures))
            if asked_for_s > LONGEST_PAUSE_S or time.monotonic() + wait_s >= deadline:
                raise
            time.sleep(wait_s)
    return ask()


def _is_harmless(error: OnlookerError, repeat: Repeat) -> bool:
    if repeat is Repeat.NEVER or isinstance(error, NotTrusted):
        return False
    if isinstance(error, NotSent):
        return True
    if isinstance(error, NotNow) and error.status in (429, 503):
        return True
    return repeat is Repeat.IF_LOST


def build_trust(ca_file: str | None) -> ssl.SSLContext:
    """What certificates are checked against: the system's authorities, or one's own."""
    try:
        trust = ssl.create_default_context(cafile=ca_file or None)
    except (OSError, ssl.SSLError) as error:
        why = "" if isinstance(error, ssl.SSLError) else f" ({error.strerror or error})"
        raise ConfigError(
            f"{ca_file} is not a certificate authority file{why}. The console offers the right one at /authority.pem."
        ) from None
    trust.minimum_version = ssl.TLSVersion.TLSv1_2  # Python 3.9 would still speak older ones
    return trust
