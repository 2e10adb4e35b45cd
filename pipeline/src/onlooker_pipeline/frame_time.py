"""When a frame was taken, from its timestamp and arrival, its order within the session, and what it counts."""

import enum
from collections.abc import Mapping
from typing import Any, NamedTuple

from onlooker_pipeline.catalogue.service import parse_timestamp

LATE_AT_MOST_MS = 10_000
"""A frame up to this much older than the last is late; an older one means that the clock was set back."""
STEP_US = 1_000
"""The minimum distance between two frames: tracking works in milliseconds."""
CATCH_UP = 0.5
"""A session that is ahead of its timestamps advances at this share of real time until they catch up."""
SHORTEST_FRAME_S, LONGEST_FRAME_S = 1 / 30, 1.0
"""Video that one frame counts, at least and at most."""


class FrameOrder(enum.Enum):
    """A frame's position relative to the session's last one."""

    NEXT = "next"
    LATE = "late"
    CLOCK_SET_BACK = "clock set back"


class FrameClock(NamedTuple):
    """What the last frame of a session hands to the next one; Unix microseconds."""

    told_us: int
    """The frame's timestamp, or its arrival if it had none."""
    told_since_us: int
    """When the first frame with this timestamp arrived."""
    arrived_us: int
    at_us: int
    """The time that was assigned to the frame."""


def as_milliseconds(at_us: int) -> int:
    return (at_us + STEP_US // 2) // STEP_US


class FrameTime(NamedTuple):
    """The time assigned to one frame."""

    at_us: int
    order: FrameOrder
    clock: FrameClock
    """For the next frame, if this one is analysed."""

    @property
    def at_ms(self) -> int:
        return as_milliseconds(self.at_us)

    @property
    def at_s(self) -> float:
        return self.at_us / 1e6


def read_timestamp_us(params: Mapping[str, Any], *, time_zone: str) -> int | None:
    """The frame's timestamp; None if it has none."""
    text = params.get("timestamp")
    moment = parse_timestamp(text, time_zone=time_zone) if isinstance(text, str) else None
    return round(moment.timestamp() * 1e6) if moment else None


def time_frame(told_us: int | None, arrived_us: int, clock: FrameClock | None) -> FrameTime:
    """Assign a time to a frame; within a session times only increase, unless the clock was set back.

    Frames with equal timestamps are separated by their arrival. The assigned times can therefore run ahead of the
    next timestamp: by network jitter, or by minutes if a device's clock stood still. Such a frame is not late.
    """
    said_us = arrived_us if told_us is None else told_us
    behind_us = clock.told_us - said_us if clock else 0
    if clock is None or behind_us > LATE_AT_MOST_MS * 1000:
        order = FrameOrder.CLOCK_SET_BACK if clock else FrameOrder.NEXT
        return FrameTime(said_us, order, FrameClock(said_us, arrived_us, arrived_us, said_us))
    if behind_us > 0 and told_us is not None:
        return FrameTime(said_us, FrameOrder.LATE, clock)
    since_us = clock.told_since_us if behind_us == 0 else arrived_us
    at_us = said_us + arrived_us - since_us
    if at_us < clock.at_us + STEP_US:
        at_us = clock.at_us + max(round(CATCH_UP * (arrived_us - clock.arrived_us)), STEP_US)
    return FrameTime(at_us, FrameOrder.NEXT, FrameClock(said_us, since_us, arrived_us, at_us))


def count_frame(gap_s: float | None) -> float:
    """Seconds of video that one frame counts, given the gap to its session's previous frame."""
    if gap_s is None:
        return SHORTEST_FRAME_S
    return min(max(gap_s, SHORTEST_FRAME_S), LONGEST_FRAME_S)
