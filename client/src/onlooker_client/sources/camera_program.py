"""The program that opens a network camera and decodes its video, for the agent that started it."""

from __future__ import annotations

import json
import mmap
import socket
import sys
from typing import Any

from onlooker_client.errors import SourceError
from onlooker_client.sources.camera_confinement import confine, end_with_parent
from onlooker_client.sources.cameras import NetworkFeed
from onlooker_client.sources.opencv import load_opencv

GRAB, RETRIEVE = b"g", b"r"
"""What the agent asks for."""
DONE, DAMAGED, FAILED = b"d", b"x", b"f"
"""What is answered: `d` with the picture's shape, `f` with a sentence."""
REASON_LIMIT_BYTES = 1000


def look_up(host: str) -> None:
    """So that what looks names up is loaded before files are given up."""
    try:
        socket.getaddrinfo(host, None)
    except OSError:
        return


class CameraProgram:
    """Answers one question at a time."""

    def __init__(self, channel: socket.socket, pixels: mmap.mmap) -> None:
        self._channel = channel
        self._pixels = pixels

    def run(self) -> None:
        order: dict[str, Any] = json.loads(self._channel.recv(65536))
        load_opencv()
        look_up(order["host"])
        is_confined = confine(port=order["port"])
        feed = NetworkFeed(order["address"], name=order["name"], opening_ms=order["opening_ms"])
        try:
            feed.open()
            self._say(DONE, json.dumps({"confined": is_confined}).encode())
            self._serve(feed)
        except SourceError as error:
            self._say(FAILED, str(error).encode()[:REASON_LIMIT_BYTES])
        finally:
            feed.release()

    def _serve(self, feed: NetworkFeed) -> None:
        while True:
            asked = self._channel.recv(1)
            if not asked:
                return
            if asked == GRAB:
                feed.grab()
                self._say(DONE)
            elif asked == RETRIEVE:
                self._hand_over(feed.retrieve())

    def _hand_over(self, pixels: Any | None) -> None:
        if pixels is None:
            self._say(DAMAGED)
        elif pixels.nbytes > len(self._pixels):
            raise SourceError(f"The camera's pictures are too large: {pixels.shape[1]} x {pixels.shape[0]}.")
        else:
            memoryview(self._pixels)[: pixels.nbytes] = memoryview(pixels).cast("B")
            self._say(DONE, json.dumps(pixels.shape).encode())

    def _say(self, kind: bytes, rest: bytes = b"") -> None:
        self._channel.send(kind + rest)


def main() -> None:
    end_with_parent()
    channel_number, pixels_number, size = (int(word) for word in sys.argv[1:4])
    channel = socket.socket(fileno=channel_number)
    pixels = mmap.mmap(pixels_number, size)
    try:
        CameraProgram(channel, pixels).run()
    except OSError:
        return  # the agent is gone


if __name__ == "__main__":
    main()
