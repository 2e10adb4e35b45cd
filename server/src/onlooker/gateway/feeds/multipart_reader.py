"""A reader of multipart/x-mixed-replace that yields each part as soon as its last byte has arrived."""

from collections.abc import Iterator
from dataclasses import dataclass

from onlooker.errors import Code, Problem, bad_request

HEADERS_LIMIT_BYTES = 20 * 1024


@dataclass(frozen=True)
class MultipartPart:
    """Headers by lower-case name, and the bytes."""

    headers: dict[str, str]
    data: bytes


class MultipartReader:
    """Takes a body in pieces of any size; a part is as long as its Content-Length says."""

    def __init__(self, boundary: str, *, limit_bytes: int) -> None:
        self._delimiter = b"--" + boundary.encode()
        self._limit_bytes = limit_bytes
        self._buffer = bytearray()
        self._headers: dict[str, str] | None = None
        self._length = 0
        self.ended = False
        """Whether the closing boundary was read; what comes after it is ignored."""

    @property
    def buffered_bytes(self) -> int:
        return len(self._buffer)

    @property
    def is_between_parts(self) -> bool:
        return self._headers is None and not self._buffer.strip(b"\r\n")

    def feed(self, chunk: bytes) -> Iterator[MultipartPart]:
        """The parts that this piece completes."""
        self._buffer += chunk
        while not self.ended:
            if self._headers is None and not self._read_headers():
                return
            if self.ended or self._headers is None or len(self._buffer) < self._length:
                return
            data = bytes(self._buffer[: self._length])
            del self._buffer[: self._length]
            headers, self._headers = self._headers, None
            yield MultipartPart(headers, data)

    def _read_headers(self) -> bool:
        """Read a delimiter and the headers after it, if they are there as a whole."""
        while self._buffer[:2] == b"\r\n":
            del self._buffer[:2]
        start = bytes(self._buffer[: len(self._delimiter) + 2])
        if not (self._delimiter + b"\r\n").startswith(start) and not (self._delimiter + b"--").startswith(start):
            if start != b"\r":
                raise bad_request("The multipart body is malformed: a part must begin with its boundary.")
            return False
        if start == self._delimiter + b"--":
            self.ended = True
            return True
        end = self._buffer.find(b"\r\n\r\n")
        if end > HEADERS_LIMIT_BYTES or (end < 0 and len(self._buffer) > HEADERS_LIMIT_BYTES):
            raise bad_request(f"The headers of a part may have {HEADERS_LIMIT_BYTES} bytes.")
        if end < 0:
            return False
        self._headers = _parse_headers(bytes(self._buffer[len(start) : end]))
        self._length = self._read_length(self._headers)
        del self._buffer[: end + 4]
        return True

    def _read_length(self, headers: dict[str, str]) -> int:
        length = headers.get("content-length", "")
        if not (length.isascii() and length.isdecimal() and len(length) < 16):
            raise bad_request("The multipart body is malformed: every part needs a Content-Length.")
        if int(length) > self._limit_bytes:
            detail = f"A part may have {self._limit_bytes} bytes. Send smaller frames."
            raise Problem(Code.TOO_LARGE, detail, headers={"Connection": "close"})
        return int(length)


def _parse_headers(lines: bytes) -> dict[str, str]:
    headers: dict[str, str] = {}
    try:
        for line in lines.decode().split("\r\n"):
            name, colon, value = line.partition(":")
            if line and not colon:
                raise bad_request("The multipart body is malformed: a part's header has no colon.")
            headers[name.strip().lower()] = value.strip()
    except UnicodeDecodeError:
        raise bad_request("The multipart body is malformed: a part's headers are not UTF-8.") from None
    return headers
