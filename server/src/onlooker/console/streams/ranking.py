"""The order of streams in the overview, and the place that each has among all. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from onlooker.console.dashboard.glance import METRICS, Glance
from onlooker.streams.models import Stream

NAME = "name"
COLUMNS = {NAME: "Name", "passing_by": "Passing by", "interested": "Interested", "conversion": "Conversion"}


@dataclass(frozen=True)
class Order:
    """By which column streams are sorted: names from A on, numbers from the largest on, or the other way round."""

    column: str = NAME
    is_reversed: bool = False

    @property
    def value(self) -> str:
        """As an address says it."""
        return f"{'-' if self.is_reversed else ''}{self.column}"

    @property
    def metric(self) -> str:
        """What streams are ranked by."""
        return "passing_by" if self.column == NAME else self.column


@dataclass(frozen=True)
class Heading:
    """The head of a column that streams can be sorted by."""

    name: str
    column: str
    sort: str
    """What its link sorts by."""
    aria_sort: str
    """Empty where streams are sorted by another one."""


def parse_order(text: str) -> Order:
    """By name where there is no such column."""
    column = text.removeprefix("-")
    return Order(column, is_reversed=text.startswith("-")) if column in COLUMNS else Order()


def make_headings(order: Order) -> list[Heading]:
    """A link sorts by its column; that of the column it is sorted by already turns the order round."""
    return [_make_heading(name, column, order) for column, name in COLUMNS.items()]


def _make_heading(name: str, column: str, order: Order) -> Heading:
    if column != order.column:
        return Heading(name, column, column, "")
    is_ascending = order.is_reversed != (column == NAME)
    turned = Order(column, is_reversed=not order.is_reversed)
    return Heading(name, column, turned.value, "ascending" if is_ascending else "descending")


def rank(glances: Iterable[tuple[int, Glance]], metric: str) -> dict[int, int]:
    """The place of each stream from the largest number on; those that are alike share one, the unwatched have none."""
    numbers = {stream_id: _number(glance, metric) for stream_id, glance in glances}
    known = sorted((number for number in numbers.values() if number is not None), reverse=True)
    places = {number: place for place, number in reversed(list(enumerate(known, start=1)))}
    return {stream_id: places[number] for stream_id, number in numbers.items() if number is not None}


def sort_streams(streams: Sequence[Stream], glances: dict[int, Glance], order: Order) -> list[Stream]:
    """Streams come in order of their names; those without a number stand last."""
    if order.column not in METRICS:
        return list(reversed(streams) if order.is_reversed else streams)
    sign = 1 if order.is_reversed else -1
    numbers = {stream.id: _number(glances[stream.id], order.column) for stream in streams}
    return sorted(streams, key=lambda stream: (numbers[stream.id] is None, sign * (numbers[stream.id] or 0)))


def _number(glance: Glance, metric: str) -> float | None:
    return glance.numbers[metric] if glance.is_watched else None
