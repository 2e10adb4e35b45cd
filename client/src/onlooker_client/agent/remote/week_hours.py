"""Opening hours of a configuration: the text that a stream's hours have, on the local clock of its time zone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, tzinfo

DAYS = ("mo", "tu", "we", "th", "fr", "sa", "su")
DAY_MINUTES = 24 * 60
WEEK_MINUTES = 7 * DAY_MINUTES
LONGEST_TEXT = 400
FORM = 'Opening hours are a text such as "mo-fr 09:00-18:30, sa 10:00-16:00".'
_ITEM = re.compile(r"(?:([a-z]{2})(?:\s*-\s*([a-z]{2}))?\s+)?(\d{1,2}):(\d\d)\s*-\s*(\d{1,2}):(\d\d)", re.ASCII)


@dataclass(frozen=True)
class WeekHours:
    """When this device may compute, beside the stream's own hours."""

    spans: tuple[tuple[int, int], ...]
    """Minutes of a week from Monday 00:00 on."""
    zone: tzinfo

    def is_open(self, at_s: float) -> bool:
        local = datetime.fromtimestamp(at_s, self.zone)
        minute = local.weekday() * DAY_MINUTES + local.hour * 60 + local.minute
        return any(begins <= minute < ends for begins, ends in self.spans)


def find_hours(text: str | None, zone_name: str | None) -> WeekHours | None:
    """None where there are none, or where this machine does not know the zone: then the stream's own hours hold."""
    spans = parse_hours(text or "")
    zone = find_zone(zone_name)
    return WeekHours(spans, zone) if spans and zone else None


def find_zone(name: str | None) -> tzinfo | None:
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name) if name else None
    except (OSError, ValueError, KeyError):  # no such name, or no table of zones on this machine
        return None


def parse_hours(text: str) -> tuple[tuple[int, int], ...]:
    """None of them: always open. Raises ValueError, with a sentence."""
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"Opening hours have at most {LONGEST_TEXT} characters.")
    if not text.strip():
        return ()
    days: list[int] = []
    spans: list[tuple[int, int]] = []
    for item in text.lower().split(","):
        found = _ITEM.fullmatch(item.strip())
        if not found:
            raise ValueError(FORM)
        days = _read_days(found[1], found[2] or found[1]) if found[1] else days
        if not days:
            raise ValueError(f"The first times need a weekday. {FORM}")
        begins, ends = _read_clock(found[3], found[4]), _read_clock(found[5], found[6])
        if begins in (DAY_MINUTES, ends):
            raise ValueError(f"A day's times go from 00:00 to 24:00. {FORM}")
        for day in days:
            spans += _span(day, begins, ends)
    return tuple(spans)


def _read_days(first: str, last: str) -> list[int]:
    if first not in DAYS or last not in DAYS:
        raise ValueError(f"A weekday is one of {', '.join(DAYS)}. {FORM}")
    begin, end = DAYS.index(first), DAYS.index(last)
    return [day % 7 for day in range(begin, end + 1 if end >= begin else end + 8)]


def _read_clock(hour: str, minute: str) -> int:
    total = 60 * int(hour) + int(minute)
    if int(minute) > 59 or total > DAY_MINUTES:
        raise ValueError(f"A day's times go from 00:00 to 24:00. {FORM}")
    return total


def _span(day: int, begins: int, ends: int) -> list[tuple[int, int]]:
    """One that ends before it begins reaches into the next day; past Sunday it goes on on Monday."""
    first = day * DAY_MINUTES + begins
    last = day * DAY_MINUTES + ends + (DAY_MINUTES if ends < begins else 0)
    over = [(0, last - WEEK_MINUTES)] if last > WEEK_MINUTES else []
    return [(first, min(last, WEEK_MINUTES)), *over]
