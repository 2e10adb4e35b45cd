"""Age, gender and expression of a person as running means over their views."""

from typing import NamedTuple

import msgspec

from onlooker_pipeline.expressions import EXPRESSIONS, Expression
from onlooker_pipeline.vision.age_and_gender import ADULT_YEARS, Gender, age_confidence, estimate_gender

WEIGHT_LIMIT = 60.0
"""Limit for earlier readings: beyond it the mean keeps following, slowly."""
USUAL_SPREAD_YEARS = 10.0
"""A reading with twice the spread counts a quarter."""
READINGS = 3
"""Of the expression: about a second."""


class ProfileReading(NamedTuple):
    """What the nets say about one view; None if the stream has switched it off."""

    age_years: float | None
    spread_years: float
    """Of the age: how far it may be off."""
    male_probability: float | None


class Profile(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """What the nets said about a person, each reading weighted by how good the view and how clear the face was."""

    readings: int = 0
    weight: float = 0.0
    age_years: float | None = None
    male_probability: float | None = None
    spread_years: float = 0.0
    read_ms: int = 0
    best_view: float = 0.0

    def age(self) -> tuple[float, float] | None:
        """Years and confidence; None before the first reading."""
        if self.age_years is None:
            return None
        return self.age_years, age_confidence(self.age_years, self.spread_years)

    def gender(self) -> tuple[Gender, float] | None:
        """If the age is switched off, everybody is assumed to be an adult."""
        if self.male_probability is None:
            return None
        age = self.age()
        return estimate_gender(self.male_probability, age_years=age[0] if age else ADULT_YEARS)


def add_reading(profile: Profile, reading: ProfileReading, *, view: float, at_ms: int) -> Profile:
    """`view` is the quality of the view: a better one has more weight. What is no longer read is dropped."""
    own = view * (USUAL_SPREAD_YEARS / max(reading.spread_years, 1.0)) ** 2
    weight = profile.weight + own
    share = own / max(weight, 1e-9)
    return Profile(
        readings=profile.readings + 1,
        weight=min(weight, WEIGHT_LIMIT),
        age_years=_blend(profile.age_years, reading.age_years, share),
        male_probability=_blend(profile.male_probability, reading.male_probability, share),
        spread_years=profile.spread_years + share * (reading.spread_years - profile.spread_years),
        read_ms=at_ms,
        best_view=max(profile.best_view, view),
    )


def _blend(before: float | None, now: float | None, share: float) -> float | None:
    return now if before is None or now is None else before + share * (now - before)


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
