"""All that is kept of a session between two calls: numbers, never pixels."""

from typing import Any

import msgspec


class SessionState(msgspec.Struct, array_like=True):
    """Written by a worker after each call; older ones stay a while, because each holds its call's result."""

    last_seen: float
    service: Any = None
    """What the service itself remembers."""
    job_ids: list[str] = msgspec.field(default_factory=list)
    result: bytes = b"{}"
    error_code: str | None = None
    last_frame_at: float | None = None
    """Unix time of the last frame, by its timestamp and its arrival."""
    visits: bytes | None = None
    """What the sink of visits remembers of the people who were seen; None where nothing is stored."""
    outbox: list[bytes] = msgspec.field(default_factory=list)
    """Encoded visits that must reach JetStream before the call is answered."""
    told_at: float = 0.0
    """What the last frame's timestamp says; 0 where an older release wrote this."""
    told_since: float = 0.0
    """When the first frame with that timestamp arrived."""
    arrived_at: float = 0.0
    """When the last frame arrived."""


encode_state = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(SessionState).decode


def decode_state(value: bytes) -> SessionState | None:
    """None for a state that another release wrote differently: the session begins anew."""
    try:
        return _decode(value)
    except msgspec.MsgspecError:
        return None
