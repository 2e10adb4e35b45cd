"""The ghost line: an earlier time behind the period, at the same local weekdays and times of day. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

from django.utils.translation import gettext as _

from onlooker.console.dashboard.period import DAY, EARLIEST, Period, PeriodError
from onlooker.console.time_chart.choice import YEAR, ChartChoice, GhostKind
from onlooker.metrics.buckets import Buckets, count_buckets, page_buckets
from onlooker.metrics.query import Query, Time


@dataclass(frozen=True)
class Ghost:
    """An earlier time."""

    from_at: datetime
    to_at: datetime
    earlier: timedelta
    """Whole days, by the local clock."""


def find_ghost(choice: ChartChoice, period: Period, *, now: datetime) -> Ghost | None:
    """Of a period that is not over it has the whole: what was still to come then. Raises PeriodError."""
    if choice.ghost is GhostKind.NONE:
        return None
    earlier = _find_distance(choice, period)
    if earlier < DAY or period.begins - earlier < EARLIEST.replace(tzinfo=None) + DAY:
        raise PeriodError(_("Choose a date for the ghost line that is before the period."))
    from_at, to_at = (
        (clock - earlier).replace(tzinfo=period.zone).astimezone(UTC) for clock in (period.begins, period.ends)
    )
    to_at = min(to_at, now.astimezone(UTC).replace(microsecond=0))
    return Ghost(from_at, to_at, earlier) if from_at < to_at else None


def _find_distance(choice: ChartChoice, period: Period) -> timedelta:
    if choice.ghost is GhostKind.DAY:
        return DAY
    if choice.ghost is GhostKind.BEFORE:
        weeks = -((period.begins - period.ends) // timedelta(weeks=1))
        return timedelta(weeks=max(1, weeks))
    if choice.ghost is GhostKind.YEAR or choice.ghost_day is None:
        return YEAR
    day, begins = choice.ghost_day, period.begins.date()
    if period.days > 1:
        day = _same_weekday(day, begins.weekday())
    return begins - day


def _same_weekday(day: date, weekday: int) -> date:
    """In the week of the day, from Monday on."""
    return date.fromordinal(max(1, day.toordinal() - day.weekday() + weekday))


def ghost_buckets(query: Query, ghost: Ghost, keys: Sequence[str], edges: Sequence[datetime]) -> Buckets:
    """The ghost's own buckets; `query` is the period's. Months are not alike: theirs are the period's, moved."""
    if query.time is not Time.BY_MONTH:
        earlier = replace(query, from_at=ghost.from_at, to_at=ghost.to_at)
        return page_buckets(earlier, first=0, count=count_buckets(earlier))
    return Buckets(tuple(keys), tuple(_move(edge, ghost, query).timestamp() for edge in edges))


def _move(at: datetime, ghost: Ghost, query: Query) -> datetime:
    clock = at.astimezone(query.zone).replace(tzinfo=None) - ghost.earlier
    return clock.replace(tzinfo=query.zone).astimezone(UTC)


def align_buckets(keys: Sequence[str], ghost_keys: Sequence[str], ghost: Ghost, time: Time) -> list[int | None]:
    """Which of the ghost's buckets belongs to each of the period's; None where its clock showed no such time.

    A time that a clock shows twice belongs to one that is shown for the second time, or to none.
    """
    if time is Time.BY_MONTH:
        return list(range(len(keys)))
    places = {clock: place for place, clock in enumerate(_clocks(ghost_keys))}
    return [places.get((clock - ghost.earlier, times)) for clock, times in _clocks(keys)]


def _clocks(keys: Sequence[str]) -> Iterator[tuple[datetime, int]]:
    """Local times, and how often each was shown before."""
    shown: dict[datetime, int] = {}
    for key in keys:
        clock = datetime.fromisoformat(key).replace(tzinfo=None)
        shown[clock] = shown.get(clock, -1) + 1
        yield clock, shown[clock]
