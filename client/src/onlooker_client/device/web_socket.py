"""The server's half of a WebSocket that only speaks (RFC 6455): handshake, text, ping, pong and close."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import struct
from dataclasses import dataclass
from http import HTTPStatus

from onlooker_client.device.feed_request import FeedRefusal, FeedRequest, write_head

TEXT, CLOSE, PING, PONG = 0x1, 0x8, 0x9, 0xA
NORMAL, GOING_AWAY, PROTOCOL_ERROR, NOT_ACCEPTED = 1000, 1001, 1002, 1008
"""Why a connection is closed."""
LARGEST_CONTROL = 125
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_FINAL, _MASKED, _RESERVED = 0x80, 0x80, 0x70


class WebSocketClosed(Exception):
    """The connection ends, with this code."""

    def __init__(self, code: int) -> None:
        self.code = code
        super().__init__(code)


@dataclass(frozen=True)
class WebSocketFrame:
    """A ping, pong or close of the other side."""

    kind: int
    payload: bytes


def accept_web_socket(request: FeedRequest) -> bytes:
    """The answer to a handshake; raises FeedRefusal."""
    key = request.headers.get("sec-websocket-key", "")
    is_asked = request.has_word("upgrade", "websocket") and request.has_word("connection", "upgrade")
    if not is_asked or request.headers.get("sec-websocket-version") != "13" or not _is_key(key):
        raise FeedRefusal(
            HTTPStatus.UPGRADE_REQUIRED,
            "malformed",
            "This address is for a WebSocket of version 13; /events and /now need none.",
            Upgrade="websocket",
            Sec_WebSocket_Version="13",
        )
    digest = hashlib.sha1(key.encode() + _GUID, usedforsecurity=False).digest()
    accepted = base64.b64encode(digest).decode()
    headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Accept": accepted}
    return write_head(HTTPStatus.SWITCHING_PROTOCOLS, headers)


def _is_key(key: str) -> bool:
    try:
        return len(base64.b64decode(key, validate=True)) == 16
    except (binascii.Error, ValueError):
        return False


def write_frame(kind: int, payload: bytes = b"") -> bytes:
    """One frame, unmasked and whole, as a server sends it."""
    length = len(payload)
    if length <= LARGEST_CONTROL:
        return struct.pack("!BB", _FINAL | kind, length) + payload
    if length < 1 << 16:
        return struct.pack("!BBH", _FINAL | kind, 126, length) + payload
    return struct.pack("!BBQ", _FINAL | kind, 127, length) + payload


def write_close(code: int) -> bytes:
    return write_frame(CLOSE, struct.pack("!H", code))


async def read_frame(reader: asyncio.StreamReader) -> WebSocketFrame:
    """The next ping, pong or close; raises WebSocketClosed for anything else: the feed takes no messages."""
    first, second = await reader.readexactly(2)
    kind, length = first & 0x0F, second & 0x7F
    if first & _RESERVED or not second & _MASKED:
        raise WebSocketClosed(PROTOCOL_ERROR)
    if kind < CLOSE:
        raise WebSocketClosed(NOT_ACCEPTED)
    if kind not in (CLOSE, PING, PONG) or not first & _FINAL or length > LARGEST_CONTROL:
        raise WebSocketClosed(PROTOCOL_ERROR)
    mask = await reader.readexactly(4)
    masked = await reader.readexactly(length)
    return WebSocketFrame(kind, bytes(byte ^ mask[place % 4] for place, byte in enumerate(masked)))
