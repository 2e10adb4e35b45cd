"""Readers of the local feed over real sockets, with nothing but the standard library."""

import base64
import hashlib
import json
import os
import socket
import struct
from contextlib import ExitStack
from typing import Any, NamedTuple

from onlooker_client.device.computed_frame import ComputedFrame
from onlooker_client.device.feed import LocalFeed

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
AT_CAMERA: dict[str, Any] = {
    "face_roi": [300, 200, 40, 80],
    "face_confidence": 0.9,
    "head": [0.0, 0.0, 0.0],
    "head_confidence": 0.9,
    "gaze": [0.0, 0.0],
    "gaze_confidence": 0.9,
    "age": 31.5,
    "gender": "female",
    "full_body_roi": [280, 180, 80, 300],
}
AWAY = {**AT_CAMERA, "head": [1.0, 0.0, 0.0], "gaze": [1.0, 0.0]}
HIDDEN = {**AT_CAMERA, "face_confidence": 0.0, "head_confidence": 0.0, "gaze_confidence": 0.0}


def computed(at_ms: int = 1_800_000_000_000, *, bodies: Any = None, events: Any = (), **people: Any) -> ComputedFrame:
    """A frame of 640x480 with these people, by id."""
    result = {"input_size": [480, 640], "events": list(events), "entities": people, "bodies": bodies or {}}
    return ComputedFrame(at_ms=at_ms, result=result, video_s=0.2)


class Answered(NamedTuple):
    """An answer that has ended."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def said(self) -> Any:
        return json.loads(self.body)


class FeedConversation:
    """One connection, after its request."""

    def __init__(self, feed: LocalFeed, path: str, *, method: str = "GET", small: bool = False, **headers: str) -> None:
        self._socket = socket.socket()
        if small:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        self._socket.settimeout(20)
        try:
            self._socket.connect(("127.0.0.1", feed.port))
        except OSError:
            self._socket.close()
            raise
        told = {"Host": f"127.0.0.1:{feed.port}"} | {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in told.items() if value)]
        self._socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self._file = self._socket.makefile("rb")
        try:
            self.status, self.headers = self._read_head()
        except OSError:
            self.close()
            raise

    def __enter__(self) -> "FeedConversation":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def rest(self) -> bytes:
        return self._file.read()

    def event(self) -> Any:
        """The data of the next server-sent event."""
        while not (line := self._file.readline()).startswith(b"data: "):
            assert line, "the stream has ended"
        return json.loads(line[len(b"data: ") :])

    def message(self, *, answer: bool = True) -> Any:
        """The next text of a WebSocket, with its ping answered; None when the server closes it."""
        while True:
            kind, payload = self.frame()
            if kind == 0x9 and answer:
                self.send(0xA, payload)
            elif kind == 0x8:
                return None
            elif kind == 0x1:
                said = json.loads(payload)
                ping, number = self.frame()
                assert (ping, int(number)) == (0x9, said["update"])
                if answer:
                    self.send(0xA, number)
                return said

    def await_frame(self, kind: int) -> bytes:
        """The payload of the next frame of this kind; others may come before it."""
        while True:
            found, payload = self.frame()
            if found == kind:
                return payload

    def frame(self) -> tuple[int, bytes]:
        first, length = self._file.read(2)
        assert first & 0xF0 == 0x80
        if length == 126:
            (length,) = struct.unpack("!H", self._file.read(2))
        return first & 0x0F, self._file.read(length)

    def send(self, kind: int, payload: bytes = b"", *, mask: bytes = b"\x01\x02\x03\x04") -> None:
        masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload)) if mask else payload
        head = bytes([0x80 | kind, (0x80 if mask else 0) | len(payload)])
        self._socket.sendall(head + mask + masked)

    def _read_head(self) -> tuple[int, dict[str, str]]:
        first = self._file.readline().decode()
        headers = {}
        while (line := self._file.readline().decode().rstrip("\r\n")) != "":
            name, _, value = line.partition(": ")
            headers[name.lower()] = value
        return int(first.split()[1]) if first else 0, headers


def ask(feed: LocalFeed, path: str = "/now", *, method: str = "GET", **headers: str) -> Answered:
    """A whole answer; a header named in `headers` replaces the usual one, an empty one leaves it out."""
    with FeedConversation(feed, path, method=method, **headers) as opened:
        return Answered(opened.status, opened.headers, opened.rest())


def open_socket(feed: LocalFeed, path: str = "/socket", *, small: bool = False, **headers: str) -> FeedConversation:
    """A WebSocket; its handshake is checked where it was accepted."""
    key = base64.b64encode(os.urandom(16)).decode()
    with ExitStack() as undone:
        opened = undone.enter_context(FeedConversation(feed, path, small=small, **_handshake(key), **headers))
        if opened.status == 101:
            expected = base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()
            assert opened.headers["sec-websocket-accept"] == expected
        undone.pop_all()
    return opened


def _handshake(key: str) -> dict[str, str]:
    return {
        "Connection": "keep-alive, Upgrade",
        "Upgrade": "websocket",
        "Sec_WebSocket_Version": "13",
        "Sec_WebSocket_Key": key,
    }
