"""What the section shows, and of whom: chosen in the address. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from django.utils.translation import gettext as _

from onlooker.console.dashboard.figures import HEADLINES
from onlooker.console.dashboard.period import PeriodError
from onlooker.errors import Problem
from onlooker.metrics.breakdown import CellQuery, parse_breakdown
from onlooker.metrics.dimensions import DIMENSIONS

CHOICES: dict[str, tuple[str, ...]] = {
    "mean": ("stop_time", "attention_time"),
    "across": ("age", "gender", "age,gender", "hour_of_day"),
    "stay": ("stop_band", "attention_band", "presence_band"),
    "heat": ("interested", *(name for name in HEADLINES if name != "interested")),
}
"""By the name in the address; the first is shown where nothing is chosen."""
PARAMETERS = ("filter", *CHOICES)
LONGEST_SHOWN = 40
_PLAIN = ":,"
"""Left as they are, for people to read."""
Filters = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Selection:
    """All that an address has."""

    address: tuple[tuple[str, str], ...] = ()
    """Of the page, with its period."""
    filters: Filters = ()
    mean: str = CHOICES["mean"][0]
    across: str = CHOICES["across"][0]
    stay: str = CHOICES["stay"][0]
    heat: str = CHOICES["heat"][0]

    @property
    def kept(self) -> Mapping[str, tuple[str, ...]]:
        return dict(self.filters)

    def toggle(self, parts: Mapping[str, Sequence[str]]) -> str:
        """The address with these parts alone of their dimensions; without them where they are chosen already."""
        if self.has(parts):
            return self._filter_by({name: kept for name, kept in self.filters if name not in parts})
        return self._filter_by({**self.kept, **{name: tuple(some) for name, some in parts.items()}})

    def has(self, parts: Mapping[str, Sequence[str]]) -> bool:
        return all(self.kept.get(name) == tuple(some) for name, some in parts.items())

    def without(self, *names: str) -> str:
        """The address without what the filter says of some dimensions."""
        return self._filter_by({name: kept for name, kept in self.filters if name not in names})

    def hidden(self, name: str) -> list[tuple[str, str]]:
        """What a form keeps that asks for one parameter."""
        return [(key, value) for key, value in self.address if key != name]

    def _filter_by(self, kept: Mapping[str, tuple[str, ...]]) -> str:
        in_order = tuple((name, kept[name]) for name in DIMENSIONS if name in kept)
        said = urlencode(CellQuery(filters=in_order).parameters, safe=_PLAIN)
        return "&".join(filter(None, (self._unfiltered, said)))

    @cached_property
    def _unfiltered(self) -> str:
        return urlencode([(key, value) for key, value in self.address if key != "filter"], safe=_PLAIN)


def parse_selection(parameters: Mapping[str, str]) -> Selection:
    """Raises PeriodError."""
    chosen = {name: parameters.get(name) or offered[0] for name, offered in CHOICES.items()}
    for name, value in chosen.items():
        if value not in CHOICES[name]:
            offered = ", ".join(CHOICES[name])
            raise PeriodError(
                _("Unknown choice. In the address, {name} is one of {offered}.").format(name=name, offered=offered)
            )
    return Selection(tuple(parameters.items()), _parse_filters(parameters.get("filter", "")), **chosen)


def _parse_filters(text: str) -> Filters:
    """As the data endpoint has them."""
    if not text:
        return ()
    try:
        return parse_breakdown({"filter": text}, shown=lambda sent: repr(sent[:LONGEST_SHOWN])).filters
    except Problem as problem:
        raise PeriodError(problem.detail) from None
