"""The daily roll-up, computed visit by visit: each counts whole on the local day on which its slot begins."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from onlooker_pipeline.visits.visit import Visit
from testkit.oracle import Judged, judge

SLOT_US = 900_000_000
EVER_US = 10**18
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
COUNTED = ("passing_by", "interested", "stopped")
"""Known of every stream."""
TOLD = ("told", "still_us", "looking_us", "gender_female", "gender_male", "gender_unknown")
"""Of one that tells about people singly, while its visits are there."""

DayCounts = dict[date, dict[str, int]]


def count_days(visits: Iterable[Visit], zone: ZoneInfo, *, gender_above: float = 0.5) -> DayCounts:
    """Days with a slot in the roll-up, which is one with a visit."""
    days: DayCounts = {}
    for visit in visits:
        judged = judge(visit, -EVER_US, EVER_US)
        if not judged:
            continue
        day = days.setdefault(local_day(visit.began_ms * 1000, zone), dict.fromkeys((*COUNTED, *TOLD), 0))
        for name, amount in _amounts(judged, gender_above).items():
            day[name] += amount
    return days


def local_day(began_us: int, zone: ZoneInfo) -> date:
    slot_at = EPOCH + timedelta(microseconds=began_us // SLOT_US * SLOT_US)
    return slot_at.astimezone(zone).date()


def _amounts(one: Judged, gender_above: float) -> dict[str, int]:
    person = one.visit
    is_known = person.gender is not None and (person.gender_confidence or 0) > gender_above
    amounts = {"passing_by": int(one.passed_by), "interested": int(one.interested), "stopped": int(one.stopped)}
    if one.interested:
        gender = f"gender_{person.gender}" if is_known else "gender_unknown"
        amounts |= {"told": 1, "still_us": one.still_us, "looking_us": one.looking_us, gender: 1}
    return amounts
