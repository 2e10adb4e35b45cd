"""The expression of a person over about the last second."""

import msgspec

from onlooker.compute.sightings import Expression
from onlooker.compute.vision.expression import EXPRESSIONS

READINGS = 3


class Mood(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """Shares of EXPRESSIONS."""

    readings: int = 0
    shares: Expression = (0.0, 0.0, 0.0, 0.0, 0.0)
    read_ms: int = 0
    view: float = 0.0
    """How good the last view was."""

    @property
    def dominant(self) -> tuple[str, float]:
        share = max(self.shares)
        return EXPRESSIONS[self.shares.index(share)], share


def add_expression(mood: Mood, reading: dict[str, float], *, view: float, at_ms: int) -> Mood:
    """The mean of about the last readings."""
    readings = min(mood.readings + 1, READINGS)
    neutral, happiness, surprise, anger, sadness = (
        round(before + (reading[name] - before) / readings, 3)
        for name, before in zip(EXPRESSIONS, mood.shares, strict=True)
    )
    return Mood(readings, (neutral, happiness, surprise, anger, sadness), at_ms, view)
