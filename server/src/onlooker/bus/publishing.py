"""Leaving a message with JetStream, which keeps it until somebody has taken care of it."""

import msgspec

from onlooker.bus.connection import Bus, BusError

ANSWER_LIMIT_S = 2.0
EXPECTED_REVISION = "Nats-Expected-Last-Subject-Sequence"
"""Header of a compare-and-set; 0: nothing may be there yet."""
WRONG_REVISION = (10071, 10164)
"""Codes of a refusal because somebody else wrote since."""


class NotKept(BusError):
    """JetStream does not take the message; its own code says why."""

    def __init__(self, subject: str, description: str, code: int) -> None:
        super().__init__(f"{subject}: {description}")
        self.code = code


class _Error(msgspec.Struct):
    err_code: int = 0
    description: str = ""


class _Ack(msgspec.Struct):
    seq: int = 0
    error: _Error | None = None


_decode_ack = msgspec.json.Decoder(_Ack).decode


async def publish_kept(bus: Bus, subject: str, payload: bytes, *, headers: dict[str, str] | None = None) -> int:
    """Its number, once JetStream has the message; raises BusError where that is not certain."""
    answer = await bus.ask(subject, payload, headers=headers, timeout_s=ANSWER_LIMIT_S)
    ack = _decode_ack(answer.data)
    if ack.error is not None:
        raise NotKept(subject, ack.error.description, ack.error.err_code)
    return ack.seq
