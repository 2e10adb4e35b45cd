"""Counting what the gateway answered, and telling a failure from an honest refusal."""

import http.client
import json
import re
import select
import socket
import threading
import time
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field, replace

SAMPLES_KEPT = 40
CLOSED = 0
"""Instead of a status: the connection was closed without an answer."""
HUNG = -1
"""Instead of a status: nothing came for as long as anybody would wait."""
SWALLOWED = -2
"""Instead of a status: far more was taken in than anybody asked for."""


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


@dataclass
class AnswerTally:
    """Every request of a run; safe to share between threads."""

    unhosted: frozenset[str]
    """Services of the catalogue that no worker hosts: to refuse their jobs with 503 is right."""
    requests: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    families: Counter[str] = field(default_factory=Counter)
    refused_unhosted: int = 0
    server_errors: int = 0
    hung: int = 0
    unexpected: int = 0
    samples: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, family: str, what: str, answer: WireAnswer, *, expected: Container[int]) -> None:
        """Count one request; `what` is enough of it to send it again."""
        with self._lock:
            self.requests += 1
            self.statuses[answer.status] += 1
            self.families[family] += 1
            if answer.status == 503 and answer.code == "overloaded" and self._names_unhosted(what):
                self.refused_unhosted += 1
            elif answer.status >= 500:
                self.server_errors += 1
                self._keep(family, what, answer)
            elif answer.status == HUNG:
                self.hung += 1
                self._keep(family, what, answer)
            elif answer.status not in expected or not _is_well_formed(answer):
                self.unexpected += 1
                self._keep(family, what, answer)

    def _names_unhosted(self, what: str) -> bool:
        named = re.search(r" /services/([a-z0-9_]+)/", what)
        return named is not None and named[1] in self.unhosted

    def _keep(self, family: str, what: str, answer: WireAnswer) -> None:
        if len(self.samples) < SAMPLES_KEPT:
            self.samples.append(f"{family}: {what[:300]} -> {answer.status} {answer.body[:200]!r}")


def _is_well_formed(answer: WireAnswer) -> bool:
    """A refusal is a problem with a code; what is no HTTP at all is refused below, in plain text."""
    if answer.status < 400 or answer.content_type.startswith("text/plain"):
        return True
    return answer.content_type.startswith("application/problem+json") and bool(answer.code or not answer.body)


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
