"""A query of a stream's numbers: a value, and reading it from the parameters of a request."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from zoneinfo import ZoneInfo

from onlooker.errors import bad_request
from onlooker.metrics.breakdown import BREAKDOWN_PARAMETERS, CellQuery, parse_breakdown
from onlooker.metrics.definitions import METRICS
from onlooker.metrics.extensions import CARRIED, EXTENSIONS
from onlooker.slots import slots_around
from onlooker.streams.options import check_time_zone

PAGE_BUCKETS = 50
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(2100, 1, 1, tzinfo=UTC)
LONGEST_SHOWN = 40
HIGHEST_PAGE = 10**9
KNOWN_METRICS = (*METRICS, *EXTENSIONS)
_DATE = re.compile(r"[0-9TtZzW:.,+ -]+", re.ASCII)


class Time(StrEnum):
    """How a range is divided into buckets."""

    GLOBAL = "global"
    BY_QUARTER_HOUR = "by_quarter_hour"
    """Of slots."""
    BY_HOUR = "by_hour"
    BY_DAY = "by_day"
    BY_WEEK = "by_week"
    """From Monday on."""
    BY_MONTH = "by_month"

    @property
    def is_short(self) -> bool:
        """Whether a bucket has four slots at most."""
        return self in (Time.BY_HOUR, Time.BY_QUARTER_HOUR)


@dataclass(frozen=True)
class Query:
    """Metrics of one stream over a range, in buckets of local time."""

    stream_id: int
    metrics: tuple[str, ...]
    """In the order asked, each once."""
    from_at: datetime
    """In UTC, like `to_at`: Python compares two moments of the same zone by their wall clocks."""
    to_at: datetime
    """Not part of the range."""
    zone: ZoneInfo
    time: Time = Time.GLOBAL
    from_offset: tzinfo | None = None
    """The offset that `from_date` was given with, for the answer; None if it had none: then the zone's."""
    to_offset: tzinfo | None = None
    grid: bool = False
    """The range begins and ends with a slot, and the answer is that of whole slots."""
    breakdown: CellQuery | None = None
    """What the numbers are divided by, and which visits they are of; None: all of them together."""

    def on_grid(self) -> "Query":
        """The same with the slots that its ends lie in, whole."""
        from_at, to_at = slots_around(self.from_at, self.to_at)
        return replace(self, from_at=from_at, to_at=to_at, grid=True)


def parse_query(
    parameters: Mapping[str, str], *, stream_id: int, time_zone: str, now: datetime, grid: bool = False
) -> tuple[Query, int]:
    """The query and the page. Raises a Problem that says what is wrong, and what is expected."""
    zone = ZoneInfo(_parse_zone(parameters["tz"]) if "tz" in parameters else time_zone)
    if "from_date" not in parameters:
        raise bad_request("`from_date` is missing: an ISO 8601 date-time, such as 2026-11-01T09:00:00+01:00.")
    from_date = _parse_date("from_date", parameters["from_date"])
    to_date = _parse_date("to_date", parameters["to_date"]) if "to_date" in parameters else now
    metrics = _parse_metrics(parameters.get("metrics"))
    query = Query(
        stream_id=stream_id,
        metrics=metrics,
        from_at=_as_moment("from_date", from_date, zone),
        to_at=_as_moment("to_date", to_date, zone),
        zone=zone,
        time=_parse_time(parameters.get("time", Time.GLOBAL)),
        from_offset=from_date.tzinfo,
        to_offset=to_date.tzinfo if "to_date" in parameters else None,
        breakdown=_parse_breakdown(parameters, metrics) if BREAKDOWN_PARAMETERS & parameters.keys() else None,
    )
    if query.from_at >= query.to_at:
        until = "`to_date`" if "to_date" in parameters else "now, since there is no `to_date`"
        raise bad_request(f"`from_date` must lie before {until}.")
    return query.on_grid() if grid else query, _parse_page(parameters.get("page", "1"))


def _shown(text: str) -> str:
    """What was sent, shortened to what is worth repeating."""
    return repr(text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "...")


def _parse_metrics(text: str | None) -> tuple[str, ...]:
    known = ", ".join(KNOWN_METRICS)
    if not text:
        raise bad_request(f"`metrics` is missing: a list, separated by commas, of {known}.")
    names = tuple(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in KNOWN_METRICS:
            raise bad_request(f"There is no metric {_shown(name)}. `metrics` is a list, without spaces, of {known}.")
    return names


def _parse_breakdown(parameters: Mapping[str, str], metrics: tuple[str, ...]) -> CellQuery:
    for name in (name for name in metrics if name in EXTENSIONS and name not in CARRIED):
        raise bad_request(f"`{name}` is not of single visits: ask for it without `by` and `filter`.")
    return parse_breakdown(parameters, shown=_shown)


def _parse_zone(text: str) -> str:
    try:
        return check_time_zone(text)
    except ValueError:
        raise bad_request(
            f"There is no time zone {_shown(text)}. `tz` is an IANA name, such as Europe/Paris."
        ) from None


def _parse_date(name: str, text: str) -> datetime:
    """With or without an offset, as it was given."""
    try:
        if not _DATE.fullmatch(text):  # Python takes any character between date and time, and some after both
            raise ValueError
        return datetime.fromisoformat(text)
    except ValueError:
        hint = " A plus sign in a URL is written %2B." if " " in text else ""
        raise bad_request(
            f"`{name}` is not an ISO 8601 date-time: {_shown(text)}. "
            f"It looks like 2026-11-01T09:00:00+01:00, percent-encoded in a URL.{hint}"
        ) from None


def parse_moment(name: str, text: str, zone: ZoneInfo) -> datetime:
    """The moment of a parameter, in UTC. Raises a Problem."""
    return _as_moment(name, _parse_date(name, text), zone)


def _as_moment(name: str, date: datetime, zone: ZoneInfo) -> datetime:
    """In UTC; a date without an offset is read in the zone."""
    if EARLIEST.year - 1 <= date.year <= LATEST.year:
        moment = (date if date.tzinfo else date.replace(tzinfo=zone)).astimezone(UTC)
        if EARLIEST <= moment <= LATEST:
            return moment
    raise bad_request(f"`{name}` must lie between the years {EARLIEST.year} and {LATEST.year}.")


def _parse_time(text: str) -> Time:
    try:
        return Time(text)
    except ValueError:
        raise bad_request(f"`time` is one of {', '.join(Time)}, not {_shown(text)}.") from None


def _parse_page(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(HIGHEST_PAGE)) and int(text) >= 1):
        raise bad_request(f"`page` is a number from 1 on, not {_shown(text)}.")
    return int(text)
