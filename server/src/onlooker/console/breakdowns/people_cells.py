"""The visits of a period as sums by hour and by what else is asked: all numbers of the section add some of them up."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TypeVar

from onlooker.console.bucket_numbers import CutBuckets, cut_buckets, open_reader
from onlooker.console.dashboard.period import Period
from onlooker.console.dashboard.report import make_query
from onlooker.database import Pool
from onlooker.metrics.breakdown import CellQuery
from onlooker.metrics.buckets import all_hours
from onlooker.metrics.cells import Cells, find_cells
from onlooker.metrics.changes import FEWEST_PEOPLE, conversion_interval, metric_interval, sum_figures
from onlooker.metrics.definitions import (
    METRICS,
    Figures,
    Number,
    Unit,
    Value,
    in_declared_order,
    pieces_of,
)
from onlooker.metrics.dimensions import DIMENSIONS
from onlooker.metrics.intervals import Interval
from onlooker.metrics.query import Time
from onlooker.streams.models import Stream

CONVERSION = "conversion"
OF_TIME = tuple(name for name, one in DIMENSIONS.items() if one.part_of_hour)
Parts = tuple[str, ...]
Cell = tuple[int, Parts, Figures]
Key = TypeVar("Key")


@dataclass(frozen=True)
class CellSource:
    """Of which visits, and by what they are told apart besides their hours."""

    stream: Stream
    period: Period
    now: datetime
    in_hours: bool
    breakdown: CellQuery
    metrics: tuple[str, ...]
    """Those of METRICS, in their order."""
    by_hour: bool = True
    """Whether hours are told apart, too."""
    with_coverage: bool = False
    """Whether anybody asks how long each hour was watched."""


@dataclass(frozen=True)
class PeopleCells:
    """Sums of figures. A visit is in the hour in which it begins."""

    source: CellSource
    cells: Sequence[Cell]
    """Those with anybody: the hour by its number, the parts of the source's dimensions, and the figures."""
    of_week: Sequence[int]
    """Of each hour: the hour of the local week."""
    covered_s: Sequence[float]
    """Of each hour: how long it was watched; empty where nobody asks."""
    exact: bool

    @cached_property
    def pieces(self) -> Mapping[str, slice]:
        """Where the figures of each metric are."""
        found = pieces_of(self.source.metrics)
        return {name: slice(piece.start - 1, piece.stop - 1) for name, _, piece in found}

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
        by_hour = _sum_by(((chosen, hour), figures) for chosen, hour, figures in self._choose(names))
        found: dict[Parts, list[Figures]] = {}
        for (chosen, _), figures in by_hour.items():
            found.setdefault(chosen, []).append(figures)
        return found

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

    def shape(self, metric: str, figures: Figures) -> Value:
        """As the data endpoint answers."""
        return METRICS[metric].shape(figures[self.pieces[metric]])

    def count_of(self, metric: str, figures: Figures | None) -> int:
        return figures[self.pieces[metric]][0] if figures else 0

    def tell(self, metric: str, figures: Figures | None) -> Number:
        """What a page tells: a count, or a mean or a share of at least ten people."""
        if figures is None:
            return 0 if _is_count(metric) else None
        if not _is_count(metric) and self.people_of(metric, figures) < FEWEST_PEOPLE:
            return None
        if metric == CONVERSION:
            return self.count_of("interested", figures) / self.count_of("passing_by", figures)
        return self.shape(metric, figures)["value"]

    def people_of(self, metric: str, figures: Figures | None) -> int:
        """Whom a number is of."""
        if figures is None:
            return 0
        return figures[self.pieces["passing_by" if metric == CONVERSION else metric]][-1]

    def interval_of(self, metric: str, clusters: Sequence[Figures]) -> Interval | None:
        """Of a mean or a share; of a count, and of too few people, there is none."""
        if _is_count(metric) or not clusters:
            return None
        whole = sum_figures(clusters)
        if self.people_of(metric, whole) < FEWEST_PEOPLE:
            return None
        if metric == CONVERSION:
            return conversion_interval(self.count_of("interested", whole), self.count_of("passing_by", whole))
        return metric_interval(METRICS[metric], [figures[self.pieces[metric]] for figures in clusters])


def _sum_by(cells: Iterable[tuple[Key, Figures]]) -> dict[Key, Figures]:
    found: dict[Key, list[Figures]] = {}
    for key, figures in cells:
        found.setdefault(key, []).append(figures)
    return {key: sum_figures(rows) if len(rows) > 1 else rows[0] for key, rows in found.items()}


def _is_count(metric: str) -> bool:
    return metric in METRICS and METRICS[metric].unit is Unit.PEOPLE


def metrics_needed(*names: str) -> tuple[str, ...]:
    """What numbers are computed from; conversion is of two counts."""
    of_two = ("passing_by", "interested") if CONVERSION in names else ()
    return in_declared_order((*names, *of_two))


def is_of_interested(metric: str) -> bool:
    return metric != CONVERSION and METRICS[metric].is_of_interested


async def read_cells(pool: Pool, source: CellSource) -> PeopleCells:
    """All visits of the period, judged in one statement. Raises a CellRefusal where they can't be broken down."""
    query = make_query(source.stream.pk, source.period, Time.BY_HOUR, metrics=source.metrics, grid=source.stream.grid)
    hours = all_hours(query)
    reader = await open_reader(pool, query, now=source.now, in_hours=source.in_hours)
    edges_s = hours.edges_s if source.by_hour else (hours.edges_s[0], hours.edges_s[-1])
    cut = cut_buckets(edges_s, reader.closed or ())
    found, exact = await find_cells(pool, query, source.breakdown, source.metrics, cut.edges_s)
    covered_s = await reader.read_covered_s(query, hours.edges_s) if source.with_coverage else ()
    cells = list(_open_cells(found, cut, source.breakdown))
    return PeopleCells(source, cells, hours.of_week, covered_s, exact)


async def read_counts(pool: Pool, source: CellSource) -> PeopleCells:
    """The same for plain counts of everybody by hour, which the roll-up has."""
    query = make_query(source.stream.pk, source.period, Time.BY_HOUR, metrics=source.metrics, grid=source.stream.grid)
    hours = all_hours(query)
    reader = await open_reader(pool, query, now=source.now, in_hours=source.in_hours)
    counts, exact = await reader.read_counts(query, hours.edges_s)
    figures = zip(*(counts[name] for name in source.metrics), strict=True)
    cells = [(hour, (), row) for hour, row in enumerate(figures) if any(row)]
    covered_s = await reader.read_covered_s(query, hours.edges_s) if source.with_coverage else ()
    return PeopleCells(source, cells, hours.of_week, covered_s, exact)


def _open_cells(found: Cells, cut: CutBuckets, breakdown: CellQuery) -> Iterator[Cell]:
    """Without those of the time in which the stream was closed, if that does not count."""
    parts_of = {breakdown.number_of(cell): cell for cell in breakdown.cells}
    for number, cells in found.items():
        if cut.is_open[number - 1]:
            for cell, figures in cells.items():
                yield cut.places[number - 1], parts_of[cell], figures
