"""Whole weeks of a stream that tells about people in groups: those of a period, and what is told of them."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from onlooker.console.breakdowns.cell_numbers import CellNumbers, Parts, in_reading_order
from onlooker.console.dashboard.period import Period
from onlooker.database import Pool
from onlooker.metrics.buckets import Week, week_around
from onlooker.metrics.definitions import Figures
from onlooker.metrics.dimensions import DIMENSIONS
from onlooker.metrics.week_cells import ToldWeeks, read_last_weeks, read_told_weeks

OFFERED_WEEKS = 4
"""The last ones that are told, where a period has none."""
_OFFERED = timedelta(weeks=OFFERED_WEEKS, hours=1)
"""With the hour by which clocks go back."""


@dataclass(frozen=True)
class PeriodWeeks:
    """The weeks of a period, from Monday to Monday by the stream's clock."""

    told: ToldWeeks
    late: tuple[Week, ...]
    """Over, but not all of their blocks are released."""
    untold: tuple[Week, ...]
    """Never told."""
    offered: tuple[Week, ...] = ()
    """Of another time, where none of these is told."""


@dataclass(frozen=True)
class WeekCells(CellNumbers):
    """Sums of cells, exactly those that the data endpoint answers of the same weeks."""

    told: ToldWeeks

    def groups_of(self, dimension: str) -> tuple[Parts, ...]:
        parts = DIMENSIONS[dimension].parts
        kept, order = set(self.source.breakdown.kept.get(dimension, parts)), in_reading_order(dimension, parts)
        groups = [group for group in self.told.partition(dimension) if set(group) <= kept]
        return tuple(sorted(groups, key=lambda group: min(map(order.index, group))))

    def add_up(self, *names: str) -> dict[Parts, Figures]:
        return dict(self.told.add_cells(replace(self.source.breakdown, by=names), self.source.metrics))

    def add_up_hours(self, *names: str) -> dict[Parts, list[Figures]]:
        return {}


async def read_weeks(pool: Pool, stream_id: int, period: Period) -> PeriodWeeks:
    whole = list_whole_weeks(period.from_at, period.to_at, period.zone)
    until, told = await read_told_weeks(pool, stream_id, period.from_at, period.to_at)
    past = [week for week in whole if until and week[1] <= until]
    told = told.inside(past[0][0], past[-1][1]) if past else ToldWeeks([])
    weeks = told.weeks
    return PeriodWeeks(
        told=told,
        late=tuple(whole[len(past) :]),
        untold=tuple(week for week in past if not any(one[0] < week[1] and week[0] < one[1] for one in weeks)),
        offered=() if weeks else _choose_offered(await read_last_weeks(pool, stream_id, OFFERED_WEEKS)),
    )


def list_whole_weeks(from_at: datetime, to_at: datetime, zone: ZoneInfo) -> list[Week]:
    """Those that lie inside a range."""
    found = []
    week = week_around(from_at, zone)
    while week[1] <= to_at:
        if week[0] >= from_at:
            found.append(week)
        week = week_around(week[1], zone)
    return found


def _choose_offered(latest: list[Week]) -> tuple[Week, ...]:
    """Of the last weeks, those that one short period has."""
    return tuple(sorted(week for week in latest if latest[0][1] - week[0] <= _OFFERED))
