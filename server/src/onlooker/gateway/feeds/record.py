"""What the gateways remember of a feed, so that input and output may reach different ones."""

import uuid
from typing import Any

import msgspec


class FeedRecord(msgspec.Struct, frozen=True):
    """The service a feed computes with, its session, and the fields that hold for all its frames."""

    service: str
    version: int
    session: str | None
    params: dict[str, Any]


def feed_key(stream_id: int, feed_id: uuid.UUID) -> str:
    """The owner is part of the key, so nobody else's look-up can find it."""
    return f"{stream_id}.{feed_id.hex}"


AGAIN = b"again"
"""Answered by a reader that left before it had the whole result: give it to the next one."""
END = b"end"
"""Sent to the holder of the output when the input has ended; a result starts with a brace."""
