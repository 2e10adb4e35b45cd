"""Requests to the gateway over a bare socket, sent piece by piece."""

import http.client
import re
import select
import socket
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from onlooker.proof.questions.tally import AnswerTally
from onlooker.proof.questions.wire import ANSWER_LIMIT_S, CLOSED, HUNG, WireAnswer

SWALLOWED = -2
"""Instead of a status: far more was taken in than anybody asked for."""
PIECE_BYTES = 64 * 1024


@dataclass
class GatewayTally(AnswerTally):
    """Of jobs, too: to refuse those of a service that no worker hosts is right."""

    unhosted: frozenset[str] = frozenset()
    """Services of the catalogue that no worker hosts."""
    refused_unhosted: int = 0

    def _is_excused(self, what: str, answer: WireAnswer) -> bool:
        is_refused = answer.status == 503 and answer.code == "overloaded" and self._names_unhosted(what)
        self.refused_unhosted += is_refused
        return is_refused

    def _names_unhosted(self, what: str) -> bool:
        named = re.search(r" /services/([a-z0-9_]+)/", what)
        return named is not None and named[1] in self.unhosted


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


def chunked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces as a chunked transfer encodes them."""
    for piece in pieces:
        if piece:
            yield b"%x\r\n%s\r\n" % (len(piece), piece)
    yield b"0\r\n\r\n"


def exchange(port: int, message: Message) -> WireAnswer:
    """Send until the server answers or closes; then read its answer."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=ANSWER_LIMIT_S) as connection:
            taken_bytes = _send(connection, message)
            answer = _receive(connection, is_head=message.head.startswith(b"HEAD "))
            return replace(answer, taken_bytes=taken_bytes)
    except TimeoutError:
        return WireAnswer(HUNG)
    except OSError:
        return WireAnswer(CLOSED)


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


def _receive(connection: socket.socket, *, is_head: bool) -> WireAnswer:
    response = http.client.HTTPResponse(connection, method="HEAD" if is_head else None)
    try:
        response.begin()
        content_type = response.getheader("Content-Type") or ""
    except http.client.HTTPException:
        return WireAnswer(CLOSED)
    try:
        body = response.read()
    except (http.client.HTTPException, ConnectionResetError):
        body = b""
    return WireAnswer(response.status, body, content_type)
