"""How long people stand still or look, by age, by gender, or by hour of the day: means with their intervals. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from onlooker.console.breakdowns.cell_numbers import CellNumbers
from onlooker.console.breakdowns.part_names import DIMENSION_NAMES, name_group
from onlooker.console.breakdowns.selection import Selection
from onlooker.console.dashboard.figures import FIGURE_KINDS, NO_VALUE
from onlooker.console.languages.locale_text import translate
from onlooker.metrics.definitions import UNKNOWN, Number
from onlooker.metrics.intervals import Interval
from onlooker.metrics.week_parts import JOINT, join_name


@dataclass(frozen=True)
class MeanRow:
    """A mean of some people; they may be too few to be told about."""

    key: str
    place: str
    """The row of the chart; genders share one."""
    part: str
    """Its last one."""
    name: str
    address: str
    is_chosen: bool
    people: int
    value: Number
    interval: Interval | None
    shown: str
    shown_interval: str


@dataclass(frozen=True)
class MeanTimes:
    """The rows of the chart."""

    metric: str
    name: str
    heading: str
    """Of the first column."""
    dimensions: tuple[str, ...]
    rows: tuple[MeanRow, ...]
    """Those of all parts that the filter keeps."""

    @property
    def has_values(self) -> bool:
        return any(row.value is not None for row in self.rows)

    @property
    def data(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "isUpright": self.dimensions == ("hour_of_day",),
            "rows": [
                {
                    "key": row.key,
                    "place": row.place,
                    "name": row.name,
                    "mark": _mark_of(row.key, self.dimensions),
                    "part": row.part,
                    "offset": _offset_of(row.key, self.dimensions),
                    "value": row.value,
                    "interval": [row.interval.low, row.interval.high] if row.interval else None,
                    "shown": row.shown,
                    "shownInterval": row.shown_interval,
                    "people": row.people,
                }
                for row in self.rows
            ],
        }


def make_means(cells: CellNumbers, selection: Selection) -> MeanTimes:
    dimensions = tuple(selection.across.split(","))
    heading = ", ".join(str(DIMENSION_NAMES[name]) for name in dimensions)
    name = translate(FIGURE_KINDS[selection.mean].name)
    return MeanTimes(selection.mean, name, heading, dimensions, tuple(_make_rows(cells, selection, dimensions)))


def _make_rows(cells: CellNumbers, selection: Selection, dimensions: tuple[str, ...]) -> Iterator[MeanRow]:
    metric, kind = selection.mean, FIGURE_KINDS[selection.mean]
    sums, hours = cells.add_up(*dimensions), cells.add_up_hours(*dimensions)
    for groups in product(*map(cells.groups_of, dimensions)):
        parts = tuple(map(join_name, groups))
        figures = sums.get(parts)
        value = cells.tell(metric, figures)
        interval = cells.interval_of(metric, hours.get(parts, ()))
        chosen = dict(zip(dimensions, groups, strict=True))
        names = list(map(name_group, dimensions, groups))
        yield MeanRow(
            key=".".join(parts),
            place=names[0],
            part=names[-1],
            name=", ".join(names),
            address=selection.toggle(chosen),
            is_chosen=selection.has(chosen),
            people=cells.people_of(metric, figures),
            value=value,
            interval=interval,
            shown=NO_VALUE if value is None else kind.show(value),
            shown_interval=f"{kind.show(interval.low)}{NO_VALUE}{kind.show(interval.high)}" if interval else NO_VALUE,
        )


def _mark_of(key: str, dimensions: tuple[str, ...]) -> str:
    """The colour of a gender, as the pyramid has it."""
    genders = set(key.rpartition(".")[2].split(JOINT))
    known = genders - {UNKNOWN}
    if dimensions[-1] != "gender" or len(known) > 1:
        return "passing-by"
    return known.pop() if known else "unknown"


def _offset_of(key: str, dimensions: tuple[str, ...]) -> int:
    """Where genders stand in a row that they share: women above, men below them."""
    genders = key.rpartition(".")[2].split(JOINT) if len(dimensions) > 1 else []
    return -1 if "female" in genders else int("male" in genders)
