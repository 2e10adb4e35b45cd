"""Computed video time: the calendar months (UTC) it is counted in. Pure."""

from datetime import UTC, date, datetime
from functools import lru_cache

SINGLE_JOB_S = 0.1
"""What a job without a session counts."""


def month_of(unix_time: float) -> date:
    return _month_of_day(int(unix_time // 86_400))


@lru_cache(maxsize=8)
def _month_of_day(days: int) -> date:
    unix_time = days * 86_400
    return datetime.fromtimestamp(unix_time, UTC).date().replace(day=1)


def month_end(unix_time: float) -> datetime:
    """The moment at which a new quota begins."""
    return month_start(month_after(month_of(unix_time)))


def month_after(month: date, count: int = 1) -> date:
    """The month so many months later; earlier if the count is negative."""
    years, index = divmod(month.year * 12 + month.month - 1 + count, 12)
    return date(years, index + 1, 1)


def month_start(month: date) -> datetime:
    return datetime(month.year, month.month, 1, tzinfo=UTC)


def as_duration(seconds: float) -> str:
    """For people: 2 h 5 min, 4 min 10 s, 0.1 s."""
    if seconds < 60:
        return f"{seconds:.1f} s".replace(".0 s", " s") if seconds < 59.95 else "1 min"
    minutes, rest_s = divmod(int(seconds), 60)
    hours, rest = divmod(minutes, 60)
    parts = [(hours, "h"), (rest, "min"), (0 if hours else rest_s, "s")]
    return " ".join(f"{amount} {unit}" for amount, unit in parts if amount)
