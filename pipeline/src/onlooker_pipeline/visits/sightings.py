"""What a scene reports about its people, frame by frame: the input of visits."""

import msgspec

from onlooker_pipeline.expressions import Expression

PersonId = bytes
"""The 16 bytes of a UUID; stable during a visit, meaningless outside it."""


class Sighting(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One person in one frame."""

    person: PersonId
    still: bool
    looking: bool
    expression: Expression | None = None
    """The newest reading; only if the person looks and the stream allows it."""


class SeenFrame(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Everybody in view at one moment; an empty frame counts, too."""

    at_ms: int
    """Unix time."""
    sightings: list[Sighting]


class Estimate(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The current estimates about a person; None if not known or switched off."""

    confidence: float
    """That there is a person at all."""
    age: float | None = None
    age_confidence: float = 0.0
    gender: str | None = None
    gender_confidence: float = 0.0
    reads_expression: bool = True
    """Whether the stream allows expressions; if not, earlier readings are dropped, too."""


class Seen(msgspec.Struct, frozen=True):
    """What one call adds. Verdicts become final a second late, because they depend on what follows."""

    settled: list[SeenFrame]
    """Frames whose verdicts are final, oldest first; each frame comes once in a session."""
    unsettled: list[SeenFrame]
    """The frames after those, as judged now: what would be final if the session ended here."""
    estimates: dict[PersonId, Estimate]
    """Of the people in these frames and of those who left."""
    ended: list[PersonId]
    """People who have left: no later frame has them."""
