"""When a frame was taken, by its timestamp and its arrival, and where it stands in its session."""

import enum
from collections.abc import Mapping
from typing import Any, NamedTuple

from onlooker.catalogue.service import parse_timestamp

LATE_AT_MOST_MS = 10_000
"""A frame this much older than the last came late; an older one says that the clock was set back."""
STEP_US = 1_000
"""The least that two frames are apart: people are followed in milliseconds."""
CATCH_UP = 0.5
"""A session that has run ahead of its timestamps goes on at this share of the real pace until they catch up."""


class Order(enum.Enum):
    """Where a frame stands in its session."""

    NEXT = "next"
    LATE = "late"
    CLOCK_SET_BACK = "clock set back"


class FrameClock(NamedTuple):
    """What the last frame of a session leaves for the next one; all in Unix microseconds."""

    told_us: int
    """What the frame said, or when it arrived if it said nothing."""
    told_since_us: int
    """When the first frame that said so arrived."""
    arrived_us: int
    at_us: int
    """The moment that the frame was given."""


class FrameTime(NamedTuple):
    """The moment of one frame."""

    at_us: int
    order: Order
    clock: FrameClock
    """For the next frame, once this one was looked at."""

    @property
    def at_ms(self) -> int:
        return (self.at_us + STEP_US // 2) // STEP_US

    @property
    def at_s(self) -> float:
        return self.at_us / 1e6


def told_time_us(params: Mapping[str, Any], *, time_zone: str) -> int | None:
    """What a frame's timestamp says; None where it has none."""
    text = params.get("timestamp")
    moment = parse_timestamp(text, time_zone=time_zone) if isinstance(text, str) else None
    return round(moment.timestamp() * 1e6) if moment else None


def time_frame(told_us: int | None, arrived_us: int, clock: FrameClock | None) -> FrameTime:
    """A session's moments only ever rise, unless the clock was set back.

    Frames that say the same are told apart by their arrival. So the moments may run ahead of what the next frame says,
    by the jitter of the network, or for minutes where a device's clock stood still. That frame is not late: it comes
    after the last one.
    """
    said_us = arrived_us if told_us is None else told_us
    behind_us = clock.told_us - said_us if clock else 0
    if clock is None or behind_us > LATE_AT_MOST_MS * 1000:
        order = Order.CLOCK_SET_BACK if clock else Order.NEXT
        return FrameTime(said_us, order, FrameClock(said_us, arrived_us, arrived_us, said_us))
    if behind_us > 0 and told_us is not None:
        return FrameTime(said_us, Order.LATE, clock)
    since_us = clock.told_since_us if behind_us == 0 else arrived_us
    at_us = said_us + arrived_us - since_us
    if at_us < clock.at_us + STEP_US:
        at_us = clock.at_us + max(round(CATCH_UP * (arrived_us - clock.arrived_us)), STEP_US)
    return FrameTime(at_us, Order.NEXT, FrameClock(said_us, since_us, arrived_us, at_us))
