"""The control below the time chart: what can be shown beside, behind and instead. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from onlooker.console.dashboard.figures import FIGURE_KINDS
from onlooker.console.dashboard.period import Period
from onlooker.console.time_chart.choice import CHARTED, ChartChoice, GhostKind

_GHOSTS = {
    GhostKind.NONE: _lazy("None"),
    GhostKind.DAY: _lazy("The day before"),
    GhostKind.BEFORE: _lazy("The period before"),
    GhostKind.YEAR: _lazy("52 weeks earlier"),
    GhostKind.DATE: _lazy("A date"),
}
_WEEK_BEFORE = _lazy("The week before")


@dataclass(frozen=True)
class ChartOption:
    """One to choose."""

    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True)
class ChartControl:
    """Everything that can be chosen, as it stands."""

    metrics: tuple[ChartOption, ...]
    beside: tuple[ChartOption, ...]
    streams: tuple[ChartOption, ...]
    ghosts: tuple[ChartOption, ...]
    asks_date: bool
    ghost_date: str
    """As it was chosen, or the beginning of the ghost that is shown instead."""
    has_hours: bool
    """Whether the stream has opening hours."""
    in_hours: bool
    hidden: tuple[tuple[str, str], ...]
    """Parameters of the address that the form does not ask for."""


def make_control(
    choice: ChartChoice,
    period: Period,
    *,
    streams: Sequence[tuple[UUID, str]],
    has_hours: bool,
    shown_date: str,
    hidden: Sequence[tuple[str, str]],
) -> ChartControl:
    """`shown_date` is when the ghost begins."""
    return ChartControl(
        metrics=(
            ChartOption("", _("Passing by and interested"), not choice.metric),
            *_offer(CHARTED, chosen=choice.metric),
        ),
        beside=(
            ChartOption("", _("Nothing"), not (choice.beside or choice.beside_stream)),
            *_offer(tuple(name for name in CHARTED if name != choice.main), chosen=choice.beside),
        ),
        streams=tuple(ChartOption(str(number), name, number == choice.beside_stream) for number, name in streams),
        ghosts=tuple(_offer_ghosts(choice, period)),
        asks_date=choice.ghost is GhostKind.DATE,
        ghost_date=choice.ghost_day.isoformat() if choice.ghost_day else shown_date,
        has_hours=has_hours,
        in_hours=choice.in_hours,
        hidden=tuple(hidden),
    )


def _offer(names: Sequence[str], *, chosen: str) -> Iterator[ChartOption]:
    return (ChartOption(name, str(FIGURE_KINDS[name].name), name == chosen) for name in names)


def _offer_ghosts(choice: ChartChoice, period: Period) -> Iterator[ChartOption]:
    """None has to be chosen where there is one otherwise."""
    for kind, label in _GHOSTS.items():
        if kind is GhostKind.DAY and period.days > 1:
            continue
        is_week = kind is GhostKind.BEFORE and period.days == 1
        is_usual = kind is GhostKind.NONE and period.name != "today"
        yield ChartOption("" if is_usual else kind, str(_WEEK_BEFORE if is_week else label), kind is choice.ghost)
