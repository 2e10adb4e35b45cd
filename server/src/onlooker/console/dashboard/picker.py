"""The choice of a period: the names, a range of one's own, and the periods beside it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, time
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from onlooker.console.dashboard.period import DAY, EARLIEST, NAMES, Period, parse_period


@dataclass(frozen=True)
class Choice:
    """A period with a name."""

    name: str
    label: str
    is_chosen: bool


@dataclass(frozen=True)
class Picker:
    """All that can be chosen; queries are what follows `?` in an address."""

    choices: list[Choice]
    earlier: str
    later: str
    """Nothing where that lies ahead of now."""
    from_local: str
    to_local: str
    """For the form's fields."""
    latest: str
    """No later time makes sense."""


def make_picker(period: Period | None, *, zone: ZoneInfo, now: datetime) -> Picker:
    """Without a period none is chosen, and the form has the usual one. What begins in this minute lies ahead of it."""
    shown = period or parse_period({}, zone=zone, now=now)
    choices = [Choice(name, label, period is not None and name == period.name) for name, label in NAMES.items()]
    from_local, to_local = (at.astimezone(zone).strftime("%Y-%m-%dT%H:%M") for at in (shown.from_at, shown.to_at))
    begins, step, minute = shown.begins, shown.days * DAY, now.replace(second=0, microsecond=0)
    return Picker(
        choices=choices,
        earlier=_query(begins - step, shown.ends - step)
        if begins - step >= EARLIEST.replace(tzinfo=None) + DAY
        else "",
        later=_query(begins + step, shown.ends + step) if (begins + step).replace(tzinfo=zone) < minute else "",
        from_local=from_local,
        to_local=to_local,
        latest=now.astimezone(zone).strftime("%Y-%m-%dT%H:%M"),
    )


def keep_typed(picker: Picker, parameters: Mapping[str, str]) -> Picker:
    """With what somebody wrote into the form, so that it can be mended."""
    from_local, to_local = (_as_field(parameters.get(name, "")) for name in ("from", "to"))
    return replace(picker, from_local=from_local or picker.from_local, to_local=to_local or picker.to_local)


def _as_field(text: str) -> str:
    """Nothing where it is no time: a browser would not show it either."""
    try:
        return datetime.fromisoformat(text).isoformat(timespec="minutes")[: len("2026-11-01T09:00")]
    except ValueError:
        return ""


def _query(begins: datetime, ends: datetime) -> str:
    """Whole days by their dates alone."""
    if begins.time() == ends.time() == time():
        dates = begins.date().isoformat(), (ends - DAY).date().isoformat()
    else:
        dates = begins.isoformat(timespec="minutes"), ends.isoformat(timespec="minutes")
    return urlencode(dict(zip(("from", "to"), dates, strict=True)), safe=":")
