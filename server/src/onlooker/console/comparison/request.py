"""What an address of the comparison asks for: rows, a period on each stream's own clock, a metric."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from onlooker.console.accounts.page_access import PersonRequest
from onlooker.console.comparison.rows import ChosenRow, RowError, find_rows, read_streams_of
from onlooker.console.dashboard.figures import HEADLINES
from onlooker.console.dashboard.period import CALENDAR_NAMES, DEFAULT, NAMES, Period, PeriodError, parse_period
from onlooker.metrics.like_time import TimeRange
from onlooker.metrics.pooled_figures import StreamPeriod
from onlooker.streams.business_hours import zone_of
from onlooker.streams.models import Stream

SHOWN = tuple(metric for metric in HEADLINES if metric != "stopped")
"""As many as have room. Who stopped is told before and after a day, and on dashboards."""
LONGEST_DAYS = 366
OFFERED = {name: label for name, label in NAMES.items() if name != "24h"} | CALENDAR_NAMES
"""Periods of whole local days: 24 hours to now would be other times of day on each clock."""


@dataclass(frozen=True)
class ComparisonRequest:
    """All that an address has. `period` is as it was written; empty for the usual one."""

    rows: tuple[ChosenRow, ...]
    period: tuple[tuple[str, str], ...]
    metric: str

    def address(self, **changes: Any) -> str:
        """The query of the same page, changed."""
        other = replace(self, **changes)
        said = [*(("row", row.value) for row in other.rows), *other.period]
        if other.metric != SHOWN[0]:
            said.append(("metric", other.metric))
        return urlencode(said, safe=":")

    def without(self, row: ChosenRow) -> str:
        return self.address(rows=tuple(one for one in self.rows if one != row))

    def beside(self, row: ChosenRow) -> str:
        return self.address(rows=(*self.rows, row))

    @property
    def has(self) -> set[str]:
        return {row.value for row in self.rows}


def parse_request(request: PersonRequest) -> ComparisonRequest:
    """Http404 for rows that the account does not see. Raises RowError."""
    given = {name: value for name, value in request.GET.dict().items() if value}
    period = tuple((name, given[name]) for name in ("period", "from", "to") if name in given)
    metric = given.get("metric", "")
    rows = tuple(find_rows(request.user, request.GET.getlist("row")))
    return ComparisonRequest(rows, period, metric if metric in SHOWN else SHOWN[0])


def parse_days(period: Iterable[tuple[str, str]], zone: ZoneInfo, now: datetime) -> Period:
    """Whole days of a clock, up to now. Raises PeriodError."""
    given = dict(period)
    if "from" in given or "to" in given:
        if any("T" in text for text in given.values()):
            raise PeriodError(_("Write days as 2026-11-01."))
        given.pop("period", None)
    elif given.get("period", DEFAULT) not in OFFERED:
        said = _("Unknown period. Choose one of {names}, or a range of days.")
        raise PeriodError(said.format(names=", ".join(OFFERED)))
    found = parse_period(given, zone=zone, now=now)
    if found.days > LONGEST_DAYS:
        raise PeriodError(_("Rows are compared over at most {most} days. Choose fewer.").format(most=LONGEST_DAYS))
    return found


@dataclass(frozen=True)
class StreamsOfRows:
    """The streams of each row, and the same days on the clock of each of them."""

    streams: list[list[Stream]]
    periods: list[list[StreamPeriod]]
    period: Period
    """On the clock of the first one."""


def read_streams_and_days(asked: ComparisonRequest, now: datetime) -> StreamsOfRows:
    """Raises PeriodError and RowError."""
    rough = parse_days(asked.period, ZoneInfo("UTC"), now)
    streams = read_streams_of(asked.rows, rough.days)
    names = {one.time_zone: zone_of(one.time_zone) for row in streams for one in row}
    if not names:
        raise RowError(_("There are no streams to compare."))
    days = {name: parse_days(asked.period, zone, now) for name, zone in names.items()}
    return StreamsOfRows(
        streams, [[_on_its_clock(one, days) for one in row] for row in streams], days[streams[0][0].time_zone]
    )


def _on_its_clock(stream: Stream, days: Mapping[str, Period]) -> StreamPeriod:
    period = days[stream.time_zone]
    return StreamPeriod(stream.pk, period.zone, TimeRange(period.from_at, period.to_at))
