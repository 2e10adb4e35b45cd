"""The time that a dashboard shows, and the time before it that it is compared with. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from onlooker.metrics.query import Time

LONGEST = timedelta(days=5 * 366)
HOURS_UP_TO = timedelta(days=3, hours=1)
"""A longer time is drawn by days; three days may have an hour more when clocks are set back."""
EARLIEST = datetime(1971, 1, 1, tzinfo=UTC)
NAMES = {"today": "Today", "24h": "24 hours", "3d": "3 days", "7d": "7 days", "30d": "30 days"}
USUAL = "7d"
DAY, SECOND = timedelta(days=1), timedelta(seconds=1)
_DAYS = {"today": 1, "3d": 3, "7d": 7, "30d": 30}
_LOCAL = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(Z|[+-]\d\d:\d\d)?)?)?", re.ASCII)


class PeriodError(ValueError):
    """There is no such period; the message says how it is right."""


@dataclass(frozen=True)
class Period:
    """A range of time, in UTC, and the one that it is compared with."""

    name: str
    """One of NAMES; nothing for a range that somebody chose."""
    from_at: datetime
    to_at: datetime
    before_from_at: datetime
    before_to_at: datetime
    zone: ZoneInfo
    begins: datetime
    """By the clock on the wall, without a zone: what was asked for."""
    ends: datetime
    """The same; it may be later than now."""
    is_moving: bool
    """Whether it goes on: the same period is another one later."""

    @property
    def time(self) -> Time:
        """How it is drawn."""
        return Time.BY_HOUR if self.to_at - self.from_at <= HOURS_UP_TO else Time.BY_DAY

    @property
    def days(self) -> int:
        """How many days it takes, begun ones too: so far away are its neighbours."""
        return _days_of(self.begins, self.ends)


def parse_period(parameters: Mapping[str, str], *, zone: ZoneInfo, now: datetime) -> Period:
    """Of `period=7d`, or of `from` and `to`, which are read in the zone where they have no offset.

    Raises a PeriodError.
    """
    now = now.astimezone(UTC).replace(microsecond=0)
    if "from" in parameters or "to" in parameters:
        return _chosen(parameters.get("from", ""), parameters.get("to", ""), zone=zone, now=now)
    name = parameters.get("period", USUAL)
    if name not in NAMES:
        raise PeriodError(f"There is no such period. Choose one of {', '.join(NAMES)}, or a range.")
    here = now.astimezone(zone)
    if name == "24h":
        begins, ends = ((at.astimezone(zone).replace(tzinfo=None)) for at in (now - DAY, now))
        return Period(name, now - DAY, now, now - 2 * DAY, now - DAY, zone, begins, ends, is_moving=True)
    ends = datetime.combine(here.date() + DAY, time())
    return _compared(name, ends - _DAYS[name] * DAY, ends, zone=zone, now=now)


def _chosen(from_text: str, to_text: str, *, zone: ZoneInfo, now: datetime) -> Period:
    """`to` as a date is that whole day; without it the range ends now."""
    begins = _clock_of(from_text, zone)
    ends = _clock_of(to_text, zone, is_end=True) if to_text else now.astimezone(zone).replace(tzinfo=None)
    from_at, to_at = _moment(begins, zone), min(_moment(ends, zone), now)
    if from_at >= to_at:
        raise PeriodError("Choose a beginning that lies before the end, and before now.")
    if ends - begins > LONGEST:  # of what was asked for: its neighbours are as far away as it is long
        raise PeriodError(f"A range has at most {LONGEST.days} days.")
    return _compared("", begins, ends, zone=zone, now=now)


def _compared(name: str, begins: datetime, ends: datetime, *, zone: ZoneInfo, now: datetime) -> Period:
    """With the same times of the clock, as many days before as the range takes: of today, yesterday until now."""
    ends_at = now if name else _moment(ends, zone)  # a clock that is set back at midnight may show it before now
    to_at = min(ends_at, now)
    from_at = min(_moment(begins, zone), to_at - SECOND)  # the first second of a day is a period, too
    reached = min(ends, now.astimezone(zone).replace(tzinfo=None))
    earlier = _days_of(begins, ends if name else reached) * DAY
    before_to_at = min(_moment(reached - earlier, zone), from_at)
    before_from_at = min(_moment(begins - earlier, zone), before_to_at - SECOND)
    return Period(name, from_at, to_at, before_from_at, before_to_at, zone, begins, ends, is_moving=ends_at >= now)


def _days_of(begins: datetime, ends: datetime) -> int:
    return max(1, -((begins - ends) // DAY))


def _clock_of(text: str, zone: ZoneInfo, *, is_end: bool = False) -> datetime:
    """What the clock on the wall reads then."""
    if not _LOCAL.fullmatch(text):
        raise PeriodError("A range is written as 2026-11-01 or 2026-11-01T09:00.")
    try:
        clock = datetime.fromisoformat(text)
        if clock.tzinfo:
            clock = clock.astimezone(zone).replace(tzinfo=None)
        if is_end and "T" not in text:
            clock += DAY
        moment = _moment(clock, zone)
    except (ValueError, OverflowError):
        raise PeriodError(f"There is no {text} in the calendar.") from None
    if moment < EARLIEST:
        raise PeriodError(f"A range begins in {EARLIEST.year} or later.")
    return clock


def _moment(clock: datetime, zone: ZoneInfo) -> datetime:
    """When a clock reads so. A time that it skips counts as if it had not; a date begins where it is shown first."""
    return clock.replace(tzinfo=zone).astimezone(UTC)
