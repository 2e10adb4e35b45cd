"""A receiver of webhooks on loopback, over TLS, that behaves as it is told: also as no receiver should."""

import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from onlooker.up.certificates import authority_file, ensure_certificate

LISTENS_AT = "127.0.0.1"
Behaviour = Callable[["ReceivedConnection"], None]


@dataclass
class ReceivedConnection:
    """One request, and the way back."""

    socket: ssl.SSLSocket
    head: str
    body: bytes
    ended: threading.Event

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def header(self, name: str) -> str:
        found = re.search(rf"^{name}: (.*)$", self.head, re.MULTILINE | re.IGNORECASE)
        return found[1].strip() if found else ""

    @property
    def headers(self) -> dict[str, str]:
        return {name: self.header(name) for name in ("webhook-id", "webhook-timestamp", "webhook-signature")}


def answer(status: int, head: str = "", body: bytes = b"") -> Behaviour:
    def behave(connection: ReceivedConnection) -> None:
        connection.send(f"HTTP/1.1 {status} Said\r\nContent-Length: {len(body)}\r\n{head}\r\n".encode() + body)

    return behave


def say(data: bytes) -> Behaviour:
    return lambda connection: connection.send(data)


def hang(connection: ReceivedConnection) -> None:
    connection.ended.wait(60)


def drip(connection: ReceivedConnection) -> None:
    for letter in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"a" * 1000:
        if connection.ended.wait(0.2):
            return
        connection.send(bytes([letter]))


def flood(connection: ReceivedConnection) -> None:
    """A correct answer, then bytes without end."""
    connection.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not connection.ended.is_set():
        connection.send(b"10000\r\n" + bytes(65536) + b"\r\n")


def flood_headers(connection: ReceivedConnection) -> None:
    connection.send(b"HTTP/1.1 200 OK\r\n")
    while not connection.ended.is_set():
        connection.send(b"X-Huge: " + b"a" * 8192 + b"\r\n")


def close(connection: ReceivedConnection) -> None:
    """Without a word."""


@dataclass
class Receiver:
    """What it got, and how it answers."""

    port: int
    authority: Path
    behaviour: Behaviour = field(default_factory=lambda: answer(204))
    received: list[ReceivedConnection] = field(default_factory=list)
    connections: int = 0
    _ended: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}/hooks?from=onlooker"

    def wait_for(self, count: int, limit_s: float = 20.0) -> list[ReceivedConnection]:
        """Until it got so many requests."""
        ends_at = time.monotonic() + limit_s
        while len(self.received) < count:
            assert time.monotonic() < ends_at, f"{len(self.received)} of {count} requests after {limit_s} s"
            time.sleep(0.02)
        return self.received


@contextmanager
def running_receiver(folder: Path, *, names: tuple[str, ...] = ("localhost", LISTENS_AT)) -> Iterator[Receiver]:
    """Its certificate is for these names, from an authority in the folder."""
    chain, key = ensure_certificate(folder, list(names))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, key)
    with socket.create_server((LISTENS_AT, 0), backlog=64) as listening:
        receiver = Receiver(listening.getsockname()[1], authority_file(folder))
        thread = threading.Thread(target=_accept, args=(receiver, listening, context), daemon=True)
        thread.start()
        try:
            yield receiver
        finally:
            receiver._ended.set()
            listening.shutdown(socket.SHUT_RDWR)
            thread.join(10)


def _accept(receiver: Receiver, listening: socket.socket, context: ssl.SSLContext) -> None:
    while not receiver._ended.is_set():
        try:
            plain, _ = listening.accept()
        except OSError:
            return
        receiver.connections += 1
        threading.Thread(target=_serve, args=(receiver, plain, context), daemon=True).start()


def _serve(receiver: Receiver, plain: socket.socket, context: ssl.SSLContext) -> None:
    plain.settimeout(30)
    with suppress(OSError), context.wrap_socket(plain, server_side=True) as connection:
        data = b""
        while b"\r\n\r\n" not in data:
            piece = connection.recv(65536)
            if not piece:
                return
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(re.search(rb"content-length: (\d+)", head, re.IGNORECASE)[1])  # type: ignore[index]
        while len(body) < length:
            body += connection.recv(65536)
        request = ReceivedConnection(connection, head.decode(), body, receiver._ended)
        receiver.received.append(request)
        receiver.behaviour(request)
