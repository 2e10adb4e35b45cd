"""Age and gender of a person as running means over their better views."""

from typing import NamedTuple

import msgspec

from onlooker.compute.vision.age import ADULT_YEARS, estimate_age
from onlooker.compute.vision.gender import Gender, estimate_gender

WEIGHT_LIMIT = 60.0
"""Of what was read before: from here on the mean follows slowly, for ever."""


class ProfileReading(NamedTuple):
    """What the nets say of one view; None where a stream has switched it off."""

    side_px: float
    age_years: float | None
    male_probability: float | None


class Profile(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """What the nets said of a person, each reading by how well they could see."""

    readings: int = 0
    weight: float = 0.0
    age_years: float | None = None
    """As the net reads it, before correction."""
    male_probability: float | None = None
    side_px: float = 0.0
    read_ms: int = 0
    best_view: float = 0.0

    def age(self) -> tuple[float, float] | None:
        """Years and confidence; None before the first reading."""
        return None if self.age_years is None else estimate_age(self.age_years, side_px=self.side_px)

    def gender(self) -> tuple[Gender, float] | None:
        """Where the age must not be read, everybody is taken for an adult."""
        if self.male_probability is None:
            return None
        age = self.age()
        return estimate_gender(self.male_probability, age_years=age[0] if age else ADULT_YEARS)


def add_reading(profile: Profile, reading: ProfileReading, *, view: float, at_ms: int) -> Profile:
    """`view` is how good the view was; a good one counts for more. What is not read any more is forgotten."""
    weight = profile.weight + view
    share = view / max(weight, 1e-9)
    return Profile(
        readings=profile.readings + 1,
        weight=min(weight, WEIGHT_LIMIT),
        age_years=_blend(profile.age_years, reading.age_years, share),
        male_probability=_blend(profile.male_probability, reading.male_probability, share),
        side_px=profile.side_px + share * (reading.side_px - profile.side_px),
        read_ms=at_ms,
        best_view=max(profile.best_view, view),
    )


def _blend(before: float | None, now: float | None, share: float) -> float | None:
    return now if before is None or now is None else before + share * (now - before)
