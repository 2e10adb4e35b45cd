"""Opening hours of a stream: by weekday on its local clock, in quarters of an hour. Pure: no clock, no database."""

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import groupby
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from onlooker.sentences import Sentence

# Translators: the shortest names of the weekdays, Monday first, as people type them; examples of hours have the same.
WEEKDAY_LIST = Sentence("mo, tu, we, th, fr, sa, su")
WEEKDAYS = tuple(WEEKDAY_LIST.split(", "))
DAY_MINUTES = 24 * 60
DAY_S = 60 * DAY_MINUTES
WEEK_MINUTES = 7 * DAY_MINUTES
STEP_MINUTES = 15
"""A slot, so that no slot is ever partly closed: all offsets of today are whole slots."""
STEP = timedelta(minutes=STEP_MINUTES)
SPANS_A_DAY = 4
LONGEST_TEXT = 400
FORM = Sentence(
    'Write opening hours such as "mo-fr 09:00-18:30, sa 10:00-16:00": weekdays, then times in quarters of an hour.'
)

_ITEM = re.compile(r"(?:([a-z]{2})(?:\s*-\s*([a-z]{2}))?\s+)?(\d{1,2}):(\d\d)\s*-\s*(\d{1,2}):(\d\d)")


@dataclass(frozen=True)
class WeekHours:
    """Minutes of a week from Monday 00:00 on, in order and apart; a span that reaches past Sunday is cut there."""

    spans: tuple[tuple[int, int], ...]

    def __str__(self) -> str:
        return _write(self.spans)


@dataclass(frozen=True)
class OpenSpan:
    """A time in which a stream is open, in UTC; its end is not part of it."""

    from_at: datetime
    to_at: datetime


