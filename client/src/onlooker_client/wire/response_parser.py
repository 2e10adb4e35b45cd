"""Parses HTTP/1.1 answers. `http.client` uses the e-mail parser for headers, which costs more: decision 0020."""

from __future__ import annotations

import http.client
from typing import Callable, NamedTuple

HEAD_LIMIT_BYTES = 64 * 1024
ANSWER_LIMIT_BYTES = 64 * 1024 * 1024
_WITHOUT_BODY = (204, 304)


class ReadAnswer(NamedTuple):
    """What came; names of headers are in lower case, the last of several with one name counts."""

    status: int
    headers: dict[str, str]
    body: bytes
    is_last: bool
    """Whether the server closes the connection after it."""


class AnswerReader:
    """`receive` gives some bytes, b"" at the end; whatever it raises goes through."""

    def __init__(self, receive: Callable[[], bytes], *, limit_bytes: int = ANSWER_LIMIT_BYTES) -> None:
        self._receive = receive
        self._limit_bytes = limit_bytes
        self._ahead = b""

    @property
    def has_more(self) -> bool:
        """Whether bytes after the last answer were received: of the next one, where several were asked for."""
        return bool(self._ahead)

    def read(self, method: str) -> ReadAnswer:
        status = 100
        while status < 200:  # such as 103 Early Hints: the answer comes after it
            version, status, headers = _parse_head(self._until(b"\r\n\r\n"))
        body = b"" if method == "HEAD" or status in _WITHOUT_BODY else self._body(headers)
        connection = headers.get("connection", "").lower()
        ends = "close" in connection if version != "HTTP/1.0" else "keep-alive" not in connection
        return ReadAnswer(status, headers, body, ends)

    def _body(self, headers: dict[str, str]) -> bytes:
        if headers.get("transfer-encoding", "").lower() == "chunked":
            return self._chunks()
        length = headers.get("content-length", "")
        if not (length.isascii() and length.isdigit()):
            raise ValueError("its answer does not say where it ends, so it may be cut off")
        return self._exactly(int(length))

    def _chunks(self) -> bytes:
        body = bytearray()  # not a list of pieces: a million tiny chunks would fill the memory
        left = self._limit_bytes
        while True:
            text = self._until(b"\r\n").split(b";")[0].strip()
            try:
                size = int(text, 16)
            except ValueError:
                raise http.client.BadStatusLine(repr(text[:40])) from None
            if size == 0:
                break
            left -= size
            if size < 0 or left < 0:
                raise ValueError("its answer is too large")
            body += self._exactly(size)
            self._until(b"\r\n")
        while self._until(b"\r\n"):
            pass  # trailers
        return bytes(body)

    def _until(self, mark: bytes) -> bytes:
        """What is before the mark."""
        while mark not in self._ahead:
            if len(self._ahead) > HEAD_LIMIT_BYTES:
                raise http.client.LineTooLong("head")
            piece = self._receive()
            if not piece:
                raise _cut(self._ahead)
            self._ahead += piece
        found, _, self._ahead = self._ahead.partition(mark)
        return found

    def _exactly(self, size: int) -> bytes:
        if size > self._limit_bytes:
            raise ValueError("its answer is too large")
        pieces, have = [self._ahead], len(self._ahead)
        while have < size:
            piece = self._receive()
            if not piece:
                raise http.client.IncompleteRead(b"", size - have)
            pieces.append(piece)
            have += len(piece)
        content = b"".join(pieces)
        self._ahead = content[size:]
        return content[:size]


def _parse_head(head: bytes) -> tuple[str, int, dict[str, str]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    version, _, rest = first.partition(" ")
    status = rest[:3]
    if not version.startswith("HTTP/1.") or not (status.isascii() and status.isdigit()):
        raise http.client.BadStatusLine(first[:80])
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    return version, int(status), headers


def _cut(received: bytes) -> http.client.HTTPException:
    if not received:
        return http.client.RemoteDisconnected("nothing came")
    if not received.startswith(b"HTTP/"[: len(received)]):
        return http.client.BadStatusLine(received[:80].decode("latin-1"))
    return http.client.IncompleteRead(b"")
