"""What a scene tells of its people, frame by frame: the worker's own sink makes visits of it."""

import msgspec

PersonId = bytes
"""The 16 bytes of a UUID; it is stable for a visit and means nothing outside it."""

Expression = tuple[float, float, float, float, float]
"""Neutral, happiness, surprise, anger, sadness: in [0, 1], together 1."""


class Sighting(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One person in one frame."""

    person: PersonId
    still: bool
    looking: bool
    expression: Expression | None = None
    """The newest reading of it; only where the person looks and the stream lets it be read."""


class SeenFrame(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Everyone in view at one moment; nobody, too, is a finding."""

    at_ms: int
    """Unix time."""
    sightings: list[Sighting]


class Estimate(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is thought of a person by now; None where it is not known, or must not be computed."""

    confidence: float
    """That there is a person at all."""
    age: float | None = None
    age_confidence: float = 0.0
    gender: str | None = None
    gender_confidence: float = 0.0
    reads_expression: bool = True
    """Whether the stream lets it be known; False: not even what was read before."""


class Seen(msgspec.Struct, frozen=True):
    """What one call adds. Verdicts settle about a second late, because what follows tells what a moment was."""

    settled: list[SeenFrame]
    """Frames whose verdicts will not change any more, oldest first; each frame comes once in a session."""
    unsettled: list[SeenFrame]
    """The frames after those, as they look now: what would be settled if the session ended here."""
    estimates: dict[PersonId, Estimate]
    """Of the people in these frames and of those who ended."""
    ended: list[PersonId]
    """People who have left: no later frame has them."""
