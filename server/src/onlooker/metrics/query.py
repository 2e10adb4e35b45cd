"""What is asked of a stream's visits: a value, whoever asks."""

from dataclasses import dataclass
from datetime import datetime, tzinfo
from enum import StrEnum
from zoneinfo import ZoneInfo

PAGE_BUCKETS = 50


class Time(StrEnum):
    """How a range is cut into buckets."""

    GLOBAL = "global"
    BY_HOUR = "by_hour"
    BY_DAY = "by_day"


@dataclass(frozen=True)
class Query:
    """Metrics of one stream over a range, in buckets of local time."""

    stream_id: int
    metrics: tuple[str, ...]
    """In the order asked, each once."""
    from_at: datetime
    """In UTC, like `to_at`: Python compares two moments of one zone by what the clock on the wall reads."""
    to_at: datetime
    """No longer part of the range."""
    zone: ZoneInfo
    time: Time = Time.GLOBAL
    from_offset: tzinfo | None = None
    """Of `from_date` as it was asked with, for the answer; None where it had none: then the zone's."""
    to_offset: tzinfo | None = None
