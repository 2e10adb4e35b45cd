"""Made-up weeks of streams: quiet ones, with nothing but chance and the season, and days that are changed."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray

from onlooker.metrics.usual_range import WEEKS, Counts

HOURS = np.arange(24)
MONDAY = date(2026, 1, 5)
JUDGED_WEEKS = 4
"""Of each stream, after those that are looked back at."""
FEWEST, MOST = 60.0, 5000.0
"""People on a mean day."""
DAY_SCATTER, HOUR_SCATTER, SHARE_SCATTER = (0.05, 0.2), (0.05, 0.25), (0.0, 0.15)
"""Standard deviations of what a day, an hour or a day's share of interested people is multiplied by."""
SEASON = 0.25
"""How far the largest season goes up and down within a year."""
LOST_HOURS, LOST_DAYS, ODD_DAYS = 0.01, 0.01, 0.02
"""Shares that were not watched, and of earlier days on which something else happened."""
ODD_FACTORS = (0.2, 0.5, 2.0)

Hours = NDArray[np.float64]


@dataclass(frozen=True)
class QuietStream:
    """What is to be expected in each hour of each day, and what was watched."""

    expected: Hours
    share: Hours
    """Of each day: how many of those who pass by are interested."""
    watched: NDArray[np.bool_]
    day_scatter: float

    @property
    def judged_days(self) -> range:
        return range(7 * WEEKS, len(self.expected))


def draw_stream(draw: np.random.Generator) -> QuietStream:
    """Open on at least the weekdays, for at least six hours."""
    days = 7 * (WEEKS + JUDGED_WEEKS)
    opens = int(draw.integers(0, 11))
    closes = int(draw.integers(max(opens + 6, 17), 25)) if opens > 4 else 24
    bells = [
        draw.uniform(0.3, 1) * np.exp(-(((HOURS - draw.uniform(8, 21)) / draw.uniform(1, 4)) ** 2) / 2)
        for _ in range(3)
    ]
    shape = np.where((opens <= HOURS) & (closes > HOURS), sum(bells) + 0.02, 0.0)
    weekdays = draw.uniform(0.6, 1.5, 7) * np.where(np.arange(7) < 5, 1, draw.random(7) < 0.7)
    day_scatter, hour_scatter = draw.uniform(*DAY_SCATTER), draw.uniform(*HOUR_SCATTER)
    season = 1 + draw.uniform(0, SEASON) * np.sin(2 * math.pi * np.arange(days) / 365 + draw.uniform(0, 2 * math.pi))
    level = math.exp(draw.uniform(math.log(FEWEST), math.log(MOST))) * season * np.tile(weekdays, len(season) // 7)
    level = level * _scatter(draw, day_scatter, days)
    expected = level[:, None] * (shape / shape.sum()) * _scatter(draw, hour_scatter, (days, 24))
    share = draw.uniform(0.1, 0.4) * _scatter(draw, draw.uniform(*SHARE_SCATTER), days)
    watched = (draw.random((days, 24)) >= LOST_HOURS) & (expected > 0) & (draw.random((days, 1)) >= LOST_DAYS)
    odd = np.where(draw.random(days) < ODD_DAYS, draw.choice(ODD_FACTORS, days), 1.0)
    odd[7 * WEEKS :] = 1.0
    return QuietStream(expected * odd[:, None], np.minimum(share, 0.9), watched, day_scatter)


def draw_days(draw: np.random.Generator, stream: QuietStream) -> dict[date, dict[int, Counts]]:
    """Whom a camera counts: Poisson around what is to be expected."""
    return dict(draw_day(draw, stream, day) for day in range(len(stream.expected)))


def draw_day(
    draw: np.random.Generator, stream: QuietStream, day: int, *, factor: float = 1.0, closed_from: int = 24
) -> tuple[date, dict[int, Counts]]:
    """As it is, or with a multiple of the people, or with nobody from some hour on."""
    counts = {}
    for hour in np.flatnonzero(stream.watched[day]):
        passing_by = int(draw.poisson(stream.expected[day, hour] * factor)) if hour < closed_from else 0
        counts[int(hour)] = (passing_by, int(draw.binomial(passing_by, stream.share[day])))
    return MONDAY + timedelta(days=day), counts


def day_of(number: int) -> date:
    return MONDAY + timedelta(days=number)


def _scatter(draw: np.random.Generator, deviation: float, size: int | tuple[int, int]) -> Hours:
    """Around 1: with it a Poisson count is a negative binomial one."""
    shape = 1 / max(deviation, 1e-3) ** 2
    return draw.gamma(shape, 1 / shape, size)


def draw_streams(seed: int, many: int) -> Iterator[tuple[np.random.Generator, QuietStream]]:
    """Each from a generator of its own."""
    for child in np.random.default_rng(seed).spawn(many):
        yield child, draw_stream(child)
