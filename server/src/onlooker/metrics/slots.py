"""Slots of 15 minutes of UTC, in which visits are rolled up."""

from datetime import UTC, datetime, timedelta

SLOT = timedelta(minutes=15)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def slot_of(at: datetime) -> datetime:
    """When the slot of a moment begins."""
    return at - (at - _EPOCH) % SLOT


def is_slot_edge(at: datetime) -> bool:
    return not (at - _EPOCH) % SLOT
