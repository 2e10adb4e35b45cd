"""What was watched of any time, and why not the rest, piece by piece in plain Python: slow, and plainly right."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo

from testkit.quality_oracle import QualityLog

SECOND_US = 1_000_000
SLOT_S = 900
SLOT_US = SLOT_S * SECOND_US
COVERED = "covered"
CLOSED = ("not_created", "closed", "disabled", "quota")
"""In this order they explain what is missing."""
TOLD_BY_STATE = ("stream_disabled", "quota_exceeded", "stream_closed")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class ShopHours:
    """Opening hours, told twice: as a stream has them, and by weekday from Monday on, in minutes of the local day."""

    text: str
    by_weekday: tuple[tuple[tuple[int, int], ...], ...]
    """A span that ends after 1440 reaches into the next day. Without any: always open."""
    zone: str = "UTC"


@dataclass(frozen=True)
class CameraLog:
    """What the tables say of a stream. Times are microseconds of unix time; slots are told by their first one."""

    created_us: int = 0
    known_us: int = 0
    """What was watched before is not known; the edge of a slot."""
    videos: dict[int, float] = field(default_factory=dict)
    """Computed seconds by slot."""
    refusals: dict[int, str] = field(default_factory=dict)
    """The reason of refused frames by slot."""
    blind: dict[tuple[int, str], float] = field(default_factory=dict)
    """Computed seconds in which the camera saw nothing, by slot and fault."""
    quality: QualityLog = field(default_factory=dict)
    states: dict[int, str] = field(default_factory=dict)
    """By the moment from which on it holds."""
    hours: dict[int, ShopHours] = field(default_factory=dict)
    """By the moment from which on they hold."""


def expect_coverage(log: CameraLog, begins_us: int, ends_us: int, *, now_us: int) -> dict[str, float]:
    """Seconds that were covered, and the others by reason; only reasons with more than a microsecond."""
    found: dict[str, float] = defaultdict(float)
    edges = [*_slot_edges(log), *_opening_edges(log, begins_us, min(ends_us, now_us))]
    for begin_us, end_us in _cut(begins_us, min(ends_us, now_us), edges):
        for why, seconds in _explain(log, begin_us, end_us, now_us=now_us).items():
            found[why] += seconds
    return {why: seconds for why, seconds in found.items() if why == COVERED or seconds > 1e-6}


def _slot_edges(log: CameraLog) -> Iterator[int]:
    """Of every slot about which the log says anything: between them, nothing happens."""
    for moment in (*log.videos, *log.refusals, *(slot for slot, _ in log.blind), *_changes(log), log.known_us):
        yield from (slot_of(moment), slot_of(moment) + SLOT_US)


def _explain(log: CameraLog, begin_us: int, end_us: int, *, now_us: int) -> dict[str, float]:
    """A part of one slot, or some whole slots about which the log says nothing."""
    slot = slot_of(begin_us)
    length_s = (end_us - begin_us) / SECOND_US
    lasted_s = min(SLOT_S, (now_us - slot) / SECOND_US)
    covered_s = min(log.videos.get(slot, 0.0), lasted_s) * length_s / lasted_s
    found = defaultdict(float, {COVERED: covered_s})
    rest_s = length_s - covered_s
    blind = {fault: blind_s for (at, fault), blind_s in log.blind.items() if at == slot}
    told_s = min(rest_s, sum(blind.values()) * length_s / lasted_s)
    for fault, blind_s in blind.items():
        found[fault] += told_s * blind_s / sum(blind.values())
    rest_s -= told_s
    closed_s: dict[str, float] = defaultdict(float)
    for from_us, to_us in _cut(begin_us, end_us, _changes(log)):
        closed_s[state_at(log, from_us)] += (to_us - from_us) / SECOND_US
    for state in CLOSED:
        found[state] += min(rest_s, closed_s[state])
        rest_s -= min(rest_s, closed_s[state])
    is_refused = log.refusals.get(slot, TOLD_BY_STATE[0]) not in TOLD_BY_STATE
    otherwise = "unknown" if end_us <= log.known_us else "offline"
    found["refused" if is_refused else otherwise] += rest_s
    return found


def _changes(log: CameraLog) -> Iterator[int]:
    """When the stream's state may change: by its log, and with the end of a month."""
    yield log.created_us
    yield from log.hours
    for moment in log.states:
        yield from (moment, _month_end_us(moment))


def state_at(log: CameraLog, at_us: int) -> str:
    """A used-up quota is over with its month."""
    if at_us < log.created_us:
        return "not_created"
    if not is_shop_open(log, at_us):
        return "closed"
    since_us = max((moment for moment in log.states if moment <= at_us), default=None)
    if since_us is None or (log.states[since_us] == "quota" and at_us >= _month_end_us(since_us)):
        return "enabled"
    return log.states[since_us]


def is_shop_open(log: CameraLog, at_us: int) -> bool:
    since_us = max((moment for moment in log.hours if moment <= at_us), default=None)
    hours = log.hours[since_us] if since_us is not None else None
    if hours is None or not any(hours.by_weekday):
        return True
    day = (EPOCH + timedelta(microseconds=at_us)).date()
    days = [day + timedelta(days=by) for by in (-2, -1, 0, 1)]
    return any(begins <= at_us < ends for one in days for begins, ends in _spans_of(hours, one))


def _opening_edges(log: CameraLog, begins_us: int, ends_us: int) -> Iterator[int]:
    """Whenever some shop opens or closes."""
    first, last = ((EPOCH + timedelta(microseconds=at_us)).date() for at_us in (begins_us, max(begins_us, ends_us)))
    for hours in log.hours.values():
        for number in range(-2, (last - first).days + 3):
            for span in _spans_of(hours, first + timedelta(days=number)):
                yield from span


@cache
def _spans_of(hours: ShopHours, day: date) -> list[tuple[int, int]]:
    """What begins on a local day, in microseconds."""
    midnight = datetime(day.year, day.month, day.day)
    clocks = [[midnight + timedelta(minutes=edge) for edge in span] for span in hours.by_weekday[day.weekday()]]
    return [(_first_shown(begins, hours.zone), _first_shown(ends, hours.zone)) for begins, ends in clocks]


@cache
def _first_shown(clock: datetime, zone: str) -> int:
    """The first quarter of an hour at which the local clock shows a time, or a later one."""
    at_s = int(clock.replace(tzinfo=UTC).timestamp()) - 26 * 3600
    while datetime.fromtimestamp(at_s, ZoneInfo(zone)).replace(tzinfo=None) < clock:
        at_s += SLOT_S
    return at_s * SECOND_US


def _month_end_us(at_us: int) -> int:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at_us)
    following = (moment.replace(day=1) + timedelta(days=32)).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return int(following.timestamp()) * SECOND_US


def slot_of(at_us: int) -> int:
    return at_us // SLOT_US * SLOT_US


def _cut(begins_us: int, ends_us: int, cuts: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The pieces of a time between its ends and the cuts inside it."""
    if begins_us < ends_us:
        yield from pairwise(sorted({begins_us, ends_us, *(cut for cut in cuts if begins_us < cut < ends_us)}))
