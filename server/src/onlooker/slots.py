"""The slot: 15 minutes of UTC, in which visits are rolled up and coverage is counted."""

from datetime import UTC, datetime, timedelta

SLOT = timedelta(minutes=15)
SLOT_S = int(SLOT.total_seconds())
SLOT_IN_SQL = {"slot": f"interval '{SLOT_S // 60} minutes'", "slot_s": str(SLOT_S)}
"""What `$slot` and `$slot_s` stand for in a file of queries."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def slot_of(at: datetime) -> datetime:
    """When the slot of a moment begins."""
    return at - (at - _EPOCH) % SLOT


def slots_around(from_at: datetime, to_at: datetime) -> tuple[datetime, datetime]:
    """The same range with the slots that its ends lie in, whole."""
    return slot_of(from_at), slot_of(to_at + SLOT - datetime.resolution)


def is_slot_edge(at: datetime) -> bool:
    return not (at - _EPOCH) % SLOT
