"""JPEG pictures one after another in a stream of bytes (MJPEG), as cameras and ffmpeg write them to a pipe."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator
from typing import Any, BinaryIO

from onlooker_client.errors import SourceError
from onlooker_client.sources.opencv import load_opencv

LARGEST_PICTURE_BYTES = 16 * 1024 * 1024
_START = b"\xff\xd8\xff"
_MARKER_IN_SCAN = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
"""Within a scan, 0xFF means a marker only where neither a zero nor the number of a restart follows."""
_SCAN, _BEGIN, _END = 0xDA, 0xD8, 0xD9
_WITHOUT_LENGTH = {0x01, *range(0xD0, 0xD8)}
READ_BYTES = 256 * 1024


class _Broken(Exception):
    """What is held is no picture; the next may begin at `at`."""

    def __init__(self, at: int) -> None:
        self.at = at


class JpegSplitter:
    """Cuts pictures out of bytes; what belongs to none is skipped and counted.

    Goes from segment to segment, as a picture may hold a smaller one with an end of its own.
    """

    def __init__(self, largest_bytes: int = LARGEST_PICTURE_BYTES) -> None:
        self._largest_bytes = largest_bytes
        self._held = bytearray()
        self._at = 0
        """Up to where it is understood; 0 while no start was found."""
        self._in_scan = False
        self.skipped_bytes = 0

    @property
    def held_bytes(self) -> int:
        return len(self._held)

    def add(self, more: bytes) -> Iterator[bytes]:
        """The pictures that are whole now."""
        self._held += more
        while self._at or self._find_start():
            try:
                if not self._find_end():
                    return
            except _Broken as broken:
                self._skip(broken.at)
                continue
            picture = bytes(self._held[: self._at])
            self._drop(self._at)
            yield picture

    def _find_start(self) -> bool:
        start = self._held.find(_START)
        if start < 0:
            self._skip(max(0, len(self._held) - len(_START) + 1))
            return False
        self._skip(start)
        self._at = 2
        return True

    def _find_end(self) -> bool:
        """Whether `_at` is behind the end now; False where more bytes are needed."""
        while self._at + 1 < len(self._held):
            if self._in_scan and not self._pass_scan():
                break
            marker = self._marker()
            if marker == _END:
                self._at += 2
                return True
            if not self._pass_segment(marker):
                break
        if len(self._held) > self._largest_bytes:
            raise _Broken(2)  # its end was lost
        return False

    def _pass_scan(self) -> bool:
        found = _MARKER_IN_SCAN.search(self._held, self._at)
        self._at = found.start() if found else max(self._at, len(self._held) - 1)
        self._in_scan = found is None
        return found is not None

    def _marker(self) -> int:
        while self._at + 2 < len(self._held) and self._held[self._at] == self._held[self._at + 1] == 0xFF:
            self._at += 1  # any number of 0xFF may stand before a marker
        if self._held[self._at] != 0xFF:
            raise _Broken(2)
        if self._held[self._at + 1] == _BEGIN:
            raise _Broken(self._at)  # the end was lost, and this is the next one
        return self._held[self._at + 1]

    def _pass_segment(self, marker: int) -> bool:
        if marker == 0xFF:
            return False
        if marker in _WITHOUT_LENGTH:
            self._at += 2
            return True
        if self._at + 3 >= len(self._held):
            return False
        length = self._held[self._at + 2] << 8 | self._held[self._at + 3]
        if length < 2:
            raise _Broken(2)
        self._at += 2 + length
        self._in_scan = marker == _SCAN
        return True

    def _skip(self, count: int) -> None:
        self.skipped_bytes += count
        self._drop(count)

    def _drop(self, count: int) -> None:
        del self._held[:count]
        self._at = 0
        self._in_scan = False


class PipeFeed:
    """Reads all pictures, and unpacks only those that are due."""

    def __init__(self, stream: BinaryIO | None) -> None:
        if stream is None or stream.closed:
            raise SourceError("Standard input is closed, so no pictures can come from there.")
        if stream.isatty():
            raise SourceError("Nothing is piped into this program. Run: ffmpeg ... -f mjpeg - | onlooker-agent run -")
        self._stream = stream
        self._splitter = JpegSplitter()
        self._ready: deque[bytes] = deque()
        self._grabbed = b""
        self._opencv: Any = None
        self._numpy: Any = None

    @property
    def skipped_bytes(self) -> int:
        """Bytes that belonged to no picture."""
        return self._splitter.skipped_bytes

    def open(self) -> None:
        self._opencv = load_opencv()
        import numpy

        self._numpy = numpy

    def grab(self) -> bool:
        while not self._ready:
            # Not the stream's own `read`: a thread that waits in it keeps the program from ending.
            more = os.read(self._stream.fileno(), READ_BYTES)
            if not more:
                return False
            self._ready.extend(self._splitter.add(more))
        self._grabbed = self._ready.popleft()
        return True

    def retrieve(self) -> Any | None:
        packed = self._numpy.frombuffer(self._grabbed, dtype=self._numpy.uint8)
        return self._opencv.imdecode(packed, self._opencv.IMREAD_COLOR)

    def release(self) -> None:
        """The pipe belongs to the caller."""
