"""Pictures from standard input, or any other pipe: MJPEG."""

from __future__ import annotations

import os
from collections import deque
from typing import Any, BinaryIO

from onlooker_client.errors import SourceError
from onlooker_client.sources.mjpeg import Splitter
from onlooker_client.sources.opencv import load_opencv

READ_BYTES = 256 * 1024


class PipeFeed:
    """Reads all pictures, and unpacks only those that are due."""

    def __init__(self, stream: BinaryIO | None) -> None:
        if stream is None or stream.closed:
            raise SourceError("Standard input is closed, so no pictures can come from there.")
        if stream.isatty():
            raise SourceError("Nothing is piped into this program. Do: ffmpeg ... -f mjpeg - | onlooker-agent run -")
        self._stream = stream
        self._splitter = Splitter()
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
        """The pipe belongs to whoever opened it."""
