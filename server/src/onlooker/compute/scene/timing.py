"""When a frame was taken, and what follows where that is not after the one before."""

import enum
import time
from collections.abc import Mapping
from typing import Any

from onlooker.catalogue.service import parse_timestamp
from onlooker.compute.call import BAD_TIMESTAMP, Call, ComputeError

AHEAD_AT_MOST_S = 5 * 60
LATE_AT_MOST_MS = 10_000
"""A frame this much older than the last came late; an older one says that the clock was set back."""
DAY_S = 86_400


class Order(enum.Enum):
    """Where a frame stands in its session."""

    NEXT = "next"
    LATE = "late"
    CLOCK_SET_BACK = "clock set back"


def frame_time_ms(call: Call, *, stored: bool) -> int:
    """Unix milliseconds; refuses times that no visit may have."""
    taken_at = _taken_at(call.params, call.arrived_at)
    if taken_at < DAY_S:
        raise ComputeError(BAD_TIMESTAMP, "The timestamp is of 1970 or before. Set the clock of the device.")
    if stored and taken_at > time.time() + AHEAD_AT_MOST_S:
        raise ComputeError(
            BAD_TIMESTAMP,
            "The timestamp is more than 5 minutes ahead of the server's clock. Set the clock of the device.",
        )
    if stored and taken_at < time.time() - call.sender.retention_days * DAY_S:
        raise ComputeError(
            BAD_TIMESTAMP,
            f"The timestamp is older than the {call.sender.retention_days} days for which this stream keeps its "
            "visits. Set the clock of the device, or send with `store` false.",
        )
    return round(taken_at * 1000)


def order_of(at_ms: int, *, after_ms: int) -> Order:
    if at_ms > after_ms:
        return Order.NEXT
    return Order.LATE if after_ms - at_ms <= LATE_AT_MOST_MS else Order.CLOCK_SET_BACK


def _taken_at(params: Mapping[str, Any], arrived_at: float) -> float:
    moment = parse_timestamp(params["timestamp"]) if "timestamp" in params else None
    return moment.timestamp() if moment else arrived_at
