"""Requests over a bare socket, right or wrong, and what comes back."""

import contextlib
import gzip
import http.client
import json
import socket
import ssl
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

ANSWER_LIMIT_S = 20.0
CLOSED = 0
"""Instead of a status: the connection was closed without an answer."""
HUNG = -1
"""Instead of a status: nothing came for as long as anybody would wait."""

Header = tuple[str | bytes, str | bytes]


@dataclass(frozen=True)
class WireAnswer:
    """A status and what came with it."""

    status: int
    body: bytes = b""
    content_type: str = ""
    taken_bytes: int = 0
    """How much of the request went out before the connection ended."""

    @property
    def code(self) -> str:
        """The problem's code, or nothing."""
        try:
            return str(json.loads(self.body).get("code", ""))
        except (ValueError, AttributeError):
            return ""


@dataclass(frozen=True)
class DataReply(WireAnswer):
    """An answer with its headers, whose names are lower case."""

    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ServerAddress:
    """Where a server listens; with TLS if there is something to trust."""

    host: str
    port: int
    trust: ssl.SSLContext | None = None

    @contextmanager
    def connected(self) -> Iterator[socket.socket]:
        with socket.create_connection((self.host, self.port), timeout=ANSWER_LIMIT_S) as plain:
            if self.trust is None:
                yield plain
                return
            with self.trust.wrap_socket(plain, server_hostname=self.host) as wrapped:
                yield wrapped


def head(method: str | bytes, path: str | bytes, headers: Iterable[Header], *, host: str = "localhost") -> bytes:
    """A request's head; text is sent as latin-1, wrong or not."""
    lines = [b"%s %s HTTP/1.1" % (_bytes(method), _bytes(path)), b"Host: " + host.encode(), b"Connection: close"]
    lines += [b"%s: %s" % (_bytes(name), _bytes(value)) for name, value in headers]
    return b"\r\n".join(lines) + b"\r\n\r\n"


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("latin-1")


def exchange(address: ServerAddress, message: bytes, *, method: str = "GET") -> DataReply:
    """Send a request and read its answer, whatever comes of it."""
    try:
        with address.connected() as connection:
            send(connection, message)
            return _receive(connection, method)
    except TimeoutError:
        return DataReply(HUNG)
    except (OSError, http.client.HTTPException):
        return DataReply(CLOSED)


def send(connection: socket.socket, message: bytes) -> None:
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the answer may be there all the same
        connection.sendall(message)


def _receive(connection: socket.socket, method: str) -> DataReply:
    response = http.client.HTTPResponse(connection, method=method)
    response.begin()
    headers = {name.lower(): value for name, value in response.getheaders()}
    body = response.read()
    body = gzip.decompress(body) if body and headers.get("content-encoding") == "gzip" else body
    return DataReply(response.status, body, headers.get("content-type", ""), headers=headers)
