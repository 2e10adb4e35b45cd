"""The visits of a period as sums by hour and by what else is asked: all numbers of the section add some of them up."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from onlooker.console.breakdowns.cell_numbers import CONVERSION, CellNumbers, CellSource, Parts, in_reading_order
from onlooker.console.bucket_numbers import BucketReader, CutBuckets, cut_buckets, open_reader
from onlooker.console.dashboard.figures import COUNTED
from onlooker.console.dashboard.report import make_query
from onlooker.database import Pool
from onlooker.metrics.breakdown import CellQuery
from onlooker.metrics.buckets import Hours, all_hours
from onlooker.metrics.cells import Cells, find_cells
from onlooker.metrics.changes import sum_figures
from onlooker.metrics.definitions import Figures, in_declared_order
from onlooker.metrics.dimensions import DIMENSIONS
from onlooker.metrics.query import Query, Time

OF_TIME = tuple(name for name, one in DIMENSIONS.items() if one.part_of_hour)
Cell = tuple[int, Parts, Figures]
Key = TypeVar("Key")


@dataclass(frozen=True)
class PeopleCells(CellNumbers):
    """Sums of figures. A visit is in the hour in which it begins."""

    cells: Sequence[Cell]
    """Those with anybody: the hour by its number, the parts of the source's dimensions, and the figures."""
    of_week: Sequence[int]
    """Of each hour: the hour of the local week."""
    covered_s: Sequence[float]
    """Of each hour: how long it was watched; empty where nobody asks."""
    exact: bool

    def groups_of(self, dimension: str) -> tuple[Parts, ...]:
        kept = self.source.breakdown.kept.get(dimension, DIMENSIONS[dimension].parts)
        return tuple((part,) for part in in_reading_order(dimension, kept))

    def add_up(self, *names: str) -> dict[Parts, Figures]:
        """By the parts of some dimensions, those of time too."""
        if any(name in OF_TIME for name in names):
            return _sum_by((chosen, figures) for chosen, _, figures in self._choose(names))
        return _sum_by((self._parts_of(0, parts, names), figures) for parts, figures in self._of_all_hours.items())

    @cached_property
    def _of_all_hours(self) -> dict[Parts, Figures]:
        return _sum_by((parts, figures) for _, parts, figures in self.cells)

    def add_up_hours(self, *names: str) -> dict[Parts, list[Figures]]:
        """The same hour by hour: people of one hour are alike, so these are the clusters of an interval."""
        found: dict[Parts, dict[int, list[Figures]]] = {}
        for chosen, hour, figures in self._choose(names):
            found.setdefault(chosen, {}).setdefault(hour, []).append(figures)
        return {chosen: [_sum(rows) for rows in by_hour.values()] for chosen, by_hour in found.items()}

    def _choose(self, names: Sequence[str]) -> Iterator[tuple[Parts, int, Figures]]:
        """Each cell by its parts of some dimensions. Cells are many, and few of them differ in their parts."""
        has_time = any(name in OF_TIME for name in names)
        known: dict[tuple[int, Parts], Parts] = {}
        for hour, parts, figures in self.cells:
            alike = (self.of_week[hour] if has_time else 0, parts)
            chosen = known.get(alike)
            if chosen is None:
                chosen = known[alike] = self._parts_of(hour, parts, names)
            yield chosen, hour, figures

    def _parts_of(self, hour: int, parts: Parts, names: Sequence[str]) -> Parts:
        by = self.source.breakdown.by
        return tuple(parts[by.index(name)] if name in by else self._part_of_hour(hour, name) for name in names)

    def _part_of_hour(self, hour: int, name: str) -> str:
        part_of = DIMENSIONS[name].part_of_hour
        assert part_of
        return part_of(self.of_week[hour])


def _sum_by(cells: Iterable[tuple[Key, Figures]]) -> dict[Key, Figures]:
    found: dict[Key, list[Figures]] = {}
    for key, figures in cells:
        found.setdefault(key, []).append(figures)
    return {key: _sum(rows) for key, rows in found.items()}


def _sum(rows: Sequence[Figures]) -> Figures:
    return sum_figures(rows) if len(rows) > 1 else rows[0]


def metrics_needed(*names: str) -> tuple[str, ...]:
    """What numbers are computed from; conversion is of two counts."""
    of_two = ("passing_by", "interested") if CONVERSION in names else ()
    return in_declared_order((*names, *of_two))


async def read_people(pool: Pool, source: CellSource) -> PeopleCells:
    """Plain counts by hour are in the roll-up, which says the same."""
    is_counted = not source.breakdown.by and not source.breakdown.filters and not {*source.metrics} - {*COUNTED}
    return await (read_counts if is_counted and source.by_hour else read_cells)(pool, source)


async def read_cells(pool: Pool, source: CellSource) -> PeopleCells:
    """All visits of the period, judged in one statement. Raises a CellRefusal where they can't be broken down."""
    query = make_query(source.stream.pk, source.period, Time.BY_HOUR, metrics=source.metrics, grid=source.stream.grid)
    hours = all_hours(query)
    reader = await open_reader(pool, query, now=source.now, in_hours=source.in_hours)
    edges_s = hours.edges_s if source.by_hour else (hours.edges_s[0], hours.edges_s[-1])
    cut = cut_buckets(edges_s, reader.closed or ())
    (found, exact), covered_s = await asyncio.gather(
        find_cells(pool, query, source.breakdown, source.metrics, cut.edges_s),
        _read_covered_s(reader, query, hours, source),
    )
    cells = list(_open_cells(found, cut, source.breakdown))
    return PeopleCells(source, cells, hours.of_week, covered_s, exact)


async def read_counts(pool: Pool, source: CellSource) -> PeopleCells:
    """The same for plain counts of everybody by hour, which the roll-up has."""
    query = make_query(source.stream.pk, source.period, Time.BY_HOUR, metrics=source.metrics, grid=source.stream.grid)
    hours = all_hours(query)
    reader = await open_reader(pool, query, now=source.now, in_hours=source.in_hours)
    (counts, exact), covered_s = await asyncio.gather(
        reader.read_counts(query, hours.edges_s), _read_covered_s(reader, query, hours, source)
    )
    figures = zip(*(counts[name] for name in source.metrics), strict=True)
    cells = [(hour, (), row) for hour, row in enumerate(figures) if any(row)]
    return PeopleCells(source, cells, hours.of_week, covered_s, exact)


async def _read_covered_s(reader: BucketReader, query: Query, hours: Hours, source: CellSource) -> Sequence[float]:
    return await reader.read_covered_s(query, hours.edges_s) if source.with_coverage else ()


def _open_cells(found: Cells, cut: CutBuckets, breakdown: CellQuery) -> Iterator[Cell]:
    """Without those of the time in which the stream was closed, if that does not count."""
    parts_of = {breakdown.number_of(cell): cell for cell in breakdown.cells}
    for number, cells in found.items():
        if cut.is_open[number - 1]:
            for cell, figures in cells.items():
                yield cut.places[number - 1], parts_of[cell], figures
