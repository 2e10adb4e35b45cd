"""What is usual for some hours of a weekday, by the weeks before, and whether a day leaves that range. Pure.

A count of people scatters more than chance alone makes it: days differ. Its variance is that of a negative binomial,
its mean plus a share of its square. The mean is the median of the same weekday's counts, corrected by how the last two
weeks went. The share is estimated from all weekdays together, since eight values of one tell it badly. Medians and
clipped residuals: a holiday or an outage among the weeks before moves neither.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from statistics import fmean, median

METRICS = ("passing_by", "interested")
"""What is judged, in the order of `Counts`."""
WEEKS = 8
"""Looked back at: more would tell of another season."""
LEAST_DAYS = 6
"""Of the same weekday, with these hours watched: a median of six is still right with two days among them that were not
usual."""
LEAST_RESIDUALS = 20
"""Days of all weekdays together; from fewer the scatter of days is not known."""
LEAST_USUAL = 30
"""People. Where fewer are usual chance alone makes halves and doubles."""
RECENT_DAYS = 14
LEAST_RECENT = 5
LARGEST_CORRECTION = 2.0
"""By how the last days went, up and down."""
DAY_REACH, HOUR_REACH = 3.7, 5.0
"""How many standard deviations are usual. The hours of a day so far and a single hour are looked at every hour of the
week, twice: the false alarms that this makes are measured."""
ONE_SIGMA = 0.6827
"""The share of values within one standard deviation."""
EARLIER_SHARE, EARLIER_WEIGHT = 0.02, 15
"""What is assumed of a stream's days before any is known, a standard deviation of 14 %, and for how many it counts."""
MEDIAN_VARIANCE = math.pi / 2
"""Of a median, as a multiple of a mean's."""
FEWER, MORE = 2 / 3, 3 / 2
"""A smaller change is not worth a mail, however steady the stream is."""

Counts = tuple[int, int]
Days = Mapping[date, Mapping[int, Counts]]
"""Of each local day the hours that were watched, with the people of each."""


@dataclass(frozen=True)
class UsualRange:
    """Between which counts one is usual, and the one in the middle."""

    low: float
    usual: float
    high: float


@dataclass(frozen=True)
class UnusualCount:
    """A count that is not usual for its hours."""

    metric: str
    hours: tuple[int, ...]
    """Local hours of the day, in order."""
    counted: int
    usual: UsualRange

    @property
    def is_more(self) -> bool:
        return self.counted > self.usual.high


def find_unusual(days: Days, day: date, hour: int) -> UnusualCount | None:
    """What the end of an hour shows first: of the day so far, then of the hour alone. None where all is usual, the hour
    was not watched, or too little is known."""
    watched = sorted(one for one in days.get(day, {}) if one <= hour)
    if not watched or watched[-1] != hour:
        return None
    for hours, reach in ((tuple(watched), DAY_REACH), ((hour,), HOUR_REACH)):
        for place, metric in enumerate(METRICS):
            counts = _add_up(days, hours, place)
            usual = find_usual_range({one: counts[one] for one in counts if one < day}, day, reach)
            if usual and not usual.low <= counts[day] <= usual.high:
                return UnusualCount(metric, hours, counts[day], usual)
    return None


def find_usual_range(counts: Mapping[date, int], day: date, reach: float) -> UsualRange | None:
    """From counts of the same hours on earlier days. None where too little is known."""
    by_weekday: dict[int, list[int]] = {}
    since = day - timedelta(weeks=WEEKS)
    for one, count in counts.items():
        if since <= one < day:
            by_weekday.setdefault(one.weekday(), []).append(count)
    known = {weekday: found for weekday, found in by_weekday.items() if len(found) >= LEAST_DAYS}
    medians = {weekday: float(median(found)) for weekday, found in known.items()}
    if medians.get(day.weekday(), 0) < LEAST_USUAL:
        return None
    steady = {weekday: middle for weekday, middle in medians.items() if middle >= LEAST_USUAL / 2}
    if sum(len(known[weekday]) for weekday in steady) < LEAST_RESIDUALS:
        return None
    usual = medians[day.weekday()] * _find_level(counts, day, steady)
    share = _find_day_share([(middle, known[weekday]) for weekday, middle in steady.items()])
    uncertainty = MEDIAN_VARIANCE * (1 / len(known[day.weekday()]) + 1 / RECENT_DAYS)
    variance = (1 / usual + share) * (1 + uncertainty)
    return UsualRange(
        low=min(usual * gamma_quantile(variance, -reach), usual * FEWER),
        usual=usual,
        high=max(usual * gamma_quantile(variance, reach), usual * MORE),
    )


def gamma_quantile(variance: float, reach: float) -> float:
    """Of a gamma distribution around 1, which a count over its mean nearly has, by Wilson and Hilferty. `reach`: the
    standard normal's quantile of the same probability."""
    return math.pow(max(0.0, 1 - variance / 9 + reach * math.sqrt(variance) / 3), 3)


def _add_up(days: Days, hours: Sequence[int], place: int) -> dict[date, int]:
    """Of the days on which all these hours were watched."""
    return {
        day: sum(found[hour][place] for hour in hours)
        for day, found in days.items()
        if all(hour in found for hour in hours)
    }


def _find_level(counts: Mapping[date, int], day: date, medians: Mapping[int, float]) -> float:
    """How the last days went beside their weekdays' medians: the season goes on while the weeks before lie back."""
    recent = [
        count / medians[one.weekday()]
        for one, count in counts.items()
        if day - timedelta(days=RECENT_DAYS) <= one < day and one.weekday() in medians
    ]
    if len(recent) < LEAST_RECENT:
        return 1.0
    return min(max(median(recent), 1 / LARGEST_CORRECTION), LARGEST_CORRECTION)


def _find_day_share(groups: Sequence[tuple[float, Sequence[int]]]) -> float:
    """The square of the share of the mean by which days scatter beyond chance. A group: a median, counts around it."""
    squares: list[float] = []
    chance: list[float] = []
    for middle, found in groups:
        spread = len(found) / (len(found) - 1)
        squares += [9 * ((count / middle) ** (1 / 3) - 1) ** 2 * spread for count in found]
        chance += [1 / middle] * len(found)
    squares.sort()
    variance = squares[min(int(ONE_SIGMA * len(squares)), len(squares) - 1)]
    beyond = max(variance - fmean(chance), 0.0)
    return (beyond * len(squares) + EARLIER_SHARE * EARLIER_WEIGHT) / (len(squares) + EARLIER_WEIGHT)
