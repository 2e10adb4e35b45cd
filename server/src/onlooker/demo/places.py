"""The places of the demo: when people come, who they are, and when the camera missed them."""

from dataclasses import dataclass, replace
from datetime import date

from onlooker.metrics.coverage import Absence


@dataclass(frozen=True)
class Lapse:
    """A period without coverage, in local time."""

    why: Absence
    days_ago: int
    """Or on the nearest open day before."""
    from_hour: float
    for_hours: float


@dataclass(frozen=True)
class Crowd:
    """Who comes, and what they do."""

    stops: float
    """Share of people who stop and look."""
    glances: float
    """Share of the others who look for a moment."""
    stop_s: float
    """How long most people who stop stay."""
    women: float
    ages: tuple[tuple[float, float, float], ...]
    """Groups of people: their share, their mean age, and its deviation."""
    moods: tuple[float, float, float, float, float]
    """How often each dominates a face: neutral, happiness, surprise, anger, sadness."""
    parties: tuple[float, ...]
    """How often people come alone, in pairs, in threes ..."""


@dataclass(frozen=True)
class Place:
    """What a camera looks at."""

    name: str
    zone: str
    people_a_day: float
    """On a usual day."""
    week: tuple[float, ...]
    """From Monday, relative to a usual day; 0: closed."""
    opens_at: int
    curve: tuple[float, ...]
    """How busy each hour after opening is, relative to the others."""
    outside: float
    """How busy an hour is while it is closed."""
    growth_a_year: float
    face_px: float
    """How large faces are in its picture."""
    crowd: Crowd
    lapses: tuple[Lapse, ...] = ()

    def busyness(self, day: date, hour: int) -> float:
        """The share of a usual day's people who come in an hour."""
        place, is_open = hour - self.opens_at, self.week[day.weekday()] > 0
        weight = self.curve[place] if is_open and 0 <= place < len(self.curve) else self.outside
        return weight * (self.week[day.weekday()] if is_open else 1.0) / sum(self.curve)


_SHOPPERS = Crowd(
    stops=0.13,
    glances=0.3,
    stop_s=6.5,
    women=0.57,
    ages=((0.1, 9, 3), (0.24, 21, 4), (0.38, 34, 8), (0.2, 53, 8), (0.08, 70, 6)),
    moods=(0.64, 0.24, 0.07, 0.02, 0.03),
    parties=(0.74, 0.19, 0.05, 0.02),
)
_VISITORS = Crowd(
    stops=0.46,
    glances=0.45,
    stop_s=19.0,
    women=0.52,
    ages=((0.2, 10, 3), (0.14, 20, 4), (0.26, 36, 7), (0.24, 55, 8), (0.16, 69, 6)),
    moods=(0.45, 0.37, 0.13, 0.01, 0.04),
    parties=(0.42, 0.34, 0.14, 0.1),
)

SHOP = Place(
    name="Shop window",
    zone="Europe/Paris",
    people_a_day=520,
    week=(0.84, 0.9, 1.0, 0.97, 1.16, 1.42, 0.0),
    opens_at=9,
    curve=(0.5, 0.72, 0.92, 1.3, 1.12, 0.82, 0.86, 1.05, 1.42, 1.25, 0.6),
    outside=0.055,
    growth_a_year=0.22,
    face_px=70,
    crowd=_SHOPPERS,
    lapses=(
        Lapse(Absence.OFFLINE, days_ago=5, from_hour=0, for_hours=24),
        Lapse(Absence.OFFLINE, days_ago=3, from_hour=12.3, for_hours=4.1),
        Lapse(Absence.REFUSED, days_ago=9, from_hour=16, for_hours=2),
    ),
)
MUSEUM = Place(
    name="Museum kiosk",
    zone="America/New_York",
    people_a_day=260,
    week=(0.0, 0.72, 0.78, 0.86, 0.95, 1.6, 1.48),
    opens_at=10,
    curve=(0.6, 1.0, 1.25, 0.95, 1.1, 1.3, 1.05, 0.5),
    outside=0.0,
    growth_a_year=-0.08,
    face_px=34,
    crowd=_VISITORS,
    lapses=(
        Lapse(Absence.QUOTA, days_ago=19, from_hour=13, for_hours=22),
        Lapse(Absence.OFFLINE, days_ago=8, from_hour=2, for_hours=9.5),
        Lapse(Absence.DISABLED, days_ago=4, from_hour=13.5, for_hours=5),
    ),
)
PLACES = (SHOP, MUSEUM)

_TOWNS = ("Europe/Paris", "America/New_York", "Europe/Berlin", "Asia/Tokyo", "Europe/London", "America/Sao_Paulo")


def many_places(count: int, *, people_a_day: float = 60) -> tuple[Place, ...]:
    """Places like these two in many towns, each between half and twice as busy."""
    return tuple(_another(number, people_a_day) for number in range(count))


def _another(number: int, people_a_day: float) -> Place:
    model, zone = PLACES[number % 2], _TOWNS[number % len(_TOWNS)]
    return replace(
        model,
        name=f"{model.name} {number + 1}, {zone.partition('/')[2].replace('_', ' ')}",
        zone=zone,
        people_a_day=people_a_day * (0.5 + (number * 7 % 10) / 6),
        growth_a_year=(number * 3 % 8 - 3) / 10,
        crowd=replace(model.crowd, stops=model.crowd.stops * (0.7 + (number * 5 % 9) / 12)),
        lapses=tuple(replace(lapse, days_ago=lapse.days_ago + number % 5) for lapse in model.lapses),
    )
