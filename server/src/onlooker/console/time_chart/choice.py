"""What the time chart shows besides people passing by and interested: chosen in the address. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from urllib.parse import urlencode
from uuid import UUID

from django.utils.translation import gettext as _

from onlooker.console.breakdowns.selection import PARAMETERS
from onlooker.console.dashboard.figures import HEADLINES
from onlooker.console.dashboard.period import Period, PeriodError

CHARTED = HEADLINES
"""Every number that can be charted."""
KEPT = ("metric", "beside", "ghost", "ghost_date", "hours", *PARAMETERS)
"""Parameters that stay when somebody chooses another period."""
OPEN = "open"
YEAR = timedelta(weeks=52)


class GhostKind(StrEnum):
    """Which earlier time is drawn behind the period."""

    NONE = "none"
    DAY = "day"
    """The day before; of periods of up to a day."""
    BEFORE = "before"
    """The time that the page's headline numbers are compared with."""
    YEAR = "year"
    """The same weekdays 52 weeks earlier."""
    DATE = "date"
    """The same weekdays of the week of a date; of periods of up to a day, that date."""


@dataclass(frozen=True)
class ChartChoice:
    """What was chosen; as it stands, the usual chart."""

    metric: str = ""
    """One of CHARTED; empty: people passing by, and among them the interested."""
    beside: str = ""
    """Another of CHARTED."""
    beside_stream: UUID | None = None
    """Or another stream, by its client id."""
    ghost: GhostKind = GhostKind.NONE
    ghost_day: date | None = None
    in_hours: bool = False
    """Whether only opening hours count."""

    @property
    def main(self) -> str:
        """The metric that another stream and the ghost are of."""
        return self.metric or "passing_by"


def parse_choice(parameters: Mapping[str, str], period: Period) -> ChartChoice:
    """Raises PeriodError."""
    metric, beside = (parameters.get(name, "") for name in ("metric", "beside"))
    stream = _parse_stream(beside) if beside and beside not in CHARTED else None
    if metric and metric not in CHARTED:
        raise PeriodError(_("Unknown number. Choose one of {names}.").format(names=", ".join(CHARTED)))
    kind = _parse_ghost(parameters.get("ghost", ""), period)
    return ChartChoice(
        metric,
        beside if stream is None and beside != (metric or "passing_by") else "",
        stream,
        kind,
        _parse_day(parameters.get("ghost_date", "")) if kind is GhostKind.DATE else None,
        parse_hours(parameters),
    )


def parse_hours(parameters: Mapping[str, str]) -> bool:
    """Whether only opening hours count. Raises PeriodError."""
    hours = parameters.get("hours", "")
    if hours not in ("", "all", OPEN):
        raise PeriodError(_("Unknown hours. Choose open or all."))
    return hours == OPEN


def _parse_stream(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        said = _("Choose a stream, or one of {names}, to be shown beside.").format(names=", ".join(CHARTED))
        raise PeriodError(said) from None


def _parse_ghost(text: str, period: Period) -> GhostKind:
    """Today has yesterday's unless another is chosen."""
    if not text:
        return GhostKind.DAY if period.name == "today" else GhostKind.NONE
    if text not in list(GhostKind):
        raise PeriodError(_("Unknown ghost line. Choose one of {names}.").format(names=", ".join(GhostKind)))
    return GhostKind.NONE if text == GhostKind.DAY and period.days > 1 else GhostKind(text)


def _parse_day(text: str) -> date | None:
    """None where no date is chosen yet."""
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise PeriodError(_("Write the date of the ghost line as 2026-11-01.")) from None


def keep_choice(parameters: Mapping[str, str]) -> dict[str, str]:
    """What links to other periods take along."""
    return {name: parameters[name] for name in KEPT if parameters.get(name)}


def as_suffix(kept: Mapping[str, str]) -> str:
    """Behind another query: `&metric=stop_time`."""
    return f"&{urlencode(kept)}" if kept else ""
