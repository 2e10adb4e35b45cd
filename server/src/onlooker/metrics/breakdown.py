"""A breakdown of numbers: the dimensions that they are divided by, and which visits they are of."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

from onlooker.errors import bad_request
from onlooker.metrics.dimensions import DIMENSIONS, Dimension

BREAKDOWN_PARAMETERS = frozenset(("by", "filter"))
MOST_DIMENSIONS = 2
_KNOWN = ", ".join(DIMENSIONS)
_FILTER_FORM = "`filter` is a list such as gender:female,age:25-34, without spaces"


@dataclass(frozen=True)
class CellQuery:
    """How visits are divided into cells, and which of them count."""

    by: tuple[str, ...] = ()
    """Up to two dimensions."""
    filters: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Dimensions, and the parts of each that count; both in declared order."""

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        return tuple(DIMENSIONS[name] for name in self.by)

    @property
    def kept(self) -> Mapping[str, tuple[str, ...]]:
        return dict(self.filters)

    @property
    def cells(self) -> Iterator[tuple[str, ...]]:
        """The parts of each cell, one of each dimension; without those that a filter leaves out."""
        kept = self.kept
        return product(*(kept.get(one.name, one.parts) for one in self.dimensions))

    @property
    def count(self) -> int:
        """How many cells a bucket has."""
        kept = self.kept
        return prod(len(kept.get(one.name, one.parts)) for one in self.dimensions)

    @property
    def is_of_time(self) -> bool:
        """Whether it tells hours of the local week apart."""
        return any(DIMENSIONS[name].part_of_hour for name in (*self.by, *self.kept))

    @property
    def parameters(self) -> dict[str, str]:
        """As they are asked for."""
        pairs = [f"{name}:{part}" for name, parts in self.filters for part in parts]
        said = {"by": ",".join(self.by), "filter": ",".join(pairs)}
        return {name: text for name, text in said.items() if text}

    @property
    def members(self) -> dict[str, object]:
        """As an answer says them."""
        said = {"by": list(self.by), "filter": {name: list(parts) for name, parts in self.filters}}
        return {name: value for name, value in said.items() if value}

    def has_hour(self, hour: int) -> bool:
        """Whether the filters keep an hour of the local week."""
        named = ((DIMENSIONS[name].part_of_hour, parts) for name, parts in self.filters)
        return all(part_of is None or part_of(hour) in parts for part_of, parts in named)

    def is_in_cell(self, hour: int, cell: tuple[str, ...]) -> bool:
        """Whether an hour of the local week belongs to a cell; what is not of time has all hours."""
        named = zip(self.dimensions, cell, strict=True)
        return all(one.part_of_hour is None or one.part_of_hour(hour) == part for one, part in named)

    def number_of(self, cell: tuple[str, ...]) -> int:
        """The number that a statement gives a cell."""
        number = 0
        for dimension, part in zip(self.dimensions, cell, strict=True):
            number = number * len(dimension.parts) + dimension.parts.index(part)
        return number


def parse_breakdown(parameters: Mapping[str, str], *, shown: Callable[[str], str]) -> CellQuery:
    """Raises a Problem; `shown` shortens what was sent."""
    by = _parse_by(parameters["by"], shown) if "by" in parameters else ()
    filters = _parse_filter(parameters["filter"], shown) if "filter" in parameters else ()
    return CellQuery(by, filters)


def _parse_by(text: str, shown: Callable[[str], str]) -> tuple[str, ...]:
    names = tuple(text.split(","))
    for name in names:
        if name not in DIMENSIONS:
            raise bad_request(f"There is no dimension {shown(name)}. `by` is one or two of {_KNOWN}.")
    if len(names) > MOST_DIMENSIONS or len(set(names)) < len(names):
        raise bad_request(f"`by` is one dimension, or two different ones separated by a comma, of {_KNOWN}.")
    return names


def _parse_filter(text: str, shown: Callable[[str], str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Parts of one dimension add up; dimensions narrow down."""
    kept: dict[str, set[str]] = {}
    for pair in text.split(","):
        name, colon, part = pair.partition(":")
        if name not in DIMENSIONS or not colon:
            raise bad_request(f"{_FILTER_FORM}, not {shown(pair)}. Its dimensions are {_KNOWN}.")
        parts = DIMENSIONS[name].parts
        if part not in parts:
            hint = " A plus sign in a URL is written %2B." if " " in part else ""
            raise bad_request(f"There is no {name} {shown(part)}. Its parts are {' '.join(parts)}.{hint}")
        kept.setdefault(name, set()).add(part)
    return tuple(
        (name, tuple(part for part in one.parts if part in kept[name]))
        for name, one in DIMENSIONS.items()
        if name in kept
    )
