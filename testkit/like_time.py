"""Which slots of two periods are compared, found slot by slot with Python's own clock: slow, and plainly right."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

SLOT = timedelta(minutes=15)
SLOT_S = 900
WATCHED_FROM_S = 810
WEEK = timedelta(days=7)


def like_slots(
    now: tuple[datetime, datetime],
    before: tuple[datetime, datetime],
    zone: ZoneInfo,
    covered_s: Mapping[datetime, float],
) -> dict[datetime, datetime]:
    """The slot of the period before by the slot of the period it is compared with. `covered_s` is by slot, in UTC."""
    begins, ends = (_shown(at, zone)[0] for at in now)
    begins_before, ends_before = (_shown(at, zone)[0] for at in before)
    weeks = (begins - begins_before) // WEEK
    shift = max(
        (weeks * WEEK, (weeks + 1) * WEEK),
        key=lambda by: min(ends, ends_before + by) - max(begins, begins_before + by),
    )
    earlier = {_shown(slot, zone): slot for slot in _watched(before, covered_s)}
    found = {}
    for slot in _watched(now, covered_s):
        shown, fold = _shown(slot, zone)
        if (shown - shift, fold) in earlier:
            found[slot] = earlier[shown - shift, fold]
    return found


def _watched(period: tuple[datetime, datetime], covered_s: Mapping[datetime, float]) -> Iterable[datetime]:
    """Whole slots alone."""
    from_at, to_at = period
    return (
        slot
        for slot, seconds in sorted(covered_s.items())
        if seconds >= WATCHED_FROM_S and from_at <= slot and slot + SLOT <= to_at
    )


def _shown(at: datetime, zone: ZoneInfo) -> tuple[datetime, int]:
    """What the clock shows, and whether it shows that for the second time."""
    local = at.astimezone(UTC).astimezone(zone)
    return local.replace(tzinfo=None, fold=0), local.fold
