"""HTTP as bytes on a socket, so that nothing is too wrong to be sent."""

import http.client
import select
import socket
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from bench.tally import CLOSED, HUNG, Answer

ANSWER_LIMIT_S = 20.0
PIECE_BYTES = 64 * 1024


@dataclass(frozen=True)
class Message:
    """A request: its head, and a body in pieces."""

    head: bytes
    body: Iterable[bytes] = ()
    pause_s: float = 0.0
    """Between two pieces of the body."""
    half_close: bool = False
    """Whether to say that nothing more will come, as a client does that dies."""
    stubborn: bool = False
    """Whether to go on sending after the answer, for as long as somebody takes it."""

    def __str__(self) -> str:
        line, _, rest = self.head.partition(b"\r\n")
        shown = b"".join(self.body[:2])[:160] if isinstance(self.body, tuple | list) else b"..."
        return f"{line[:120].decode('latin-1')} | {rest.strip()[-100:]!r} | {shown!r}"


def head(method: str | bytes, path: str | bytes, headers: Iterable[tuple[str | bytes, str | bytes]]) -> bytes:
    """A request's head; text is sent as latin-1, wrong or not."""
    lines = [b"%s %s HTTP/1.1" % (_bytes(method), _bytes(path)), b"Host: localhost", b"Connection: close"]
    lines += [b"%s: %s" % (_bytes(name), _bytes(value)) for name, value in headers]
    return b"\r\n".join(lines) + b"\r\n\r\n"


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("latin-1")


def chunked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces as a chunked transfer encodes them."""
    for piece in pieces:
        if piece:
            yield b"%x\r\n%s\r\n" % (len(piece), piece)
    yield b"0\r\n\r\n"


def exchange(port: int, message: Message) -> Answer:
    """Send until the server answers or closes; then read its answer."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=ANSWER_LIMIT_S) as connection:
            taken_bytes = _send(connection, message)
            answer = _receive(connection, is_head=message.head.startswith(b"HEAD "))
            return replace(answer, taken_bytes=taken_bytes)
    except TimeoutError:
        return Answer(HUNG)
    except OSError:
        return Answer(CLOSED)


def _send(connection: socket.socket, message: Message) -> int:
    taken_bytes = 0
    try:
        connection.sendall(message.head)
        for piece in message.body:
            for start in range(0, len(piece), PIECE_BYTES):
                if not message.stubborn and select.select([connection], [], [], 0)[0]:
                    return taken_bytes
                connection.sendall(piece[start : start + PIECE_BYTES])
                taken_bytes += PIECE_BYTES
            time.sleep(message.pause_s)
        if message.half_close:
            connection.shutdown(socket.SHUT_WR)
    except (BrokenPipeError, ConnectionResetError):
        pass  # the answer may be there all the same
    return taken_bytes


def _receive(connection: socket.socket, *, is_head: bool) -> Answer:
    response = http.client.HTTPResponse(connection, method="HEAD" if is_head else None)
    try:
        response.begin()
        content_type = response.getheader("Content-Type") or ""
    except http.client.HTTPException:
        return Answer(CLOSED)
    try:
        body = response.read()
    except (http.client.HTTPException, ConnectionResetError):
        body = b""
    return Answer(response.status, body, content_type)
