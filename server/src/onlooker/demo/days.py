"""The days of a place: how busy each one is, when it was not watched, and everybody who came. Pure."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from random import Random
from zoneinfo import ZoneInfo

from onlooker.demo.people import draw_visit
from onlooker.demo.places import Lapse, Place
from onlooker.metrics.coverage import Absence
from onlooker.streams.video_time import month_end
from onlooker_pipeline.visits.visit import Visit

WEATHER = 0.13
"""How far days deviate from what is usual."""
PARTY_APART_S = 1.2
USUAL_YEAR = 2026


@dataclass(frozen=True)
class Gap:
    """A period in which a stream saw nobody."""

    why: Absence
    from_at: datetime
    to_at: datetime


def find_gaps(place: Place, *, now: datetime) -> list[Gap]:
    """The lapses of a place before a moment, in chronological order."""
    zone = ZoneInfo(place.zone)
    return sorted((_gap_of(lapse, place, now.astimezone(zone).date()) for lapse in place.lapses), key=_begin)


def _begin(gap: Gap) -> datetime:
    return gap.from_at


def _gap_of(lapse: Lapse, place: Place, today: date) -> Gap:
    day = today - timedelta(days=lapse.days_ago)
    while not place.week[day.weekday()]:
        day -= timedelta(days=1)
    from_at = local_moment(day, lapse.from_hour, place.zone)
    to_at = local_moment(day, lapse.from_hour + lapse.for_hours, place.zone)
    if lapse.why is Absence.QUOTA:  # a new month has a new quota
        to_at = min(to_at, month_end(from_at.timestamp()))
    return Gap(lapse.why, from_at, to_at)


def local_moment(day: date, hour: float, zone: str) -> datetime:
    """A local time in UTC; the hour may lie in a later day."""
    midnight = datetime(day.year, day.month, day.day)
    return (midnight + timedelta(hours=hour)).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


def draw_day(place: Place, day: date, gaps: Sequence[Gap]) -> list[Visit]:
    """Everybody who came on a day and was seen, in chronological order; always the same for the same day."""
    random = Random(f"{place.name} {day}")  # noqa: S311
    usual = place.people_a_day * _weather(place.name, day) * _season(place, day)
    visits: list[Visit] = []
    for hour in range(24):
        begin_ms = _unix_ms(local_moment(day, hour, place.zone))
        length_ms = _unix_ms(local_moment(day, hour + 1, place.zone)) - begin_ms  # none, or two hours, once a year
        people = usual * place.busyness(day, hour) if length_ms else 0.0
        for share in _arrivals(people, place, random):
            visits.append(draw_visit(place.crowd, begin_ms + int(share * length_ms), random))
    hidden = [(_unix_ms(gap.from_at), _unix_ms(gap.to_at)) for gap in gaps]
    seen = [one for one in visits if not any(one.began_ms < to and one.present[-1][1] > since for since, to in hidden)]
    return sorted(seen, key=lambda visit: visit.began_ms)


def _arrivals(people: float, place: Place, random: Random) -> Iterator[float]:
    """When people come, as fractions of an hour; parties come together."""
    sizes = range(1, len(place.crowd.parties) + 1)
    mean = sum(map(float.__mul__, place.crowd.parties, map(float, sizes))) / sum(place.crowd.parties)
    at = random.expovariate(people / mean) if people else 1.0
    while at < 1:
        for number in range(random.choices(sizes, place.crowd.parties)[0]):
            yield at + number * random.uniform(0.3, PARTY_APART_S) / 3600
        at += random.expovariate(people / mean)


@lru_cache(maxsize=4096)
def _mood_of(name: str, day: date) -> float:
    return Random(f"{name} weather {day}").gauss(0, 1)  # noqa: S311


def _weather(name: str, day: date) -> float:
    """Around 1; a day resembles the one before."""
    moods = (_mood_of(name, day - timedelta(days=ago)) * 0.6**ago for ago in range(5))
    return math.exp(WEATHER * sum(moods))


def _season(place: Place, day: date) -> float:
    """Growth from year to year, and a little more in summer and before the year ends."""
    years = (day - date(USUAL_YEAR, 7, 1)).days / 365.25
    return float((1 + place.growth_a_year) ** years) * (1 + 0.06 * math.cos(4 * math.pi * years))


def _unix_ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
