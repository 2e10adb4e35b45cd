"""When a mailed report is due: a weekday or the first of the month, at an hour of a local clock. Pure."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

DAY = timedelta(days=1)
LONGEST_WAIT_DAYS = 32


def next_due(weekday: int | None, hour: int, zone: ZoneInfo, *, after: datetime) -> datetime:
    """The first one later than `after`. One a date: an hour that clocks show twice counts once, the first time.

    An hour that clocks skip counts as if it existed, so the report is sent when they show the hour after it.
    """
    day = after.astimezone(zone).date()
    for _ in range(LONGEST_WAIT_DAYS + 1):
        due_at = datetime.combine(day, time(hour), zone).astimezone(UTC)
        if _is_day(day, weekday) and due_at > after:
            return due_at
        day += DAY
    raise AssertionError("Every month has a first day.")


def _is_day(day: date, weekday: int | None) -> bool:
    return day.day == 1 if weekday is None else day.weekday() == weekday
