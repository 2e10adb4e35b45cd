"""The time range that a dashboard shows: parsed from the address, offered in the picker, written for people. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from onlooker.console.languages.locale_text import write_weekday
from onlooker.metrics.like_time import TimeRange, previous_range
from onlooker.metrics.query import Time

LONGEST = timedelta(days=5 * 366)
EARLIEST = datetime(1971, 1, 1, tzinfo=UTC)
NAMES = {
    "today": _lazy("Today"),
    "24h": _lazy("24 hours"),
    "3d": _lazy("3 days"),
    "7d": _lazy("7 days"),
    "30d": _lazy("30 days"),
}
CALENDAR_NAMES = {
    "yesterday": _lazy("Yesterday"),
    "week": _lazy("This week"),
    "last-week": _lazy("Last week"),
    "month": _lazy("This month"),
    "last-month": _lazy("Last month"),
    "year": _lazy("This year"),
    "last-year": _lazy("Last year"),
}
ALL_NAMES = NAMES | CALENDAR_NAMES
DEFAULT = "7d"
HOUR, DAY, SECOND = timedelta(hours=1), timedelta(days=1), timedelta(seconds=1)
_DAYS = {"today": 1, "3d": 3, "7d": 7, "30d": 30}
_LOCAL = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(Z|[+-]\d\d:\d\d)?)?)?", re.ASCII)


@dataclass(frozen=True)
class Grain:
    """Buckets that a chart can be drawn in."""

    name: str
    """In the address."""
    label: Promise
    heading: Promise
    """Of a chart of what has a name."""
    time: Time
    from_over: timedelta
    """Only ranges that are longer have several."""
    up_to: timedelta
    """Longer ranges have too many."""
    usual_up_to: timedelta
    """Up to this length it is chosen where nobody chooses."""


GRAINS = (
    Grain(
        "quarter-hour",
        _lazy("Quarter hour"),
        _lazy("{name} by quarter hour"),
        Time.BY_QUARTER_HOUR,
        timedelta(),
        3 * DAY + HOUR,
        6 * HOUR,
    ),
    Grain(
        "hour",
        _lazy("Hour"),
        _lazy("{name} by hour"),
        Time.BY_HOUR,
        HOUR,
        14 * DAY + HOUR,
        3 * DAY + HOUR,
    ),
    Grain(
        "day",
        _lazy("Day"),
        _lazy("{name} by day"),
        Time.BY_DAY,
        DAY + HOUR,
        LONGEST + DAY,
        100 * DAY,
    ),
    Grain(
        "week",
        _lazy("Week"),
        _lazy("{name} by week"),
        Time.BY_WEEK,
        7 * DAY + HOUR,
        LONGEST + DAY,
        2 * 366 * DAY,
    ),
    Grain(
        "month",
        _lazy("Month"),
        _lazy("{name} by month"),
        Time.BY_MONTH,
        31 * DAY + HOUR,
        LONGEST + DAY,
        LONGEST + DAY,
    ),
)
"""The finest first. Whole days have an extra hour when clocks go back."""


class PeriodError(ValueError):
    """The period does not exist; the message says which ones do."""


@dataclass(frozen=True)
class Period:
    """A time range in UTC, and the one it is compared with: the same weekdays and times of day."""

    name: str
    """One of ALL_NAMES; empty for a custom range."""
    from_at: datetime
    to_at: datetime
    before_from_at: datetime
    before_to_at: datetime
    zone: ZoneInfo
    begins: datetime
    """What was asked for: local time, without a zone."""
    ends: datetime
    """Likewise; it may lie in the future."""
    is_moving: bool
    """Whether the range moves with the clock: the same address shows another range later."""
    by: str = ""
    """The name of the grain that was chosen; empty for the usual one."""
    grains: tuple[Grain, ...] = field(init=False)
    """Those that make sense for its length."""
    grain: Grain = field(init=False)
    """How it is drawn: as chosen, unless that makes no sense for its length, which may grow with the clock."""
    time: Time = field(init=False)

    def __post_init__(self) -> None:
        length = self.ends - self.begins if self.name == "today" else self.to_at - self.from_at
        grains = tuple(one for one in GRAINS if one.from_over < length <= one.up_to)
        usual = next((one for one in GRAINS if length <= one.usual_up_to), GRAINS[-1])
        grain = next((one for one in grains if one.name == self.by), usual)
        for name, value in (("grains", grains), ("grain", grain), ("time", grain.time)):
            object.__setattr__(self, name, value)

    @property
    def days(self) -> int:
        """How many days it touches; the periods before and after it are this far away."""
        return _count_days(self.begins, self.ends)


def parse_period(parameters: Mapping[str, str], *, zone: ZoneInfo, now: datetime) -> Period:
    """Parse `period=7d`, or `from` and `to`, which are local to the zone unless they have an offset; and `by=hour`.

    Raises PeriodError.
    """
    by = parameters.get("by", "")
    if by and by not in (one.name for one in GRAINS):
        raise PeriodError(
            _("Unknown buckets. Choose one of {names}.").format(names=", ".join(one.name for one in GRAINS))
        )
    return replace(_parse_unsplit(parameters, zone=zone, now=now), by=by)


def _parse_unsplit(parameters: Mapping[str, str], *, zone: ZoneInfo, now: datetime) -> Period:
    now = now.astimezone(UTC).replace(microsecond=0)
    if "from" in parameters or "to" in parameters:
        return _parse_range(parameters.get("from", ""), parameters.get("to", ""), zone=zone, now=now)
    name = parameters.get("period", DEFAULT)
    if name not in ALL_NAMES:
        raise PeriodError(_("Unknown period. Choose one of {names}, or a range.").format(names=", ".join(ALL_NAMES)))
    here = now.astimezone(zone)
    if name == "24h":
        begins, ends = ((at.astimezone(zone).replace(tzinfo=None)) for at in (now - DAY, now))
        before = previous_range(TimeRange(now - DAY, now), zone)
        return Period(name, now - DAY, now, before.from_at, before.to_at, zone, begins, ends, is_moving=True)
    midnight = datetime.combine(here.date(), time())
    if name in CALENDAR_NAMES:
        return _make_period(name, *_find_calendar_ends(name, midnight), zone=zone, now=now)
    return _make_period(name, midnight + DAY - _DAYS[name] * DAY, midnight + DAY, zone=zone, now=now)


def _find_calendar_ends(name: str, today: datetime) -> tuple[datetime, datetime]:
    """Where a named day, week, month or year begins and ends, by local time; `today` is its midnight."""
    monday, first, new_year = today - today.weekday() * DAY, today.replace(day=1), today.replace(month=1, day=1)
    ends = {
        "yesterday": (today - DAY, today),
        "week": (monday, monday + 7 * DAY),
        "last-week": (monday - 7 * DAY, monday),
        "month": (first, (first + 31 * DAY).replace(day=1)),
        "last-month": ((first - DAY).replace(day=1), first),
        "year": (new_year, new_year.replace(year=new_year.year + 1)),
        "last-year": (new_year.replace(year=new_year.year - 1), new_year),
    }
    return ends[name]


def _parse_range(from_text: str, to_text: str, *, zone: ZoneInfo, now: datetime) -> Period:
    """A date as `to` includes that whole day; without `to`, the range ends now."""
    begins = _parse_local(from_text, zone)
    ends = _parse_local(to_text, zone, is_end=True) if to_text else now.astimezone(zone).replace(tzinfo=None)
    from_at, to_at = _to_utc(begins, zone), min(_to_utc(ends, zone), now)
    if from_at >= to_at:
        raise PeriodError(_("Choose a start that is before the end and not in the future."))
    if ends - begins > LONGEST:  # as asked for: the ranges before and after it are as long
        raise PeriodError(_("A range can have at most {longest} days.").format(longest=LONGEST.days))
    return _make_period("", begins, ends, zone=zone, now=now)


def _make_period(name: str, begins: datetime, ends: datetime, *, zone: ZoneInfo, now: datetime) -> Period:
    """Compare with the same local times, whole weeks earlier: today until now with the same weekday until then."""
    is_open = bool(name) and ends > now.astimezone(zone).replace(tzinfo=None)
    ends_at = now if is_open else _to_utc(ends, zone)  # clocks set back at midnight may put it before now
    to_at = min(ends_at, now)
    from_at = min(_to_utc(begins, zone), to_at - SECOND)  # in the first second of a day, the period still has a length
    before = previous_range(TimeRange(from_at, to_at), zone)
    is_moving = is_open or (not name and ends_at >= now)  # a named period that ends this second is over
    return Period(name, from_at, to_at, before.from_at, before.to_at, zone, begins, ends, is_moving=is_moving)


def _count_days(begins: datetime, ends: datetime) -> int:
    return max(1, -((begins - ends) // DAY))


def _parse_local(text: str, zone: ZoneInfo, *, is_end: bool = False) -> datetime:
    """The local time that a parameter stands for."""
    if not _LOCAL.fullmatch(text):
        raise PeriodError(_("Write dates as 2026-11-01 or 2026-11-01T09:00."))
    try:
        clock = datetime.fromisoformat(text)
        if clock.tzinfo:
            clock = clock.astimezone(zone).replace(tzinfo=None)
        if is_end and "T" not in text:
            clock += DAY
        moment = _to_utc(clock, zone)
    except (ValueError, OverflowError):
        raise PeriodError(_("{text} is not a valid date or time.").format(text=text)) from None
    if moment < EARLIEST:
        raise PeriodError(_("Dates before {year} are not supported.").format(year=EARLIEST.year))
    return clock


def _to_utc(clock: datetime, zone: ZoneInfo) -> datetime:
    """The moment of a local time. A skipped time counts as if it existed; a date starts when it is first shown."""
    return clock.replace(tzinfo=zone).astimezone(UTC)


@dataclass(frozen=True)
class PeriodChoice:
    """A named period."""

    name: str
    label: str
    is_chosen: bool


@dataclass(frozen=True)
class PeriodPicker:
    """All the periods to choose from. `earlier` and `later` are query strings."""

    choices: list[PeriodChoice]
    calendar: list[PeriodChoice]
    """Days, weeks, months and years as they are named."""
    other_chosen: str
    """What is chosen of other dates than the usual ones; empty where one of those is, or nothing."""
    earlier: str
    later: str
    """Empty where it would lie in the future."""
    from_local: str
    to_local: str
    """Values of the form's fields."""
    latest: str
    """The latest start that makes sense."""


