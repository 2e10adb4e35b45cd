"""Any number by hour of the week: counts for each watched hour, means and shares of the hour's people. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from onlooker.console.breakdowns.part_names import name_part
from onlooker.console.breakdowns.people_cells import PeopleCells
from onlooker.console.breakdowns.selection import Selection
from onlooker.console.dashboard.figures import COUNTED, FIGURE_KINDS, NO_VALUE
from onlooker.console.dashboard.report import Week, draw_week
from onlooker.console.languages.locale_text import translate, write_decimal
from onlooker.metrics.dimensions import HOURS, WEEKDAYS

WORKING_DAYS, WEEKENDS = WEEKDAYS[:5], WEEKDAYS[5:]


@dataclass(frozen=True)
class HeatLink:
    """A row, a column or a cell: it leads to the numbers of its hours."""

    key: str
    name: str
    address: str
    is_chosen: bool
    whose: str = ""
    """Of a cell: its day and hour."""


@dataclass(frozen=True)
class HeatMap:
    """24 hours of each day of the week."""

    metric: str
    name: str
    unit: str
    hours: tuple[HeatLink, ...]
    rows: tuple[tuple[HeatLink, tuple[HeatLink, ...]], ...]
    days: tuple[HeatLink, ...]
    """Those that are asked for together: from Monday to Friday, and weekends."""
    values: Week
    outside: tuple[int, ...]
    """Hours of the week that are not asked for, by number."""
    few: tuple[int, ...]
    """Those of too few people to tell a mean or a share of."""

    @property
    def is_rate(self) -> bool:
        return self.metric in COUNTED

    @property
    def has_values(self) -> bool:
        return any(value is not None for day in self.values for value in day)

    @property
    def data(self) -> dict[str, Any]:
        return {
            "unit": self.unit,
            "isRate": self.is_rate,
            "days": [day.name for day, _ in self.rows],
            "values": self.values,
            "shown": [[cell.name for cell in cells] for _, cells in self.rows],
            "outside": self.outside,
            "few": self.few,
        }


def make_heat_map(cells: PeopleCells, selection: Selection) -> HeatMap:
    metric, kind = selection.heat, FIGURE_KINDS[selection.heat]
    breakdown = cells.source.breakdown
    asked = {hour for hour in set(cells.of_week) if breakdown.has_hour(hour)}
    values, few = _draw_counts(cells, metric, asked) if metric in COUNTED else _draw_means(cells, metric)
    weekdays = {weekday: name_part("weekday", weekday) for weekday in WEEKDAYS}
    hours = {hour: name_part("hour_of_day", hour) for hour in HOURS}
    rows = tuple(
        (
            _link(selection, {"weekday": (weekday,)}, weekdays[weekday]),
            tuple(
                _link(
                    selection,
                    {"weekday": (weekday,), "hour_of_day": (hour,)},
                    _show(metric, value),
                    whose=f"{weekdays[weekday]} {hours[hour]}",
                )
                for hour, value in zip(HOURS, day, strict=True)
            ),
        )
        for weekday, day in zip(WEEKDAYS, values, strict=True)
    )
    return HeatMap(
        metric=metric,
        name=translate(kind.name),
        unit=kind.unit,
        hours=tuple(_link(selection, {"hour_of_day": (hour,)}, hour) for hour in HOURS),
        rows=rows,
        days=(
            _link(selection, {"weekday": WORKING_DAYS}, gettext("Monday to Friday")),
            _link(selection, {"weekday": WEEKENDS}, gettext("Weekends")),
        ),
        values=values,
        outside=tuple(hour for hour in range(len(WEEKDAYS) * len(HOURS)) if hour not in asked),
        few=few,
    )


def _draw_counts(cells: PeopleCells, metric: str, asked: set[int]) -> tuple[Week, tuple[int, ...]]:
    """As the hours of the week above are drawn: hours that were hardly watched say nothing."""
    people = [0] * len(cells.of_week)
    for hour, _, figures in cells.cells:
        people[hour] += cells.count_of(metric, figures)
    kept_s = [lasted_s if hour in asked else 0.0 for hour, lasted_s in zip(cells.of_week, cells.covered_s, strict=True)]
    return draw_week(cells.of_week, people, kept_s), ()


def _draw_means(cells: PeopleCells, metric: str) -> tuple[Week, tuple[int, ...]]:
    sums = cells.add_up("weekday", "hour_of_day")
    places = [(weekday, hour) for weekday in WEEKDAYS for hour in HOURS]
    values = [cells.tell(metric, sums.get(place)) for place in places]
    people = [cells.people_of(metric, sums.get(place)) for place in places]
    few = tuple(
        number for number, (value, some) in enumerate(zip(values, people, strict=True)) if some and value is None
    )
    days = range(0, len(places), len(HOURS))
    return tuple(tuple(values[first : first + len(HOURS)]) for first in days), few


def _show(metric: str, value: float | None) -> str:
    if value is None:
        return NO_VALUE
    return write_decimal(value, 1) if metric in COUNTED else FIGURE_KINDS[metric].show(value)


def _link(selection: Selection, parts: dict[str, Sequence[str]], name: str, *, whose: str = "") -> HeatLink:
    kept = {dimension: tuple(some) for dimension, some in parts.items()}
    key = ".".join(part for some in kept.values() for part in some)
    return HeatLink(key, name, selection.toggle(kept), selection.has(kept), whose)