@lru_cache(maxsize=1024)
def parse_hours(text: str) -> WeekHours | None:
    """None for an empty text: always open. Raises ValueError, with a sentence, for anything else that is none.

    Items are separated by commas; one without a weekday has those of the item before. `22:00-02:00` reaches into the
    next day, and `24:00` is the end of a day.
    """
    if not text.strip():
        return None
    if len(text) > LONGEST_TEXT:
        raise ValueError(Sentence("Opening hours have at most {longest} characters.", longest=LONGEST_TEXT))
    days: Sequence[int] = ()
    minutes: list[tuple[int, int]] = []
    for item in text.lower().split(","):
        found = _ITEM.fullmatch(item.strip())
        if not found:
            raise ValueError(FORM)
        days = _read_days(found[1], found[2]) if found[1] else days
        if not days:
            raise ValueError(Sentence("The first times need a weekday. {form}", form=FORM))
        minutes += _read_times(days, *(int(found[group]) for group in (3, 4, 5, 6)))
    hours = WeekHours(_merge(minutes))
    for day in range(7):
        begun = [span for span in hours.spans if span[0] // DAY_MINUTES == day]
        if len(begun) > SPANS_A_DAY:
            raise ValueError(Sentence("A day has at most {most} spans of opening hours.", most=SPANS_A_DAY))
    if hours.spans == ((0, WEEK_MINUTES),):
        raise ValueError(Sentence("These are all hours of the week. Leave the opening hours empty instead."))
    return hours


def check_hours(text: str) -> str:
    """As they are stored. Raises ValueError, with a sentence."""
    kept = str(parse_hours(text) or "")
    parse_hours(kept)  # written out it may be longer than what was typed
    return kept


def _read_days(first: str, last: str | None) -> Sequence[int]:
    try:
        begin, end = WEEKDAYS.index(first), WEEKDAYS.index(last or first)
    except ValueError:
        raise ValueError(Sentence("A weekday is one of {names}. {form}", names=WEEKDAY_LIST, form=FORM)) from None
    return [day % 7 for day in range(begin, end + 1 if end >= begin else end + 8)]


def _read_times(days: Sequence[int], *clock: int) -> Iterator[tuple[int, int]]:
    """Minutes of the week; a span across midnight ends on the next day."""
    hour, minute, end_hour, end_minute = clock
    begins, ends = 60 * hour + minute, 60 * end_hour + end_minute
    if minute > 59 or end_minute > 59 or begins >= DAY_MINUTES or ends > DAY_MINUTES:
        raise ValueError(Sentence("A day's times go from 00:00 to 24:00. {form}", form=FORM))
    if begins % STEP_MINUTES or ends % STEP_MINUTES:
        raise ValueError(Sentence("Opening hours begin and end at a quarter of an hour: at :00, :15, :30 or :45."))
    if begins == ends:
        said = Sentence("Opening hours must end at another time than they begin. A whole day is 00:00-24:00.")
        raise ValueError(said)
    for day in days:
        first = day * DAY_MINUTES + begins
        last = day * DAY_MINUTES + ends + (DAY_MINUTES if ends < begins else 0)
        yield first, min(last, WEEK_MINUTES)
        if last > WEEK_MINUTES:
            yield 0, last - WEEK_MINUTES


def _merge(spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for begins, ends in sorted(spans):
        if merged and begins <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(ends, merged[-1][1]))
        else:
            merged.append((begins, ends))
    return tuple(merged)


def _write(spans: Sequence[tuple[int, int]]) -> str:
    """Days with the same times together; what reaches past midnight belongs to the day on which it begins."""
    by_day: list[list[tuple[int, int]]] = [[] for _ in WEEKDAYS]
    joined = list(spans)
    if len(joined) > 1 and joined[0][0] == 0 and joined[-1][1] == WEEK_MINUTES:
        early = joined.pop(0)
        joined[-1] = (joined[-1][0], WEEK_MINUTES + early[1])
    for begins, ends in joined:
        for begin, end in _cut_to_days(begins, ends):
            by_day[begin // DAY_MINUTES % 7].append((begin % DAY_MINUTES, end - begin // DAY_MINUTES * DAY_MINUTES))
    days = [", ".join(f"{_clock(begin)}-{_clock(end)}" for begin, end in sorted(spans)) for spans in by_day]
    items = []
    for times, group in groupby(range(7), key=lambda day: days[day]):
        run = list(group)
        names = WEEKDAYS[run[0]] if len(run) == 1 else f"{WEEKDAYS[run[0]]}-{WEEKDAYS[run[-1]]}"
        if times:
            items.append(f"{names} {times}")
    return ", ".join(items)


def _cut_to_days(begins: int, ends: int) -> Iterator[tuple[int, int]]:
    """Parts of at most a day, counted from where each begins: the last one may reach into the next day."""
    while ends - begins > DAY_MINUTES or (ends - 1) // DAY_MINUTES - begins // DAY_MINUTES > 1:
        midnight = (begins // DAY_MINUTES + 1) * DAY_MINUTES
        yield begins, midnight
        begins = midnight
    reaches = ends - begins // DAY_MINUTES * DAY_MINUTES
    if reaches > DAY_MINUTES and reaches - DAY_MINUTES >= begins % DAY_MINUTES:  # 20:00 to 21:00 of the next day
        midnight = (begins // DAY_MINUTES + 1) * DAY_MINUTES
        yield begins, midnight
        begins = midnight
    yield begins, ends


def _clock(minute: int) -> str:
    """Of a minute that may lie in the next day."""
    shown = minute if minute <= DAY_MINUTES else minute - DAY_MINUTES
    return f"{shown // 60:02}:{shown % 60:02}"


def open_minutes(hours: WeekHours | None, weekday: int, hour: int) -> int:
    """How much of an hour of the week it is open; None: always."""
    if hours is None:
        return 60
    begins = weekday * DAY_MINUTES + 60 * hour
    return sum(max(0, min(begins + 60, span[1]) - max(begins, span[0])) for span in hours.spans)


def longest_opening(hours: WeekHours) -> int:
    """In minutes; what reaches from Sunday into Monday is one opening."""
    lengths = [ends - begins for begins, ends in hours.spans]
    is_joined = hours.spans[0][0] == 0 and hours.spans[-1][1] == WEEK_MINUTES
    return max(*lengths, lengths[0] + lengths[-1] if is_joined else 0)


def open_spans(hours: WeekHours, zone: ZoneInfo, from_at: datetime, to_at: datetime) -> list[OpenSpan]:
    """All that is open inside a range, in order and apart, cut to it."""
    spans: list[OpenSpan] = []
    monday = _monday_of(from_at.astimezone(zone).date() - timedelta(days=1))
    while datetime.combine(monday, datetime.min.time(), UTC) <= to_at + timedelta(days=2):
        for begins, ends in hours.spans:
            begin, end = max(_instant(monday, begins, zone), from_at), min(_instant(monday, ends, zone), to_at)
            if begin >= end:
                continue
            if spans and begin <= spans[-1].to_at:
                spans[-1] = OpenSpan(spans[-1].from_at, max(end, spans[-1].to_at))
            else:
                spans.append(OpenSpan(begin, end))
        monday += timedelta(days=7)
    return spans


def closed_spans(hours: WeekHours, zone: ZoneInfo, from_at: datetime, to_at: datetime) -> list[OpenSpan]:
    """All that is not open inside a range, in order."""
    opened = open_spans(hours, zone, from_at, to_at)
    begins = [from_at, *(span.to_at for span in opened)]
    ends = [*(span.from_at for span in opened), to_at]
    return [OpenSpan(begin, end) for begin, end in zip(begins, ends, strict=True) if begin < end]


def is_open(hours: WeekHours, zone: ZoneInfo, at: datetime) -> bool:
    """Whether a moment lies inside."""
    return open_since(hours, zone, at) is not None


def open_since(hours: WeekHours, zone: ZoneInfo, at: datetime) -> datetime | None:
    """When the span began in which a moment lies; at most eight days earlier. None where it is closed then."""
    spans = open_spans(hours, zone, at - timedelta(days=8), at + timedelta(seconds=1))
    place = bisect_right(spans, at, key=lambda span: span.from_at) - 1
    return spans[place].from_at if place >= 0 and at < spans[place].to_at else None


def next_opening(hours: WeekHours, zone: ZoneInfo, at: datetime) -> datetime | None:
    """When it opens next after a moment at which it is closed."""
    spans = open_spans(hours, zone, at, at + timedelta(days=9))
    return spans[0].from_at if spans else None


def clock_changes(zone: ZoneInfo, from_at: datetime, to_at: datetime) -> list[tuple[datetime, timedelta]]:
    """When the local clock is set inside a range, and by how much; no clock is set twice in a day."""
    changes = []
    begins_s, ends_s = math.ceil(from_at.timestamp()), math.floor(to_at.timestamp())
    for day_s in range(begins_s, ends_s, DAY_S):
        seconds = range(day_s, min(day_s + DAY_S, ends_s) + 1)
        before, after = (_offset_at(zone, second) for second in (seconds[0], seconds[-1]))
        if before != after:
            changes.append((_first_other(zone, seconds), after - before))
    return changes


def _first_other(zone: ZoneInfo, seconds: range) -> datetime:
    """The first moment whose offset is not that of the first second."""
    before = _offset_at(zone, seconds[0])
    place = bisect_left(seconds, True, key=lambda second: _offset_at(zone, second) != before)
    return datetime.fromtimestamp(seconds[place], UTC)


def _offset_at(zone: ZoneInfo, at_s: int) -> timedelta:
    return datetime.fromtimestamp(at_s, zone).utcoffset() or timedelta()


def zone_of(name: str) -> ZoneInfo:
    """UTC where this machine does not know the zone."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


def _monday_of(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _instant(monday: date, minute: int, zone: ZoneInfo) -> datetime:
    """The first moment at which the local clock shows that minute of a week, or a later one where it skips it."""
    clock = datetime.combine(monday, datetime.min.time()) + timedelta(minutes=minute)
    moment = clock.replace(tzinfo=zone).astimezone(UTC)
    while _shown(moment, zone) > clock and _shown(moment - STEP, zone) >= clock:  # skipped: back to the skip
        moment -= STEP
    return moment


def _shown(moment: datetime, zone: ZoneInfo) -> datetime:
    return moment.astimezone(zone).replace(tzinfo=None)