def make_picker(period: Period | None, *, zone: ZoneInfo, now: datetime) -> PeriodPicker:
    """Without a period none is marked, and the form shows the default. A period that starts this minute is future."""
    shown = period or parse_period({}, zone=zone, now=now)
    chosen = _find_name(period, now) if period else None
    choices = [PeriodChoice(name, str(label), name == chosen) for name, label in ALL_NAMES.items()]
    named = str(CALENDAR_NAMES.get(chosen or "", ""))
    from_local, to_local = (at.astimezone(zone).strftime("%Y-%m-%dT%H:%M") for at in (shown.from_at, shown.to_at))
    minute, (earlier, later) = now.replace(second=0, microsecond=0), _find_neighbours(shown)
    return PeriodPicker(
        choices=[one for one in choices if one.name in NAMES],
        calendar=[one for one in choices if one.name in CALENDAR_NAMES],
        other_chosen=_("Chosen dates") if chosen == "" else named,
        earlier=_make_query_string(*earlier, by=shown.by) if earlier[0] >= EARLIEST.replace(tzinfo=None) + DAY else "",
        later=_make_query_string(*later, by=shown.by) if later[0].replace(tzinfo=zone) < minute else "",
        from_local=from_local,
        to_local=to_local,
        latest=now.astimezone(zone).strftime("%Y-%m-%dT%H:%M"),
    )


