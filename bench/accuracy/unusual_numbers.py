"""How often mails about unusual numbers are false, and how many changed days they notice, on made-up weeks.

Quiet weeks have Poisson counts around a weekly pattern, a slow season and overdispersed hours and days. The range's
constants were chosen on other seeds than those that are judged here.
"""

import argparse
import math
from dataclasses import dataclass, field
from datetime import date
from statistics import median

import numpy as np

from bench.accuracy.unusual_weeks import (
    JUDGED_WEEKS,
    QuietStream,
    day_of,
    draw_day,
    draw_days,
    draw_streams,
)
from bench.lib.figures import Figure
from bench.lib.product import conclude, concluding, say
from onlooker.metrics.usual_range import Days, find_unusual

TUNED_SEED, HELD_OUT_SEED = 1, 20261118
WEEKS = 1000
CHANGED_DAYS = 3
"""Of each kind and stream."""
LEAST_HOURS = 4
"""Watched on a day that is changed."""
BUSY = 300
"""People on a day."""
FALSE_PER_WEEK = 1 / 20
NOTICED = 0.5
"""Most of them."""


@dataclass
class Noticed:
    """Of changed days."""

    days: int = 0
    found: int = 0
    busy: int = 0
    found_busy: int = 0
    hours: list[int] = field(default_factory=list)
    """From the change to the mail, counted from the first watched hour with it."""

    @property
    def share(self) -> float:
        return self.found / self.days if self.days else float("nan")

    @property
    def share_of_busy(self) -> float:
        return self.found_busy / self.busy if self.busy else float("nan")

    def add(self, people: float, hours: int | None) -> None:
        self.days += 1
        self.found += hours is not None
        if people >= BUSY:
            self.busy += 1
            self.found_busy += hours is not None
        if hours is not None:
            self.hours.append(hours)


@dataclass
class Outcome:
    """Of many streams."""

    weeks: int = 0
    false: int = 0
    half: Noticed = field(default_factory=Noticed)
    double: Noticed = field(default_factory=Noticed)
    closed: Noticed = field(default_factory=Noticed)

    @property
    def false_per_week(self) -> float:
        return self.false / self.weeks


def judge(days: Days, day: date, *, is_more: bool | None = None, from_hour: int = 0) -> int | None:
    """Hour by hour, as the console does: after how many watched hours a finding comes; None if the day ends first."""
    for number, hour in enumerate(hour for hour in sorted(days[day]) if hour >= from_hour):
        found = find_unusual(days, day, hour)
        if found and is_more in (None, found.is_more):
            return number + 1
    return None


def run(seed: int, weeks: int) -> Outcome:
    outcome = Outcome()
    for draw, stream in draw_streams(seed, -(-weeks // JUDGED_WEEKS)):
        days = draw_days(draw, stream)
        outcome.weeks += JUDGED_WEEKS
        outcome.false += sum(judge(days, day_of(number)) is not None for number in stream.judged_days)
        judge_changes(draw, stream, days, outcome)
    return outcome


def judge_changes(draw: np.random.Generator, stream: QuietStream, days: Days, outcome: Outcome) -> None:
    open_days = [number for number in stream.judged_days if stream.watched[number].sum() >= LEAST_HOURS]
    if not open_days:
        return
    for number in map(int, draw.choice(open_days, CHANGED_DAYS)):
        people = float(stream.expected[number].sum())
        for factor, noticed in ((0.5, outcome.half), (2.0, outcome.double)):
            day, counts = draw_day(draw, stream, number, factor=factor)
            noticed.add(people, judge({**days, day: counts}, day, is_more=factor > 1))
        hours = np.flatnonzero(stream.watched[number])
        closed_from = int(hours[len(hours) // 2])
        day, counts = draw_day(draw, stream, number, closed_from=closed_from)
        outcome.closed.add(people, judge({**days, day: counts}, day, is_more=False, from_hour=closed_from))


def median_of(hours: list[int]) -> float:
    return float(median(hours)) if hours else math.nan


def as_figures(outcome: Outcome) -> list[Figure]:
    return [
        Figure("weeks", outcome.weeks),
        Figure("false_mails", outcome.false),
        Figure("false_mails_per_stream_and_week", outcome.false_per_week, at_most=FALSE_PER_WEEK),
        Figure("halved_days_noticed", outcome.half.share, at_least=NOTICED),
        Figure("doubled_days_noticed", outcome.double.share, at_least=NOTICED),
        Figure("closed_at_noon_noticed", outcome.closed.share, at_least=NOTICED),
        Figure("halved_busy_days_noticed", outcome.half.share_of_busy, at_least=NOTICED),
        Figure("doubled_busy_days_noticed", outcome.double.share_of_busy, at_least=NOTICED),
        Figure("hours_to_notice_closed", median_of(outcome.closed.hours)),
        Figure("hours_to_notice_half", median_of(outcome.half.hours)),
    ]


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weeks", type=int, nargs="?", default=WEEKS, help="quiet weeks of streams")
    parser.add_argument("seed", type=int, nargs="?", default=HELD_OUT_SEED, help=f"{TUNED_SEED} was tuned on")
    arguments = parser.parse_args()
    figures = as_figures(run(arguments.seed, arguments.weeks))
    for figure in figures:
        say(f"{figure.name:34} {figure.value:8.3f}  {figure.target:14} {figure.verdict if figure.target else ''}")
    values = {figure.name: round(figure.value, 4) for figure in figures}
    targets = {f"{figure.name}_target": figure.at_most or figure.at_least for figure in figures if figure.target}
    ok = all(figure.met for figure in figures if figure.target)
    conclude({"ok": ok, "seed": arguments.seed, "least_people_of_a_busy_day": BUSY} | values | targets)


if __name__ == "__main__":
    main()
