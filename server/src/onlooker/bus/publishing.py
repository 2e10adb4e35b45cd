"""Leaving a message with JetStream, which keeps it until somebody has taken care of it."""

import msgspec

from onlooker.bus.connection import Bus, BusError

ANSWER_LIMIT_S = 2.0


class _Error(msgspec.Struct):
    description: str = ""


class _Ack(msgspec.Struct):
    error: _Error | None = None


_decode_ack = msgspec.json.Decoder(_Ack).decode


async def publish_kept(bus: Bus, subject: str, payload: bytes) -> None:
    """Returns once JetStream has the message; raises BusError where that is not certain."""
    answer = await bus.ask(subject, payload, timeout_s=ANSWER_LIMIT_S)
    ack = _decode_ack(answer.data)
    if ack.error is not None:
        raise BusError(f"{subject}: {ack.error.description}")
