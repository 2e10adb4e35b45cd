"""A visit as a worker publishes it; published again, with a higher revision, whenever more is known."""

from typing import Annotated

import msgspec

from onlooker_pipeline.expressions import Expression

SHORTEST_STOP_S = 3
SHORTEST_LOOK_S = 1
"""Interested is who stops for at least as long at a stretch, and looks for longer than this in all."""

Interval = tuple[int, int]
"""Start and end in milliseconds of Unix time; the end is exclusive."""


class Visit(msgspec.Struct, frozen=True, array_like=True):
    """One tracked person of one stream. Intervals are ascending and do not touch."""

    id: Annotated[bytes, msgspec.Meta(min_length=16, max_length=16)]
    stream_id: int
    session: Annotated[str, msgspec.Meta(max_length=200)]
    """Key of the session's state."""
    revision: Annotated[int, msgspec.Meta(ge=1)]
    ended: bool
    present: Annotated[list[Interval], msgspec.Meta(min_length=1)]
    """The first interval's start is the visit's start, the same in every revision."""
    still: list[Interval]
    looking: list[Interval]
    age: float | None = None
    age_confidence: float = 0.0
    gender: str | None = None
    """`male`, `female` or unknown."""
    gender_confidence: float = 0.0
    expression: Expression | None = None
    """The mean while looking, weighted by time."""
    confidence: float = 0.0
    """That there was a person at all."""

    @property
    def began_ms(self) -> int:
        return self.present[0][0]


encode_visit = msgspec.msgpack.Encoder().encode
decode_visit = msgspec.msgpack.Decoder(Visit).decode
"""Raises msgspec.MsgspecError for anything that is not a visit."""
