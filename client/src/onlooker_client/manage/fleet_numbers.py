"""Numbers of many streams, together or each for itself, with how much was watched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Union

from onlooker_client.errors import BadArgument
from onlooker_client.manage.api_request import ManagementApi, Named, id_of
from onlooker_client.manage.record_fields import Record, read_record

Settings = Mapping[str, Any]
Day = Union[date, str]
"""A date, or a text such as 2026-11-01."""


@dataclass(frozen=True)
class FleetCoverage(Record):
    """How long the streams watched, of the time that they were open."""

    watched_s: float = 0.0
    open_s: float = 0.0
    blind_s: float = 0.0
    share: float | None = None
    """None where they were never open."""


@dataclass(frozen=True)
class FleetDay(Record):
    """All streams on one day."""

    day: str
    passing_by: int = 0
    interested: int = 0
    streams: int = 0
    """How many watched."""
    watched_s: float = 0.0


@dataclass(frozen=True)
class _Counted(Record):
    metrics: Settings = field(default_factory=dict)
    """By name, as the server said them."""
    coverage: FleetCoverage = field(default_factory=FleetCoverage)
    comparison: Settings = field(default_factory=dict)
    """With the period before, over days that were watched alike; or the reason why there is none."""

    def __getitem__(self, metric: str) -> Any:
        """A number, None where there is nobody to count, or counts by name."""
        try:
            said = self.metrics[metric]
        except KeyError:
            raise BadArgument(f"There is no metric {metric!r} here. There are: {', '.join(self.metrics)}.") from None
        return said["value"] if isinstance(said, Mapping) and set(said) == {"value"} else said

    @property
    def passing_by(self) -> int:
        return int(self["passing_by"] or 0)

    @property
    def interested(self) -> int:
        return int(self["interested"] or 0)


@dataclass(frozen=True)
class StreamNumbers(_Counted):
    """Of one stream, over the whole period."""

    client_id: str = ""
    name: str = ""


@dataclass(frozen=True)
class FleetNumbers(_Counted):
    """Of all streams together, over the whole period."""

    from_date: str = ""
    to_date: str = ""
    streams: int = 0
    by_day: tuple[FleetDay, ...] = ()


@dataclass(frozen=True)
class StreamGroup:
    """Whose numbers, and of which days; nothing said: all streams, the last 30 days."""

    streams: Sequence[Named] = ()
    site: Named | None = None
    tag: str | None = None
    from_date: Day | None = None
    to_date: Day | None = None

    @property
    def query(self) -> dict[str, Any]:
        return {
            "streams": ",".join(str(id_of(stream)) for stream in self.streams),
            "site": None if self.site is None else id_of(self.site),
            "tag": self.tag,
            "from_date": _day_text(self.from_date),
            "to_date": _day_text(self.to_date),
        }


def read_total(api: ManagementApi, group: StreamGroup) -> FleetNumbers:
    said = api.get("numbers", {**group.query, "by": "total"})
    total = said.get("total") or {}
    return read_record(FleetNumbers, {**said, **(total if isinstance(total, dict) else {})})


def read_each(api: ManagementApi, group: StreamGroup) -> Iterator[StreamNumbers]:
    return api.items(StreamNumbers, "numbers", {**group.query, "by": "stream"})


def _day_text(day: Day | None) -> str | None:
    if isinstance(day, datetime):
        raise BadArgument("from_date and to_date are days, each in the streams' own time zones: give a date.")
    return day.isoformat() if isinstance(day, date) else day