def _find_name(period: Period, now: datetime) -> str:
    """Dates that are those of a named month, week or year are chosen by that name, too; empty for other dates."""
    today = datetime.combine(now.astimezone(period.zone).date(), time())
    ends = (period.begins, period.ends)
    return period.name or next((name for name in CALENDAR_NAMES if _find_calendar_ends(name, today) == ends), "")


def _find_neighbours(period: Period) -> tuple[tuple[datetime, datetime], tuple[datetime, datetime]]:
    """Whole months step by as many months, so a month leads to the month beside it; all else by its days."""
    begins, ends = period.begins, period.ends
    if begins.day == ends.day == 1 and begins.time() == ends.time() == time():
        months = 12 * (ends.year - begins.year) + ends.month - begins.month
        return (_add_months(begins, -months), begins), (ends, _add_months(ends, months))
    step = period.days * DAY
    return (begins - step, ends - step), (begins + step, ends + step)


def _add_months(first: datetime, months: int) -> datetime:
    """`first` is the first day of a month."""
    year, month = divmod(12 * first.year + first.month - 1 + months, 12)
    return first.replace(year=year, month=month + 1)


def keep_typed(picker: PeriodPicker, parameters: Mapping[str, str]) -> PeriodPicker:
    """Keep what was typed into the form, so that it can be corrected."""
    from_local, to_local = (_field_value(parameters.get(name, "")) for name in ("from", "to"))
    return replace(picker, from_local=from_local or picker.from_local, to_local=to_local or picker.to_local)


