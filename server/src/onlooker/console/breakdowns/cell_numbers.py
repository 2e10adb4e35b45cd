"""Sums of cells of people, and what pages tell of them. Pure."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from onlooker.console.dashboard.period import Period
from onlooker.metrics.breakdown import CellQuery
from onlooker.metrics.changes import FEWEST_PEOPLE, conversion_interval, metric_interval, sum_figures
from onlooker.metrics.definitions import METRICS, UNKNOWN, Figures, Number, Unit, Value, pieces_of
from onlooker.metrics.dimensions import DIMENSIONS
from onlooker.metrics.intervals import Interval
from onlooker.streams.models import Stream

CONVERSION = "conversion"
Parts = tuple[str, ...]


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
class CellNumbers(ABC):
    """Figures by parts of dimensions, however they were read."""

    source: CellSource

    @abstractmethod
    def groups_of(self, dimension: str) -> tuple[Parts, ...]:
        """The parts that the filters keep, the unknown last; those of one group are told only together."""

    @abstractmethod
    def add_up(self, *names: str) -> dict[Parts, Figures]:
        """By the groups of some dimensions, each by the name that `join_name` gives it."""

    @abstractmethod
    def add_up_hours(self, *names: str) -> dict[Parts, list[Figures]]:
        """The same in pieces whose people are alike, the clusters of an interval; nothing where they are not told."""

    @cached_property
    def pieces(self) -> Mapping[str, slice]:
        """Where the figures of each metric are."""
        found = pieces_of(self.source.metrics)
        return {name: slice(piece.start - 1, piece.stop - 1) for name, piece in found}

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


def _is_count(metric: str) -> bool:
    return metric in METRICS and METRICS[metric].unit is Unit.PEOPLE


def in_reading_order(dimension: str, parts: Iterable[str]) -> Parts:
    """The unknown come last."""
    return tuple(sorted(parts, key=lambda part: (part == UNKNOWN, DIMENSIONS[dimension].parts.index(part))))
