"""Moments and spans as people and servers write them: ISO 8601 with a UTC offset, on every Python."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

_FORM = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?",
    re.IGNORECASE,
)


def read_moment(text: str) -> datetime:
    """Raises ValueError where it is none; one without an offset comes back without a zone."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no moment such as 2026-11-01T09:00+01:00")
    year, month, day, hour, minute, second, fraction, offset = found.groups()
    micros = int((fraction or "0").ljust(6, "0")[:6])
    local = datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), micros)
    return local if offset is None else local.replace(tzinfo=_zone(offset))


def in_hours(seconds: float) -> str:
    """As people say it: 1 h 12 min."""
    minutes = round(seconds / 60)
    if 0 < seconds < 60:
        return f"{max(seconds, 1):.0f} s"
    hours, rest = divmod(minutes, 60)
    if not hours:
        return f"{rest} min"
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def _zone(offset: str) -> timezone:
    if offset in "Zz":
        return timezone.utc
    hours, minutes = int(offset[1:3]), int(offset[-2:]) if len(offset) > 3 else 0
    span = timedelta(hours=hours, minutes=minutes)
    return timezone(-span if offset[0] == "-" else span)