def _field_value(text: str) -> str:
    """Empty where it is not a time: a browser would not show it either."""
    try:
        return datetime.fromisoformat(text).isoformat(timespec="minutes")[: len("2026-11-01T09:00")]
    except ValueError:
        return ""


def _make_query_string(begins: datetime, ends: datetime, *, by: str) -> str:
    """Whole days are written as dates."""
    if begins.time() == ends.time() == time():
        dates = begins.date().isoformat(), (ends - DAY).date().isoformat()
    else:
        dates = begins.isoformat(timespec="minutes"), ends.isoformat(timespec="minutes")
    return urlencode(dict(zip(("from", "to"), dates, strict=True)) | ({"by": by} if by else {}), safe=":")


def present_period(period: Period, *, now: datetime) -> dict[str, Any]:
    """What the templates need of a period: for people, for scripts, and for the link to the table."""
    from_date, to_date = (at.astimezone(period.zone).isoformat() for at in (period.from_at, period.to_at))
    return {
        "period": period,
        "from_date": from_date,
        "to_date": to_date,
        "table_query": urlencode({"from": from_date, "to": to_date} | ({"by": period.by} if period.by else {})),
        "range": format_period(period, now=now),
        "range_before": format_range(period.before_from_at, period.before_to_at, period.zone, now=now),
        "read_at": now.astimezone(period.zone).isoformat(timespec="seconds"),
    }


def format_range(from_at: datetime, to_at: datetime, zone: ZoneInfo, *, now: datetime | None = None) -> str:
    """`Mon 9 Nov 09:00 to Tue 10 Nov 12:00`; whole days as dates. Years are given unless they are the current one."""
    begins, ends = from_at.astimezone(zone), to_at.astimezone(zone)
    year = now.astimezone(zone).year if now else None
    if _is_midnight(from_at, zone) and _is_midnight(to_at, zone):
        first, last = (_format_day(at, year) for at in (begins, ends - timedelta(hours=12)))
        return first if first == last else _format_ends(first, last)
    until = f"{ends:%H:%M}" if begins.date() == ends.date() else _format_time(ends, year)
    return _format_ends(_format_time(begins, year), until)


def _format_ends(begins: str, ends: str) -> str:
    # Translators: the first and the last day of a period, or two times.
    return _("{begins} to {ends}").format(begins=begins, ends=ends)


def format_period(period: Period, *, now: datetime) -> str:
    """Its range; `to now` while it is not over."""
    said = format_range(period.from_at, period.to_at, period.zone, now=now)
    if period.to_at < now.replace(microsecond=0):
        return said
    begins = _format_time(period.from_at.astimezone(period.zone), now.astimezone(period.zone).year)
    return _("{begins} to now").format(begins=begins)


def _is_midnight(at: datetime, zone: ZoneInfo) -> bool:
    """Whether a date starts then; clocks may skip midnight."""
    return at.astimezone(zone).date() != (at - timedelta(seconds=1)).astimezone(zone).date()


def _format_day(at: datetime, year: int | None) -> str:
    return write_weekday(at, with_year=at.year != year)


def _format_time(at: datetime, year: int | None) -> str:
    return f"{_format_day(at, year)} {at:%H:%M}"
